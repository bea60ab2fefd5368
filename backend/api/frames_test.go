package api

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"loop/backend/core"
)

type pictures map[int64]string

func (m pictures) OpenFrame(_ context.Context, id int64, picture string) (io.ReadSeekCloser, error) {
	if text, ok := m[id]; ok && picture == "abc" {
		return tape{bytes.NewReader([]byte(text))}, nil
	}
	return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no such picture.", "")
}

func TestFrames(t *testing.T) {
	s, err := New(Options{Token: token, Events: &source{}, Frames: pictures{7: "\xff\xd8<script>"}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() { c.CloseIdleConnections(); s.Close(); <-done })
	auth := map[string]string{"Authorization": "Bearer " + token}
	for name, want := range map[string]int{"7/abc": 200, "7/abd": 404, "8/abc": 404, "x/abc": 404, "7": 404, "7/..%2fabc": 404} {
		if code, body := request(t, c, "GET", s.URL()+"api/frames/"+name, "", auth); code != want || code == 200 && body != "\xff\xd8<script>" {
			t.Errorf("%q: %d %s", name, code, body)
		}
	}
	if code, _ := request(t, c, "GET", s.URL()+"api/frames/7/abc", "", nil); code != 401 {
		t.Errorf("without a token: %d", code)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"api/frames/7/abc", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	h := res.Header
	if h.Get("Content-Type") != "image/jpeg" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "sandbox" ||
		h.Get("Cache-Control") != "private, max-age=31536000, immutable" {
		t.Errorf("%v", h)
	}
}
