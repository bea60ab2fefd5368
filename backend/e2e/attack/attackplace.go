//go:build linux

package main

import (
	"context"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// place is the folder that an attack works in; the test lays it out (place_docker_test.go).
type place string

func (p place) at(rel string) string { return string(p) + "/" + rel }

func (p place) secret() string { return p.at("deny/secret") }

// free is a file in the folder in which everything is allowed.
func (p place) free(name string) string { return p.at("open/" + name) }

// marker is the file that a forbidden program makes when it runs.
func (p place) marker() string { return p.at("ran/marker") }

// rounds is how often a race is tried; the test decides.
func rounds(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		return n
	}
	return otherwise
}

// patience bounds waits for another part of the test.
const patience = 20 * time.Second

// await waits until a file is there.
func await(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if unix.Access(path, unix.F_OK) == nil {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

// say makes an empty file, which tells the test that a step is done.
func say(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// cstring is a path as the kernel takes it.
func cstring(s string) unsafe.Pointer {
	b := append([]byte(s), 0)
	return unsafe.Pointer(&b[0])
}

// call makes a system call that has no function in package unix.
func call(n uintptr, args ...uintptr) (int, error) {
	var a [6]uintptr
	copy(a[:], args)
	v, _, e := unix.Syscall6(n, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return -1, e
	}
	return int(v), nil
}
