//go:build linux

package supervise

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxSockaddr is sizeof(struct sockaddr_storage), beyond which the kernel refuses.
const maxSockaddr = 128

// sockaddr is an address as the caller gave it.
type sockaddr struct{ raw []byte }

func (c *call) sockaddr(addr, size uint64) (sockaddr, error) {
	n := int32(size)
	if n < 0 || n > maxSockaddr {
		return sockaddr{}, unix.EINVAL
	}
	if n == 0 {
		return sockaddr{}, nil
	}
	raw, err := c.mem.full(addr, int(n))
	return sockaddr{raw}, err
}

func (a sockaddr) family() int {
	if len(a.raw) < 2 {
		return -1
	}
	return int(binary.NativeEndian.Uint16(a.raw))
}

// maxUnix is sizeof(struct sockaddr_un).
const maxUnix = 110

// unix decodes the address of a Unix socket: a path, or an abstract name, or neither.
// A path ends at a NUL or with the address, as the kernel sees it.
func (a sockaddr) unix() (path, abstract string) {
	if a.family() != unix.AF_UNIX || len(a.raw) <= 2 || len(a.raw) > maxUnix {
		return "", ""
	}
	name := a.raw[2:]
	if name[0] == 0 {
		return "", string(name[1:])
	}
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	return string(name), ""
}

// unixPath is the address of a path; "" where it is too long for one.
func unixPath(path string) sockaddr {
	raw := make([]byte, 2, maxUnix)
	binary.NativeEndian.PutUint16(raw, unix.AF_UNIX)
	raw = append(append(raw, path...), 0)
	if len(raw) > maxUnix {
		return sockaddr{}
	}
	return sockaddr{raw}
}

// call makes connect(2) or bind(2) with the address as it is.
func (a sockaddr) call(number uintptr, fd int) error {
	var p unsafe.Pointer
	if len(a.raw) > 0 {
		p = unsafe.Pointer(&a.raw[0])
	}
	if _, _, e := unix.Syscall(number, uintptr(fd), uintptr(p), uintptr(len(a.raw))); e != 0 {
		return e
	}
	return nil
}
