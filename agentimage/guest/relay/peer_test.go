//go:build linux

package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is a connection on loopback. An IPv6 socket may connect to an IPv4 address too.
func pair(tb testing.TB, domain int) (client int, server net.Conn) {
	tb.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	port := ln.Addr().(*net.TCPAddr).Port
	client, err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	var to unix.Sockaddr = &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	if domain == unix.AF_INET { // from an address of its own, whose ports nobody else takes
		if err := unix.Bind(client, &unix.SockaddrInet4{Addr: [4]byte{127, 82, 0, 1}}); err != nil {
			tb.Fatal(err)
		}
	}
	if domain == unix.AF_INET6 {
		to = &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}}
	}
	if err := unix.Connect(client, to); err != nil {
		_ = unix.Close(client)
		return -1, nil // this machine has no IPv6
	}
	if server, err = ln.Accept(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	return client, server
}

func inodeOf(tb testing.TB, fd int) uint64 {
	tb.Helper()
	link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		tb.Fatal(err)
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "socket:["), "]"), 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// hearsTheEnd waits until the kernel has brought a caller's end to the other side, which on
// a busy machine is some time after the caller's close.
func hearsTheEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for heard := false; !heard; {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}, 60_000)
			if heard = n > 0; !heard && !errors.Is(err, unix.EINTR) {
				t.Fatalf("nothing within a minute: %v", err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPeerIsFound(t *testing.T) {
	for _, domain := range []int{unix.AF_INET, unix.AF_INET6} {
		fd, conn := pair(t, domain)
		if conn == nil && domain == unix.AF_INET6 {
			continue
		}
		got, err := peerInode(conn)
		if want := inodeOf(t, fd); err != nil || got != want {
			t.Errorf("domain %d: %d, want %d, %v", domain, got, want, err)
		}
		if err := intact(conn); err != nil {
			t.Errorf("domain %d: %v", domain, err)
		}
		_ = unix.Close(fd)
	}
}

// TestPeerThatLeftIsNobody: a caller may leave and a listener may take over its port.
// Neither that listener nor a later caller passes for the one that left.
func TestPeerThatLeftIsNobody(t *testing.T) {
	fd, conn := pair(t, unix.AF_INET)
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd) // the connection is reset
	if _, err := peerInode(conn); !errors.Is(err, errNoPeer) {
		t.Errorf("reset: %v", err)
	}
	ln, err := net.Listen("tcp4", conn.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	if got, err := peerInode(conn); !errors.Is(err, errNoPeer) {
		t.Errorf("a listener on the port passed for the caller: %d %v", got, err)
	}
	hearsTheEnd(t, conn)
	if err := intact(conn); !errors.Is(err, errNoPeer) {
		t.Errorf("intact: %v", err)
	}
	fd, conn = pair(t, unix.AF_INET)
	_ = unix.Close(fd) // the connection is closed in order
	if _, err := peerInode(conn); !errors.Is(err, errNoPeer) {
		t.Errorf("closed: %v", err)
	}
	hearsTheEnd(t, conn)
	if err := intact(conn); !errors.Is(err, errNoPeer) {
		t.Errorf("intact: %v", err)
	}
}

func TestAnswerOfTheKernel(t *testing.T) {
	msg := func(typ uint16, body ...byte) []byte {
		b := make([]byte, unix.SizeofNlMsghdr, 100)
		binary.NativeEndian.PutUint16(b[4:], typ)
		return append(b, body...)
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "a header": msg(diagByType), "half": msg(diagByType, make([]byte, 71)...), "another type": msg(3, make([]byte, 72)...),
		"an error": msg(unix.NLMSG_ERROR, 0xff, 0xff, 0xff, 0xff), "an error of zero": msg(unix.NLMSG_ERROR, make([]byte, 4)...),
	} {
		if s, err := answer(b); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestRequestsKeepTheirSpawn asks for many spawns at a time. Each request goes by a
// stream of its own spawn, even when one overtakes another.
func TestRequestsKeepTheirSpawn(t *testing.T) {
	r := New(byInode{}, slog.New(slog.DiscardHandler))
	r.Attach(newHost(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = fmt.Fprint(w, req.Context().Value(exchangeKey{}))
	}))
	url := serve(t, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			fd, err := net.Dial("tcp4", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = fd.Close() }()
			var mine string
			raw, _ := fd.(*net.TCPConn).SyscallConn()
			_ = raw.Control(func(n uintptr) { mine = spawnOf(inodeOf(t, int(n))) })
			tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return fd, nil }, MaxConnsPerHost: 1}
			defer tr.CloseIdleConnections()
			for i := range 25 { // all use one kept connection
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/x", nil)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Errorf("request %d: %v", i, err)
					return
				}
				body, _ := io.ReadAll(resp.Body) // the connection is kept only when the body was read to its end
				_ = resp.Body.Close()
				if got := string(body); got != mine {
					t.Errorf("request %d of %s went as %q", i, mine, got)
				}
			}
		})
	}
	wg.Wait()
}

type byInode struct{}

func (byInode) Holder(inode uint64) (string, error) { return spawnOf(inode), nil }

func spawnOf(inode uint64) string { return "s" + strconv.FormatUint(inode, 10) }

// TestUnknownAskersAreRefused with a message, before anything goes to the host.
func TestUnknownAskersAreRefused(t *testing.T) {
	asked := false
	for name, k := range map[string]struct {
		spawns Spawns
		code   int
		want   string
	}{
		"of no spawn": {here{}, 403, "no program holds the connection"},
		"not read":    {failing{}, 500, "could not be read"},
	} {
		r := New(k.spawns, slog.New(slog.DiscardHandler))
		r.Attach(newHost(t, func(http.ResponseWriter, *http.Request) { asked = true }))
		url := serve(t, r)
		if code, body := get(t, url+"/api/messages"); code != k.code || !strings.Contains(body, k.want) {
			t.Errorf("%s: %d %s", name, code, body)
		}
		if code, body := get(t, url+"/runs/r/model/v1/messages"); code != k.code || !strings.Contains(body, `"type":"error"`) {
			t.Errorf("%s, model: %d %s", name, code, body)
		}
	}
	if asked {
		t.Error("the host was asked")
	}
}

type failing struct{}

func (failing) Holder(uint64) (string, error) { return "", errors.New("disk on fire") }

func BenchmarkPeer(b *testing.B) {
	_, conn := pair(b, unix.AF_INET)
	for b.Loop() {
		if _, err := peerInode(conn); err != nil {
			b.Fatal(err)
		}
		if err := intact(conn); err != nil {
			b.Fatal(err)
		}
	}
}
