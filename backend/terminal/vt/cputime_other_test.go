//go:build !unix

package vt

import "time"

func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
