//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// These need instructions that Go has not, and are written for amd64 only. There is no
// other architecture's call on arm64 unless the kernel runs programs of 32 bits.

func vforkExec(_, _, _ unsafe.Pointer) int { return -int(unix.ENOSYS) }

func cloneFlipper(_ *uint32, _, _ uint32, _ *uint32, _ unsafe.Pointer) int { return -int(unix.ENOSYS) }

func int80(_, _, _, _ uint32) int32 { return -int32(unix.ENOSYS) }
