package browser

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestChromeOfThePerson: panes hear where the browser is before it runs, and its end is
// told in the words of who started it.
func TestChromeOfThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := core.Fail(core.CodeNotFound, nil, "Your Chrome has gone.", "Start it.")
		var set atomic.Value
		set.Store(core.BrowserOnHost)
		f := &fakeChrome{done: make(chan struct{})}
		s := New(Options{
			Settings: func(context.Context, core.ChannelID) (Settings, error) {
				return Settings{Enabled: true, Mode: set.Load().(string), Idle: time.Hour}, nil
			},
			Ports: func(context.Context, core.ChannelID) []core.BrowserPort {
				return []core.BrowserPort{{Port: 8080, URL: "http://localhost:8080/"}}
			},
			Publish: func(...core.Event) {}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Launch: func(context.Context, core.ChannelID, bool, Hooks) (Running, error) {
				<-time.After(time.Second)
				return Running{
					Driver: f, Page: f, Prompts: f, Mode: core.BrowserOnHost, Lost: lost, Notices: []string{"It is yours."},
					Watched: func(context.Context, bool) error { return nil },
					Close:   func() error { return nil },
				}, nil
			},
		})
		defer func() { _ = s.Close() }()
		v, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = v.Close() }()
		<-time.After(time.Second / 2)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserStarting || st.Mode != core.BrowserOnHost {
			t.Fatalf("%+v", st)
		}
		<-time.After(time.Second)
		set.Store(core.BrowserInDocker) // what runs stays where it is
		other, err := s.Watch(t.Context(), "c", firstView)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }()
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserRunning || st.Mode != core.BrowserOnHost || len(st.Notices) != 1 || len(st.Ports) != 0 {
			t.Fatalf("%+v", st)
		}
		v.Handle(core.BrowserCommand{Type: "reset"})
		<-time.After(time.Second)
		if st, _, rest := latest(t, v); len(rest) != 1 || rest[0].Type != "error" || !strings.Contains(rest[0].Message, "your own Chrome") || st != nil && st.Phase != core.BrowserRunning {
			t.Fatalf("%+v, %+v", st, rest)
		}
		close(f.done)
		<-time.After(time.Second)
		if st, _, _ := latest(t, v); st == nil || st.Phase != core.BrowserCrashed || st.Failure.Cause != lost.Cause || st.Mode != core.BrowserOnHost {
			t.Fatalf("%+v", st)
		}
	})
}
