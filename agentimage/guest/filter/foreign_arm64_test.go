//go:build linux

package filter

import "errors"

// A process of 64 bits on arm64 has no way to make a call of 32 bits, and there is no x32.
var foreignWays []string

func int80() error { return errors.New("arm64 has no int 0x80") }
func x32() error   { return errors.New("arm64 has no x32") }
