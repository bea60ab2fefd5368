//go:build linux

package spawn

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
	"loop/agentimage/guest/spool"
)

// lastWords bounds what is read after cut: as much as the largest pipe holds.
const lastWords = 1 << 20

// outlet is one of the streams that a program writes, and the log that keeps it.
type outlet struct {
	name string
	*spool.Log
	file *os.File
	rest int // of lastWords, still to be read
}

// cut ends the wait for more. Bytes that are there by then are still read: a container
// that gets no processor may come to them late.
func (o *outlet) cut() { _ = o.file.SetReadDeadline(time.Now()) }

func (o *outlet) Read(p []byte) (n int, err error) {
	n, err = o.file.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	p = p[:min(len(p), o.rest)]
	err = kernel.Control(o.file, func(fd int) (err error) { // the file does not block
		for n, err = unix.Read(fd, p); errors.Is(err, unix.EINTR); n, err = unix.Read(fd, p) {
		}
		return err
	})
	if err != nil || n <= 0 {
		return 0, io.EOF
	}
	o.rest -= n
	return n, nil
}
