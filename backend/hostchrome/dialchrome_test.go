package hostchrome

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/browser"
	"loop/backend/core"
)

func untilGone(ctx context.Context, ws *websocket.Conn) error {
	_, _, _ = ws.Read(ctx)
	return nil
}

// fails connects in vain and returns the failure.
func fails(t *testing.T, code core.Code, profile string, usual ...string) *core.Failure {
	t.Helper()
	c, err := Connect(t.Context(), profile, usual)
	if err == nil {
		_ = c.In.Close()
		t.Fatalf("connected to %s", c.Folder)
	}
	f := core.AsFailure(err)
	if f.Code != code || !strings.HasSuffix(f.Cause, ".") || !strings.HasSuffix(f.Remedy, ".") {
		t.Fatalf("%+v", f)
	}
	return f
}

func TestFirstChromeThatAnswers(t *testing.T) {
	live := devtools(t, speak(t, untilGone))
	dead := folderFor(t, deadPort(t))
	c, err := Connect(t.Context(), "", []string{"/nowhere", dead, live})
	if err != nil {
		t.Fatal(err)
	}
	if c.Folder != live || c.Port == 0 {
		t.Errorf("%+v", c)
	}
	_ = c.Out.Close()
}

func TestProfileInsideItsFolder(t *testing.T) {
	live := devtools(t, speak(t, untilGone))
	c, err := Connect(t.Context(), filepath.Join(live, "Default"), []string{"/elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Out.Close()
}

func TestNoChrome(t *testing.T) {
	empty := t.TempDir()
	if f := fails(t, core.CodeNotFound, "", empty, "/nowhere"); !strings.Contains(f.Cause, "was found") || !strings.Contains(f.Detail, empty) {
		t.Errorf("%+v", f)
	}
	if f := fails(t, core.CodeNotFound, filepath.Join(empty, "Default"), "/elsewhere"); !strings.Contains(f.Cause, empty) || !strings.Contains(f.Remedy, "chrome://inspect") {
		t.Errorf("%+v", f)
	}
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, core.CodeNotFound, file)
}

func TestDeadChrome(t *testing.T) {
	dead := folderFor(t, deadPort(t))
	if f := fails(t, core.CodeNotFound, dead); !strings.Contains(f.Cause, "does not answer") || !strings.Contains(f.Detail, "refused") {
		t.Errorf("%+v", f)
	}
}

func TestAnotherHostInTheFile(t *testing.T) {
	var asked atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer s.Close()
	host := s.Listener.Addr().String()
	for _, text := range []string{
		host + "\n/devtools/browser/x",
		"9222\n@" + host + "/devtools/browser/x",
		"9222\n//" + host + "/devtools/browser/x",
		"9222\nws://" + host + "/devtools/browser/x",
	} {
		if f := fails(t, core.CodeNotFound, folderWith(t, text)); !strings.Contains(f.Detail, "not what Chrome writes") {
			t.Errorf("%+v", f)
		}
	}
	if asked.Load() {
		t.Error("the other host was asked")
	}
}

func TestAnotherProgramOnThePort(t *testing.T) {
	var other atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Store(true) }))
	defer elsewhere.Close()
	for name, h := range map[string]http.HandlerFunc{
		"no page":    http.NotFound,
		"a page":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"no HTTP": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
			_ = c.Close()
		},
		"a head without end": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 2*maxHead))
		},
	} {
		t.Run(name, func(t *testing.T) { fails(t, core.CodeNotFound, devtools(t, h)) })
	}
	if other.Load() {
		t.Error("a redirect was followed")
	}
}

func TestChromeRefuses(t *testing.T) {
	f := fails(t, core.CodeForbidden, devtools(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	if !strings.Contains(f.Remedy, "Allow") {
		t.Errorf("%+v", f)
	}
}

func TestConnectIsGivenUp(t *testing.T) {
	asked := make(chan struct{}, 1)
	dir := devtools(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done() // nobody answers what Chrome asks
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := Connect(ctx, dir, nil); core.AsFailure(err).Code != core.CodeCancelled {
		t.Error(err)
	}
}

// TestConnectsAndRefuses: what listens takes the WebSocket and is no Chrome.
func TestConnectsAndRefuses(t *testing.T) {
	dir := devtools(t, speak(t, func(ctx context.Context, ws *websocket.Conn) error {
		if _, _, err := ws.Read(ctx); err != nil {
			return err
		}
		return ws.Write(ctx, websocket.MessageText, []byte(`{"id":1,"error":{"code":-32000,"message":"Not allowed"}}`))
	}))
	_, err := Attach(t.Context(), dir, browser.Hooks{}, slog.New(slog.DiscardHandler))
	if f := core.AsFailure(err); f.Code != core.CodeNotFound || !strings.Contains(f.Detail, "Not allowed") {
		t.Errorf("%+v", f)
	}
}

func TestNobodyAllows(t *testing.T) {
	at, err := readPortFile(devtools(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = dial(t.Context(), at, 50*time.Millisecond)
	f := core.AsFailure(err)
	if f.Code != core.CodeTimeout || !strings.Contains(f.Remedy, "Allow") {
		t.Errorf("%+v", f)
	}
}
