//go:build linux

package spawn

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lastWords bounds what is read behind close: as much as the largest pipe holds.
const lastWords = 1 << 20

// outlet reads one of the streams that a program writes.
type outlet struct {
	file *os.File
	rest int // of lastWords, still to be read
}

func newOutlet(f *os.File) *outlet { return &outlet{file: f, rest: lastWords} }

// close ends the wait for more. What is there by then is still read: a container
// that gets no processor may come to it late.
func (o *outlet) close() { _ = o.file.SetReadDeadline(time.Now()) }

func (o *outlet) Read(p []byte) (int, error) {
	n, err := o.file.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if o.rest == 0 {
		return 0, io.EOF
	}
	conn, err := o.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	p = p[:min(len(p), o.rest)]
	var readErr error
	err = conn.Control(func(fd uintptr) {
		for { // the file does not block
			if n, readErr = unix.Read(int(fd), p); !errors.Is(readErr, unix.EINTR) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case readErr != nil || n == 0:
		return 0, io.EOF
	}
	o.rest -= n
	return n, nil
}
