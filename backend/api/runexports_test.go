package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"loop/backend/core"
)

type exports map[core.RunID]string

func (m exports) Export(_ context.Context, id core.RunID) (core.RunExport, error) {
	if text, ok := m[id]; ok {
		return export(text), nil
	}
	return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no such run.", "")
}

type export string

func (export) Name() string { return "run.zip" }
func (e export) Write(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, string(e))
	if e == "broken" {
		return errors.New("the disk is gone")
	}
	return err
}

// TestExports: only the owner gets a file, and one that ends early is none.
func TestExports(t *testing.T) {
	s, err := New(Options{Token: token, Events: &source{}, Exports: exports{"r": "PK whole", "x": "broken"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { c.CloseIdleConnections(); s.Close(); <-done })
	auth := map[string]string{"Authorization": "Bearer " + token}
	for name, want := range map[string]int{"r": 200, "none": 404} {
		if code, body := request(t, c, "GET", s.URL()+"api/runs/"+name+"/export", "", auth); code != want || code == 200 && body != "PK whole" {
			t.Errorf("%q: %d %s", name, code, body)
		}
	}
	if code, _ := request(t, c, "GET", s.URL()+"api/runs/r/export", "", nil); code != 401 {
		t.Errorf("without a token: %d", code)
	}
	get := func(run string) (*http.Response, error) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"api/runs/"+run+"/export", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		return c.Do(req)
	}
	res, err := get("r")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	h := res.Header
	if h.Get("Content-Type") != "application/zip" || h.Get("Content-Disposition") != `attachment; filename="run.zip"` || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Content-Security-Policy") != "sandbox" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
	if res, err = get("x"); err == nil {
		defer res.Body.Close()
		_, err = io.ReadAll(res.Body)
	}
	if err == nil {
		t.Error("an export that ended early looks whole")
	}
}
