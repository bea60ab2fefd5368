package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/instance"
)

const token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// serve puts the fake behind the routes of the loopback API and writes its
// instance.json into the rig's folder.
func (r *rig) serve() *httptest.Server {
	r.t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) })
	mux.HandleFunc("POST /api/call/{method}", func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer "+token || q.Header.Get("Content-Type") != "application/json" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":"unauthorized","cause":"No.","remedy":""}`)
			return
		}
		var args []any
		if err := json.NewDecoder(q.Body).Decode(&args); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		out, err := r.fake.Call(q.Context(), q.PathValue("method"), args...)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(core.AsFailure(err))
			return
		}
		_, _ = w.Write(out)
	})
	mux.HandleFunc("GET /api/ws", func(w http.ResponseWriter, q *http.Request) {
		if !strings.Contains(q.Header.Get("Sec-WebSocket-Protocol"), "loop.token."+token) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		conn, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{"loop"}})
		if err != nil {
			return
		}
		defer conn.CloseNow()
		ctx, stop := context.WithCancel(conn.CloseRead(q.Context()))
		defer stop()
		events, _ := r.fake.Events(ctx)
		for batch := range events {
			data, err := json.Marshal(batch)
			if err != nil || conn.Write(ctx, websocket.MessageText, data) != nil {
				return
			}
		}
		_ = conn.Close(websocket.StatusTryAgainLater, "fell behind")
	})
	mux.HandleFunc("GET /api/ws/terminal", func(w http.ResponseWriter, q *http.Request) {
		if r.terminal == nil || !strings.Contains(q.Header.Get("Sec-WebSocket-Protocol"), "loop.token."+token) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if conn, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{"loop"}}); err == nil {
			defer conn.CloseNow()
			r.terminal(q.Context(), conn)
		}
	})
	srv := httptest.NewServer(mux)
	r.t.Cleanup(srv.Close)
	r.instance(srv.URL+"/", token)
	return srv
}

func (r *rig) instance(url, token string) {
	r.t.Helper()
	data, err := json.Marshal(instance.Info{PID: 4711, URL: url, Token: token, Version: "1.2.3"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.instanceText(string(data))
}

func (r *rig) instanceText(s string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.home, "instance.json"), []byte(s), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestRemoteRun(t *testing.T) {
	r := newRig(t)
	r.serve()
	if code := r.run("run", "--json", "--dir", r.dir, strings.Repeat("long ", 200_000)); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	lines := r.lines()
	if last := lines[len(lines)-1]; last["state"] != "done" || len(lines) < 8 {
		t.Errorf("%d lines, last %v", len(lines), last["state"])
	}
	if r.fake.opened != 0 {
		t.Error("Loop was started although one is running")
	}
	r.fake.prompt = ends(core.RunFailed, core.Fail(core.CodeModel, nil, "The model broke off.", "Try again."))
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.fake.fails["Runs.Prompt"] = core.Fail(core.CodeNoEngine, nil, "No engine answers.", "Start Docker.")
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "No engine answers.\nStart Docker.")
}

func TestRemoteInterrupt(t *testing.T) {
	r := newRig(t)
	r.serve()
	r.fake.prompt = stuck(func() { r.interrupts <- os.Interrupt })
	r.fake.cancel = func(f *fake, id core.RunID) error {
		f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
		return nil
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitCancelled {
		t.Fatalf("exit %d", code)
	}
}

func TestRemoteFallenBehind(t *testing.T) {
	r := newRig(t)
	r.serve()
	r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
		f.drop()
		return ends(core.RunDone, nil)(f, req)
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("out", "Hello there.\n→ Bash  ls -la\n")
}

func TestRemoteGoesAway(t *testing.T) {
	r := newRig(t)
	srv := r.serve()
	gone := make(chan struct{})
	r.fake.prompt = stuck(func() {
		go func() { // closes in the middle of the run
			srv.Listener.Close() // first the listener, so there are no new connections
			srv.CloseClientConnections()
			close(gone)
		}()
	})
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	<-gone
	r.wantIn("err", "(process 4711) went away")
}

// TestRemoteOfACommandGoesAway: the run is in the Loop of another command, which ends.
// This command takes its place and sees the run's end.
func TestRemoteOfACommandGoesAway(t *testing.T) {
	for _, stop := range []bool{false, true} {
		r := newRig(t)
		srv := r.serve()
		data, err := json.Marshal(instance.Info{PID: 4711, URL: srv.URL + "/", Token: token, Command: true})
		if err != nil {
			t.Fatal(err)
		}
		r.instanceText(string(data))
		var run core.RunID
		r.fake.prompt = func(f *fake, req bind.PromptRequest) error {
			run = core.RunID(req.ClientID)
			return stuck(func() {})(f, req)
		}
		var once sync.Once
		r.fake.onCall = func(method string) {
			if method == "Channels.Timeline" { // the client checks whether the run goes on
				once.Do(func() {
					srv.Listener.Close() // first the listener, so there are no new connections
					go srv.CloseClientConnections()
				})
			}
		}
		r.fake.cancel = func(f *fake, id core.RunID) error {
			f.publish(core.EventStatus, id, true, core.Status{State: core.RunCancelled})
			return nil
		}
		open, want := r.deps.Open, exitOK
		r.deps.Open = func(ctx context.Context) (Core, error) {
			if stop { // as if Ctrl-C was pressed meanwhile
				r.interrupts <- os.Interrupt
			} else {
				r.fake.publish(core.EventStatus, run, true, core.Status{State: core.RunDone, Result: "found again"})
			}
			return open(ctx)
		}
		if stop {
			want = exitCancelled
		}
		if code := r.run("run", "--json", "--dir", r.dir, "x"); code != want {
			t.Fatalf("exit %d", code)
		}
		if r.fake.opened != 1 || r.fake.closed != 1 {
			t.Errorf("opened %d times, closed %d times", r.fake.opened, r.fake.closed)
		}
	}
}

// TestNotAlive: instance.json does not lead to a live Loop of this folder, so the
// command starts one here.
func TestNotAlive(t *testing.T) {
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer stranger.Close()
	refuser := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/api/health" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer refuser.Close()
	redirect := httptest.NewServer(http.RedirectHandler(stranger.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	dead := httptest.NewServer(nil)
	dead.Close()
	for name, text := range map[string]string{
		"missing":      "",
		"garbage":      "{",
		"refuses":      fmt.Sprintf(`{"url":%q,"token":"x"}`, refuser.URL),
		"redirects":    fmt.Sprintf(`{"url":%q,"token":"x"}`, redirect.URL),
		"dead":         fmt.Sprintf(`{"url":%q,"token":"x"}`, dead.URL),
		"elsewhere":    `{"url":"http://192.0.2.1:80/","token":"x"}`,
		"not a URL":    `{"url":"::","token":"x"}`,
		"no token":     fmt.Sprintf(`{"url":%q}`, stranger.URL),
		"token header": fmt.Sprintf(`{"url":%q,"token":"x\r\nHost: y"}`, stranger.URL),
		"huge":         strings.Repeat(" ", 64<<10+1) + "{}",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if text != "" {
				r.instanceText(text)
			}
			if code := r.run("run", "--dir", r.dir, "x"); code != exitOK || r.fake.opened != 1 {
				t.Errorf("exit %d, opened %d times", code, r.fake.opened)
			}
		})
	}
}

// TestStartingUp: another process holds the folder and answers a moment later.
func TestStartingUp(t *testing.T) {
	r := newRig(t)
	tries := 0
	r.deps.Open = func(context.Context) (Core, error) {
		if tries++; tries == 2 {
			r.serve()
		}
		return nil, core.Fail(core.CodeConflict, nil, "Another Loop works on this folder.", "Use that one.")
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	r = newRig(t)
	r.times.startup = 2 * time.Second
	r.deps.Open = func(context.Context) (Core, error) {
		return nil, core.Fail(core.CodeConflict, nil, "Another Loop works on this folder.", "Use that one.")
	}
	if code := r.run("run", "--dir", r.dir, "x"); code != exitFailed {
		t.Fatalf("exit %d", code)
	}
	r.wantIn("err", "Another Loop works on this folder.\nUse that one.")
}

// TestStartingUpAndFailing: a fault that waiting does not mend is reported at once.
func TestStartingUpAndFailing(t *testing.T) {
	r := newRig(t)
	tries := 0
	r.deps.OpenIdle = func(context.Context) (Core, error) {
		if tries++; tries == 1 {
			return nil, core.Fail(core.CodeConflict, nil, "Another Loop works on this folder.", "Use that one.")
		}
		return nil, core.Fail(core.CodeConfig, nil, "The database is damaged.", "Move it away.")
	}
	if code := r.run("channels"); code != exitFailed || tries != 2 {
		t.Errorf("exit %d after %d tries", code, tries)
	}
	r.wantIn("err", "The database is damaged.")
}
