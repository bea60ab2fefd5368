//go:build linux

package supervise

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestStringsAreReadAcrossPages: lists and texts lie anywhere, also over the end of a
// page, and memory may end behind them.
func TestStringsAreReadAcrossPages(t *testing.T) {
	page := int(pageSize)
	area, err := unix.Mmap(-1, 0, 16*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(area) })
	if err := unix.Mprotect(area[15*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	start := uint64(uintptr(unsafe.Pointer(&area[0])))
	m := memory{unix.Getpid()}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		clear(area[:15*page])
		want := make([]string, r.IntN(700))
		at := 6*page + r.IntN(page) // the list is below, and may end at any place
		for i := range want {
			want[i] = strings.Repeat("x", r.IntN(40)) + strings.Repeat("y", r.IntN(3)*r.IntN(page)/20)
		}
		list := r.IntN(page)
		for i, s := range want {
			if at+len(s)+1 > 15*page {
				want = want[:i]
				break
			}
			copy(area[at:], s+"\x00")
			binary.NativeEndian.PutUint64(area[list+8*i:], start+uint64(at))
			at += len(s) + 1
		}
		if have, err := m.strings(start + uint64(list)); err != nil || !slices.Equal(have, want) {
			t.Fatalf("%d texts became %d, %v", len(want), len(have), err)
		}
	}
	end := 15 * page
	copy(area[end-4:], "end\x00")
	list := end - 64
	binary.NativeEndian.PutUint64(area[list:], start+uint64(end-4))
	binary.NativeEndian.PutUint64(area[list+8:], 0)
	if have, err := m.strings(start + uint64(list)); err != nil || !slices.Equal(have, []string{"end"}) {
		t.Errorf("at the end of memory: %q, %v", have, err)
	}
	for what, to := range map[string]uint64{"a text": start + uint64(end), "a text that has no end": start + uint64(end-1)} {
		area[end-1] = 'x'
		binary.NativeEndian.PutUint64(area[list:], to)
		if have, err := m.strings(start + uint64(list)); err != unix.EFAULT {
			t.Errorf("%s outside of memory: %q, %v", what, have, err)
		}
	}
	for i := end - 64; i < end; i++ {
		area[i] = 0xff
	}
	if have, err := m.strings(start + uint64(end-3)); err != unix.EFAULT {
		t.Errorf("a list that ends with memory: %q, %v", have, err)
	}
}
