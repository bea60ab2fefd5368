//go:build linux

package supervise

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// pathMax is PATH_MAX, which counts the NUL.
const pathMax = 4096

var pageSize = uint64(os.Getpagesize())

// memory reads what a thread's arguments point to. Whoever uses what was read first
// checks that the call still waits: then the thread id was the caller's all along.
type memory struct{ tid int }

// read fills buf from addr as far as there is memory; EFAULT where there is none at all.
func (m memory) read(addr uint64, buf []byte) (int, error) {
	done := 0
	for done < len(buf) {
		// One page at a time: a transfer stops before an element it cannot do.
		n := min(uint64(len(buf)-done), pageSize-(addr+uint64(done))%pageSize)
		local := []unix.Iovec{{Base: &buf[done]}}
		local[0].SetLen(int(n))
		remote := []unix.RemoteIovec{{Base: uintptr(addr) + uintptr(done), Len: int(n)}}
		got, err := unix.ProcessVMReadv(m.tid, local, remote, 0)
		if err != nil || got <= 0 {
			if done > 0 {
				return done, nil
			}
			return 0, unix.EFAULT
		}
		done += got
	}
	return done, nil
}

// full reads exactly n bytes.
func (m memory) full(addr uint64, n int) ([]byte, error) {
	buf := make([]byte, n)
	got, err := m.read(addr, buf)
	if err == nil && got < n {
		err = unix.EFAULT
	}
	return buf, err
}

// text reads up to a NUL, which is not part of it; tooLong where there is none within
// limit bytes.
func (m memory) text(addr uint64, limit int, tooLong error) (string, error) {
	var buf []byte
	for len(buf) < limit {
		at := addr + uint64(len(buf))
		chunk := make([]byte, min(uint64(limit-len(buf)), pageSize-at%pageSize, 1024))
		n, err := m.read(at, chunk)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(chunk[:n], 0); i >= 0 {
			return string(append(buf, chunk[:i]...)), nil
		}
		if n < len(chunk) {
			return "", unix.EFAULT
		}
		buf = append(buf, chunk...)
	}
	return "", tooLong
}

func (m memory) path(addr uint64) (string, error) { return m.text(addr, pathMax, unix.ENAMETOOLONG) }

// maxArgs bounds what is read of an argument list: the kernel takes 6 MiB at most.
const maxArgs = 6 << 20

// strings reads a list of pointers to texts that ends with a null pointer; a null list
// is empty.
func (m memory) strings(addr uint64) ([]string, error) {
	var out []string
	if addr == 0 {
		return nil, nil
	}
	var pointers, texts window
	for size := 0; ; addr += 8 {
		word := pointers.at(m, addr)
		if len(word) < 8 { // across two pages
			var err error
			if word, err = m.full(addr, 8); err != nil {
				return nil, err
			}
		}
		at := binary.NativeEndian.Uint64(word)
		if at == 0 {
			return out, nil
		}
		var s string
		var err error
		if text := texts.at(m, at); bytes.IndexByte(text, 0) >= 0 {
			s = string(text[:bytes.IndexByte(text, 0)])
		} else if s, err = m.text(at, maxArg, unix.E2BIG); err != nil {
			return nil, err
		}
		if size += len(s) + 9; size > maxArgs {
			return nil, unix.E2BIG
		}
		out = append(out, s)
	}
}

// maxArg is MAX_ARG_STRLEN of the kernel.
const maxArg = 128 << 10

// window is what was read last: lists and what they point to lie side by side.
type window struct {
	addr uint64
	data []byte
}

// at returns what there is from addr to the end of its page; nothing where there is no
// memory.
func (w *window) at(m memory, addr uint64) []byte {
	if i := addr - w.addr; addr >= w.addr && i < uint64(len(w.data)) {
		return w.data[i:]
	}
	if w.data == nil {
		w.data = make([]byte, pageSize)
	}
	buf := w.data[:pageSize-addr%pageSize]
	n, err := m.read(addr, buf)
	if err != nil {
		n = 0
	}
	w.addr, w.data = addr, buf[:n]
	return w.data
}
