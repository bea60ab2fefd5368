//go:build docker

package guestlink_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// TestWayOut has programs of a container without a network use the proxy at 8223: one
// that has a way out, one that is known and has none, and one that nobody has admitted.
func TestWayOut(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		asked := make(chan string, 1)
		out := func(_ context.Context, c net.Conn) {
			defer func() { _ = c.Close() }()
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				t.Error(err)
				return
			}
			asked <- r.Method + " " + r.Host
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nworld")
		}
		curl := func(who *core.Identity) string {
			id := core.SpawnID(core.NewID())
			if who != nil {
				l.Admit(id, *who)
			}
			if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes,
				Argv: []string{"curl", "-sS", "-m", "20", "-x", "http://127.0.0.1:8223", "http://site.example/"}}); err != nil {
				t.Fatal(err)
			}
			r, err := l.Read(t.Context(), id, "out", 0)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if got := curl(&core.Identity{ChannelID: "c", Egress: out}); got != "world" {
			t.Fatalf("with a way out: %q", got)
		}
		if got := <-asked; got != "GET site.example" {
			t.Fatalf("the host read %q", got)
		}
		if got := curl(&core.Identity{ChannelID: "c"}); got != "" {
			t.Fatalf("without a way out: %q", got)
		}
		if got := curl(nil); got != "" {
			t.Fatalf("of a program that nobody admitted: %q", got)
		}
	})
}

// TestDialIntoAContainer reaches a server on either loopback address of the container,
// and neither what does not listen nor the ports that are Loop's own.
func TestDialIntoAContainer(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	for _, host := range []string{"127.0.0.1", "::1"} {
		id := core.SpawnID(core.NewID())
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Argv: []string{"python3", "-uc", `
import socket, sys
s = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
print(s.getsockname()[1])
c, _ = s.accept()
c.sendall(b"hello " + c.makefile("rb").read())
c.close()`, host}}); err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(r).ReadString('\n')
		if err != nil && host == "::1" {
			t.Log("engines give a container IPv6 only where they are told to")
			continue
		}
		if err != nil {
			t.Fatalf("%s: no port: %v", host, err)
		}
		port, err := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := l.Ports(t.Context()); err != nil || !slices.Contains(list, core.ListeningPort{Port: uint16(port), Process: "python3"}) {
			t.Fatalf("listening: %+v %v", list, err)
		}
		c, err := l.Dial(t.Context(), uint16(port))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
		if h, ok := c.(interface{ CloseWrite() error }); !ok || h.CloseWrite() != nil {
			t.Fatal("one direction cannot be ended")
		}
		got, err := io.ReadAll(c)
		if err != nil || len(got) != 1<<20+len("hello ") {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Dial(t.Context(), 9); !errors.Is(err, core.ErrNotFound) {
		t.Fatalf("nothing listens: %v", err)
	}
	for _, own := range []uint16{8222, 8223} {
		if _, err := l.Dial(t.Context(), own); err == nil || !strings.Contains(err.Error(), "own") {
			t.Fatalf("port %d: %v", own, err)
		}
	}
	_ = l.Close()
	if _, err := l.Dial(t.Context(), 9); !errors.Is(err, core.ErrLinkDown) {
		t.Fatalf("without a link: %v", err)
	}
}
