//go:build linux

package main

import "unsafe"

//go:noescape
func vforkExec(path, argv, envp unsafe.Pointer) int

//go:noescape
func cloneFlipper(word *uint32, a, b uint32, stop *uint32, stack unsafe.Pointer) int

func int80(number, a, b, c uint32) int32
