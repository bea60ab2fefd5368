//go:build linux

package linkend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// A container that was started a moment ago has no socket yet. The wait ends a
// second before the host's own, so that the host hears the reason.
const (
	connectFor   = wire.HelloTimeout - time.Second
	connectPause = 5 * time.Millisecond
)

// warmThreads: two copies that may block, and those that run Go.
const warmThreads = 8

// Main runs loop link and returns its exit code.
func Main() int {
	if err := link(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop link:", err)
		return 1
	}
	return 0
}

func link() error {
	if err := stepDown(); err != nil {
		return err
	}
	threads.Warm(warmThreads)
	ctx, cancel := context.WithTimeout(context.Background(), connectFor)
	defer cancel()
	conn, err := connect(ctx, wire.SocketPath)
	if err != nil {
		return err
	}
	if err := checkServer(conn); err != nil {
		return err
	}
	return join(conn, os.Stdin, os.Stdout)
}

// connect tries until the socket answers or ctx ends.
func connect(ctx context.Context, path string) (*net.UnixConn, error) {
	for {
		if why, err := os.ReadFile(wire.RefusedFile); err == nil {
			return nil, errors.New(string(why))
		}
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			return conn, nil
		}
		if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("reach loop init: %w", err)
		}
		select {
		case <-time.After(connectPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("loop init did not answer: %w", err)
		}
	}
}

// checkServer makes sure that the other end is loop init and nobody who put a
// socket in its place.
func checkServer(conn *net.UnixConn) error {
	cred, err := kernel.PeerCred(conn)
	if err != nil {
		return fmt.Errorf("look at loop init: %w", err)
	}
	if cred.Pid != 1 || cred.Uid != wire.SupervisorID {
		return fmt.Errorf("the socket is served by pid %d, uid %d", cred.Pid, cred.Uid)
	}
	return nil
}

// join copies both ways and returns when either way ends.
func join(conn *net.UnixConn, in io.Reader, out io.Writer) error {
	ends := make(chan error, 2)
	go func() { _, err := io.Copy(conn, in); ends <- err }()
	go func() { _, err := io.Copy(out, conn); ends <- err }()
	err := <-ends
	// The other copy may be blocked in a read of stdin that nothing interrupts;
	// the process ends now and takes it along.
	return errors.Join(err, conn.Close())
}
