package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"loop/backend/core"
)

// putFiles has no panes, and says what it was given.
type putFiles struct {
	Browsers
	got map[string]int64 // sizes by name
}

func (p *putFiles) PutFile(_ context.Context, ch core.ChannelID, name string, r io.Reader) (string, error) {
	if ch != "c" {
		return "", core.Fail(core.CodeConflict, nil, "The browser does not run.", "Open its pane.")
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		return "", core.Fail(core.CodeInternal, errors.Join(err), "It broke off.", "")
	}
	p.got[name] = n
	return "/inside/" + name, nil
}

// zeros are as many as one may read.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestBrowserFiles(t *testing.T) {
	p := &putFiles{got: map[string]int64{}}
	s, err := New(Options{Token: token, Events: &source{}, Browsers: p, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	c := runs(t, s)
	auth := map[string]string{"Authorization": "Bearer " + token}
	at := s.URL() + "api/browser/files?"
	if code, body := request(t, c, "POST", at+"channel_id=c&name=a%20b.txt", "text", auth); code != 200 || strings.TrimSpace(body) != `{"path":"/inside/a b.txt"}` || p.got["a b.txt"] != 4 {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := request(t, c, "POST", at+"channel_id=c&name=empty", "", auth); code != 200 {
		t.Errorf("an empty file: %d", code)
	}
	for query, want := range map[string]int{"channel_id=c": 400, "name=x": 400, "channel_id=other&name=x": 409} {
		if code, body := request(t, c, "POST", at+query, "x", auth); code != want || !strings.Contains(body, `"cause"`) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	if code, _ := request(t, c, "POST", at+"channel_id=c&name=x", "x", nil); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	if code, _ := request(t, c, "GET", at+"channel_id=c&name=x", "", auth); code != http.StatusNotFound {
		t.Errorf("GET: %d", code)
	}
	for _, size := range []int64{-1, core.MaxBrowserFile + 1} { // unsaid and said
		req, err := http.NewRequestWithContext(t.Context(), "POST", at+"channel_id=c&name=large", io.LimitReader(zeros{}, core.MaxBrowserFile+1))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = size
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := c.Do(req)
		if err != nil {
			if size > 0 { // it was answered before all was sent
				continue
			}
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != 400 || !strings.Contains(string(body), "larger than 64 MiB") {
			t.Errorf("%d: %d %s", size, res.StatusCode, body)
		}
	}
	if _, kept := p.got["large"]; kept {
		t.Error("a file that is too large was taken")
	}
}
