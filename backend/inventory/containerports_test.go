package inventory

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestPorts: by number, bounded, and none of what does not run or is a browser's.
func TestPorts(t *testing.T) {
	w, s := rig()
	w.ports = []core.ListeningPort{{Port: 8080, Process: "api"}, {Port: 80}}
	if got, err := s.Ports(t.Context(), "beef1", false); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	w.boxes[2].Status = core.ContainerRunning
	got, err := s.Ports(t.Context(), "beef1", false)
	want := []core.ContainerPort{
		{BrowserPort: core.BrowserPort{Port: 80, URL: "http://localhost:80/"}},
		{BrowserPort: core.BrowserPort{Port: 8080, URL: "http://localhost:8080/", Process: "api"}},
	}
	if err != nil || !slices.Equal(got, want) || w.shut != 1 || len(w.dialed) != 0 {
		t.Error(got, err, w.shut, w.dialed)
	}
	for i := range 200 {
		w.ports = append(w.ports, core.ListeningPort{Port: uint16(9000 + i)})
	}
	if got, err := s.Ports(t.Context(), "beef1", false); err != nil || len(got) != mostPorts {
		t.Error(len(got), err)
	}
	w.noLog = core.ErrLinkDown
	if _, err := s.Ports(t.Context(), "beef1", true); !errors.Is(err, core.ErrLinkDown) || !strings.Contains(core.AsFailure(err).Remedy, "loop logs") {
		t.Error(err)
	}
	if _, err := s.Ports(t.Context(), "none", false); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
	w.boxes[2].Type = core.TypeChrome
	if got, err := s.Ports(t.Context(), "beef1", false); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

// TestPagesOfPorts: each port is asked for a page once. One that stays silent is asked three
// times, and what it sends is bounded.
func TestPagesOfPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := rig()
		w.boxes[2].Status = core.ContainerRunning
		const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
		answers := map[uint16]string{
			1: head + "<html><title a=b>\n Sign in &ndash;\n\x1b[31mFernway </title>",
			2: "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
			3: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
			4: "-ERR unknown command\r\n",
			5: head + strings.Repeat("x", 3*pageBytes) + "<title>late</title>",
			6: "", // silent
			7: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}",
		}
		w.dial = func(port uint16) net.Conn {
			here, there := net.Pipe()
			go func() {
				defer func() { _ = there.Close() }()
				buf := make([]byte, 4096)
				if _, err := there.Read(buf); err != nil || answers[port] == "" {
					_, _ = there.Read(buf) // until the other end gives up
					return
				}
				_, _ = there.Write([]byte(answers[port])) // the reader may have enough before its end
			}()
			return here
		}
		for port := range answers {
			w.ports = append(w.ports, core.ListeningPort{Port: port})
		}
		w.ports = append(w.ports, core.ListeningPort{Port: 8}) // cannot be reached
		said := func(try bool) string {
			list, err := s.Ports(t.Context(), "beef1", try)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, p := range list {
				out = append(out, fmt.Sprintf("%d %s %s", p.Port, p.Kind, p.Title))
			}
			return strings.Join(out, "|")
		}
		const known = "1 http Sign in – [31mFernway|2 http leads to /login|3 http 404 Not Found|4 tcp |5 http text/html|"
		for i, rest := range []string{"6  |7 http application/json|8  ", "6  |7 http application/json|8  ", "6 tcp |7 http application/json|8 tcp "} {
			if got := said(true); got != known+rest {
				t.Errorf("look %d: %q", i, got)
			}
		}
		if got := said(false); got != known+"6 tcp |7 http application/json|8 tcp " {
			t.Errorf("without a try: %q", got)
		}
		if n := len(w.dialed); n != 6+3+3 {
			t.Errorf("%d ports were dialed: %v", n, w.dialed)
		}
		w.ports = w.ports[:0]
		if got := said(true); got != "" || len(s.pages.by) != 0 {
			t.Errorf("what is gone is not forgotten: %q, %v", got, s.pages.by)
		}
		<-time.After(time.Minute)
	})
}
