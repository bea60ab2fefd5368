//go:build linux

package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// report is what an attack says of itself.
type report struct {
	ID    string         `json:"id"`
	Steps []step         `json:"steps"`
	Got   string         `json:"got,omitempty"` // bytes it had no right to, if the test finds its secret in them
	Count map[string]int `json:"count,omitempty"`
}

// step is one call.
type step struct {
	Call  string `json:"call"`
	Errno string `json:"errno"` // empty: it succeeded
}

// tried notes a call and reports whether it succeeded.
func (r *report) tried(call string, err error) bool {
	s := step{Call: call}
	if err != nil {
		s.Errno = err.Error()
		if e, ok := errors.AsType[unix.Errno](err); ok {
			s.Errno = unix.ErrnoName(e)
		}
	}
	r.Steps = append(r.Steps, s)
	return err == nil
}

// took reads a descriptor that a call has given, and closes it.
func (r *report) took(call string, fd int, err error) bool {
	if !r.tried(call, err) {
		return false
	}
	buf := make([]byte, 256)
	if n, err := unix.Pread(fd, buf, 0); err == nil {
		r.Got += string(buf[:n])
	}
	_ = unix.Close(fd)
	return true
}

// wrote writes to a descriptor that a call has given, and closes it.
func (r *report) wrote(call string, fd int, err error) bool {
	if !r.tried(call, err) {
		return false
	}
	_, err = unix.Write(fd, []byte("written by an attack\n"))
	r.tried("write", err)
	_ = unix.Close(fd)
	return err == nil
}

func (r *report) count(what string, n int) {
	if r.Count == nil {
		r.Count = make(map[string]int)
	}
	r.Count[what] += n
}
