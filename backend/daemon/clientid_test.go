package daemon

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/api"
	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/runner"
	"loop/backend/store"
)

// TestClientIDOverHTTP uses the real API on a real store. An id that a path cannot
// carry is refused with the rule, and nothing of the prompt is stored.
func TestClientIDOverHTTP(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "loop.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.AddChannel(t.Context(), core.Channel{ID: "c", Kind: core.KindProject, Name: "c", Dir: "/c"}); err != nil {
		t.Fatal(err)
	}
	ports := runner.Ports{Store: st, Publish: func(...core.Event) {}, Log: slog.New(slog.DiscardHandler)}
	runs := runner.New(ports, runner.Options{})
	calls, err := api.Tabulate(map[string]any{"Runs": &bind.Runs{Ctx: t.Context(), Service: runs}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Options{Token: "owner", Calls: calls, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	client := &http.Client{Transport: &http.Transport{}}
	defer func() {
		client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	prompt := func(id string, interrupt bool) (int, core.Failure) {
		t.Helper()
		body, err := json.Marshal([]any{map[string]any{"client_id": id, "channel_id": "c", "prompt": "x", "interrupt": interrupt}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Addr()+"/api/call/Runs.Prompt", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+"owner")
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var f core.Failure
		if err := json.NewDecoder(res.Body).Decode(&f); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, f
	}
	for _, id := range []string{"page.1", "..", "a/b", "a b", "-a", strings.Repeat("x", 65)} {
		for _, interrupt := range []bool{false, true} {
			code, f := prompt(id, interrupt)
			if code != http.StatusBadRequest || f.Code != core.CodeInvalid || !strings.Contains(f.Remedy, "1 to 64 letters and digits") {
				t.Errorf("%q: %d %+v", id, code, f)
			}
		}
	}
	if list, err := st.ListRuns(t.Context(), "c", 10); err != nil || len(list) != 0 {
		t.Errorf("kept %+v, %v", list, err)
	}
	if events, _, err := st.Timeline(t.Context(), "c", 0, 10); err != nil || len(events) != 0 {
		t.Errorf("told %+v, %v", events, err)
	}
	if code, f := prompt("018f3c2e-8d5a-7b1e-9f00-1234567890ab", false); code != http.StatusOK {
		t.Errorf("a UUID: %d %+v", code, f)
	}
}
