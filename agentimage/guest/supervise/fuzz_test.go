//go:build linux

package supervise

import (
	"testing"

	"golang.org/x/sys/unix"
)

// What a program puts into a sockaddr is read as the kernel reads it, whatever it is.
func FuzzSockaddr(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1})
	f.Add([]byte{1, 0})
	f.Add([]byte{1, 0, 0})
	f.Add([]byte("\x01\x00/run/x.sock\x00more"))
	f.Add([]byte("\x01\x00\x00abstract"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path, abstract := sockaddr{raw}.unix()
		if path != "" && abstract != "" || len(path) > maxUnix || len(abstract) > maxUnix {
			t.Errorf("%q is both %q and %q", raw, path, abstract)
		}
		if path != "" {
			again, _ := unixPath(path).unix()
			if again != path && len(path)+3 <= maxUnix {
				t.Errorf("%q became %q", path, again)
			}
		}
	})
}

// No open_how is taken that holds what is not known.
func FuzzHow(f *testing.F) {
	f.Add(make([]byte, 24))
	f.Add(make([]byte, 23))
	f.Add(append(make([]byte, 24), 1))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := parseHow(raw)
		if err == nil && (len(raw) < 24 || h.Flags&^knownFlags != 0 || h.Resolve&^knownResolve != 0 || h.Flags&unix.O_PATH != 0) {
			t.Errorf("%x became %+v", raw, h)
		}
	})
}
