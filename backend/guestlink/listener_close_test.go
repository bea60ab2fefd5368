package guestlink

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// errand is a callback that needs the listener while it runs. Making a worktree is such
// a callback, as git runs in a container of its own.
type errand struct {
	Callbacks
	admit          func(ctx context.Context, from core.Caller)
	begun, resume  chan struct{}
	admitted, done chan struct{}
}

func (e *errand) SendMessage(ctx context.Context, _ core.Caller, _ core.ChannelID, _ string) error {
	defer close(e.done)
	close(e.begun)
	<-e.resume
	e.admit(ctx, core.Caller{ChannelID: "c1", RunID: "git"})
	close(e.admitted)
	return nil
}

// TestListenerEndsUnderACallback: a listener ends while one of its callbacks still
// needs the listener's lock.
func TestListenerEndsUnderACallback(t *testing.T) {
	ends := map[string]func(*tcpWorld) error{
		"Loop closes": func(w *tcpWorld) error { w.Close(); return nil },
		"switched off": func(w *tcpWorld) error {
			w.runs["r1"] = core.RunDone
			_, err := w.Admit(t.Context(), core.Caller{RunID: "r2"}, Wish{})
			return err
		},
		"another bridge": func(w *tcpWorld) error {
			w.o.Network = bridge("127.0.0.2")
			_, err := w.Admit(t.Context(), core.Caller{RunID: "r1"}, overTCP())
			return err
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			if name == "another bridge" && runtime.GOOS != "linux" {
				return // the listener has only one address on this system
			}
			w := newTCPWorld(t, t.TempDir(), ownAddress())
			admit := func(ctx context.Context, from core.Caller) { _, _ = w.Admit(ctx, from, Wish{}) }
			e := &errand{admit: admit, begun: make(chan struct{}), resume: make(chan struct{}), admitted: make(chan struct{}), done: make(chan struct{})}
			w.o.Callbacks = e
			_, token, _, err := w.enter(t, overTCP())
			if err != nil {
				t.Fatal(err)
			}
			url, addr := w.base()+"/api/messages", w.server.Addr().String()
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"content":"hi"}`))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+token)
				req.Header.Set("Content-Type", "application/json")
				if resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req); err == nil {
					_ = resp.Body.Close()
					t.Errorf("answered %d", resp.StatusCode)
				}
			}()
			within(t, e.begun, "the callback")

			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if err := end(w); err != nil {
					t.Error(err)
				}
			}()
			// The connection breaks once the listener has begun to end.
			within(t, answered, "the listener's end")
			close(e.resume)
			within(t, e.admitted, "the callback's own call")
			within(t, ended, "what ended the listener")
			w.Close()
			select {
			case <-e.done:
			default:
				t.Error("Close did not wait for the callback")
			}
			ln, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatalf("the port is still bound: %v", err)
			}
			_ = ln.Close()
		})
	}
}

func within(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("waited for %s in vain", what)
	}
}
