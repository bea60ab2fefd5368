package instance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestOddInstanceFile: a file that is not an instance file is an error at once, without
// a wait.
func TestOddInstanceFile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"too large": func(path string) error { return os.WriteFile(path, make([]byte, maxFile+1), 0o600) },
		"no JSON":   func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := put(filepath.Join(home, fileName)); err != nil {
				t.Fatal(err)
			}
			if got, err := Read(home); err == nil || errors.Is(err, fs.ErrNotExist) || got != (Info{}) {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestOneInstancePerFolder(t *testing.T) {
	home := t.TempDir()
	first, err := Lock(home)
	if err != nil {
		t.Fatal(err)
	}
	want := Info{PID: 42, URL: "http://127.0.0.1:1/", Token: NewToken(), StartedAt: time.Unix(1, 0).UTC()}
	if err := Write(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(home)
	if err != nil || got != want {
		t.Fatalf("%+v %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(home, fileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	_, err = Lock(home)
	if !errors.Is(err, ErrRunning) || core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("second lock: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := Lock(home)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Unlock()
	if left, _ := filepath.Glob(filepath.Join(home, fileName+".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAskingTheRunningOne: a second start handles each answer of the first. Time stands still
// while a connection is waited for.
func TestAskingTheRunningOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		if again, err := show(t.Context(), home); !again || err == nil {
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
		if err := Write(home, Info{PID: 42, URL: srv.URL + "/", Token: "t"}); err != nil {
			t.Fatal(err)
		}
		if again, err := show(t.Context(), home); again || err != nil {
			t.Errorf("shown: %v, %v", again, err)
		}
		status, answer = http.StatusBadRequest, core.Fail(core.CodeCancelled, nil, "Loop is closing.", "")
		if again, err := show(t.Context(), home); !again || err == nil {
			t.Errorf("closing: %v, %v", again, err)
		}
		status, answer = http.StatusNotImplemented, core.Fail("no_native_dialog", nil, "This Loop runs without a window.", "")
		if again, err := show(t.Context(), home); again || core.AsFailure(err).Code != core.CodeConflict {
			t.Errorf("without a window: %v, %v", again, err)
		}
		srv.Close()
		if again, err := show(t.Context(), home); !again || err == nil {
			t.Errorf("gone: %v, %v", again, err)
		}
	})
}

// TestAStartWhileAnotherEnds waits for the lock while the other Loop ends. It does not
// wait for a Loop that answers.
func TestAStartWhileAnotherEnds(t *testing.T) {
	running := core.Fail(core.CodeConflict, ErrRunning, "Another Loop already works on this folder.", "")
	broken := errors.New("disk")
	for name, c := range map[string]struct {
		opens []error
		shows []error // each is followed by another try
		done  error   // the last one is not
		want  error
		made  bool
	}{
		"none runs":              {opens: []error{nil}, made: true},
		"it cannot be opened":    {opens: []error{broken}, want: broken},
		"one runs":               {opens: []error{running}},
		"one without a window":   {opens: []error{running}, done: broken, want: broken},
		"one ends":               {opens: []error{running, running, nil}, shows: []error{broken, broken}, made: true},
		"one begins":             {opens: []error{running, running}, shows: []error{broken}},
		"one hangs":              {opens: []error{running}, shows: []error{broken}, want: ErrRunning},
		"one ends into an error": {opens: []error{running, broken}, shows: []error{broken}, want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opens, shows, hangs := 0, 0, len(c.opens) == len(c.shows)
				d, err := openOrShow(t.Context(), func() (*Info, error) {
					err := c.opens[min(opens, len(c.opens)-1)]
					if opens++; err != nil {
						return nil, err
					}
					return &Info{}, nil
				}, func() (bool, error) {
					if shows++; hangs || shows <= len(c.shows) {
						return true, c.shows[min(shows, len(c.shows))-1]
					}
					return false, c.done
				})
				if !errors.Is(err, c.want) || (d != nil) != c.made || !hangs && opens != len(c.opens) {
					t.Errorf("%v, %v after %d tries", d, err, opens)
				}
			})
		})
	}
}
