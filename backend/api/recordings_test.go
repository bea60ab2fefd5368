package api

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

type tapes map[string]string

type tape struct{ *bytes.Reader }

func (tape) Close() error { return nil }

func (m tapes) OpenRecording(name string) (io.ReadSeekCloser, time.Time, error) {
	if text, ok := m[name]; ok {
		return tape{bytes.NewReader([]byte(text))}, time.Unix(1_700_000_000, 0), nil
	}
	return nil, time.Time{}, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no such recording.", "")
}

func TestRecordings(t *testing.T) {
	s, err := New(Options{Token: token, Events: &source{}, Recordings: tapes{"a.cast": `{"version":2}<script>`}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { c.CloseIdleConnections(); s.Close(); <-done })
	auth := map[string]string{"Authorization": "Bearer " + token}
	for name, want := range map[string]int{"a.cast": 200, "b.cast": 404, "..%2fa.cast": 404, "": 404} {
		if code, body := request(t, c, "GET", s.URL()+"api/recordings/"+name, "", auth); code != want || code == 200 && !strings.HasPrefix(body, `{"version":2}`) {
			t.Errorf("%q: %d %s", name, code, body)
		}
	}
	if code, _ := request(t, c, "GET", s.URL()+"api/recordings/a.cast", "", nil); code != 401 {
		t.Errorf("without a token: %d", code)
	}
	auth["Range"] = "bytes=1-9"
	if code, body := request(t, c, "GET", s.URL()+"api/recordings/a.cast", "", auth); code != 206 || body != `"version"` {
		t.Errorf("a range: %d %s", code, body)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"api/recordings/a.cast", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if h := res.Header; h.Get("Content-Type") != "application/x-asciicast" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "sandbox" {
		t.Errorf("%v", h)
	}
}
