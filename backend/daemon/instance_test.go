package daemon

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loop/backend/core"
)

func TestOneInstancePerFolder(t *testing.T) {
	home := t.TempDir()
	first, err := lockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	want := Instance{PID: 42, URL: "http://127.0.0.1:1/", Token: newToken(), StartedAt: time.Unix(1, 0).UTC()}
	if err := writeInstance(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadInstance(home)
	if err != nil || got != want {
		t.Fatalf("%+v %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(home, instanceFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	_, err = lockHome(home)
	if !errors.Is(err, ErrRunning) || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("second lock: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := lockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Unlock()
	if left, _ := filepath.Glob(filepath.Join(home, instanceFile+".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAskingTheRunningOne: what a second start makes of the answer.
func TestAskingTheRunningOne(t *testing.T) {
	home := t.TempDir()
	t.Setenv("LOOP_HOME", home)
	if again, err := showRunning(t.Context()); !again || err == nil {
		t.Errorf("before it says where it is: %v, %v", again, err)
	}
	status, answer := http.StatusOK, any(nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/call/System.Show" || r.Header.Get("Authorization") != "Bearer t" {
			t.Errorf("asked %s as %q", r.URL, r.Header.Get("Authorization"))
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	if err := writeInstance(home, Instance{PID: 42, URL: srv.URL + "/", Token: "t"}); err != nil {
		t.Fatal(err)
	}
	if again, err := showRunning(t.Context()); again || err != nil {
		t.Errorf("shown: %v, %v", again, err)
	}
	status, answer = http.StatusBadRequest, core.Fail(core.CodeCancelled, nil, "Loop is closing.", "")
	if again, err := showRunning(t.Context()); !again || err == nil {
		t.Errorf("closing: %v, %v", again, err)
	}
	status, answer = http.StatusNotImplemented, core.Fail("no_native_dialog", nil, "This Loop runs without a window.", "")
	if again, err := showRunning(t.Context()); again || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("without a window: %v, %v", again, err)
	}
	srv.Close()
	if again, err := showRunning(t.Context()); !again || err == nil {
		t.Errorf("gone: %v, %v", again, err)
	}
}
