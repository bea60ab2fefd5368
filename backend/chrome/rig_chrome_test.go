//go:build chrome

package chrome

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

// rig is a Chromium of a test, and the pages it looks at.
type rig struct {
	*Browser
	t   *testing.T
	url string // of the pages, by 127.0.0.1
	cmd *exec.Cmd
}

func start(t *testing.T, o Options) *rig {
	t.Helper()
	fs := http.FileServer(http.Dir("testdata/pages"))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/spa/"):
			http.ServeFile(w, r, "testdata/pages/spa.html")
		case r.URL.Path == "/data.json":
			_, _ = w.Write([]byte(`{"ok":true}`))
		case strings.HasPrefix(r.URL.Path, "/download/"):
			serveDownload(w, r)
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		default:
			fs.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	r := &rig{t: t, url: s.URL}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.CommandContext(context.Background(), "/usr/bin/chromium", "--remote-debugging-pipe", "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-quic", "--no-first-run", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "about:blank")
	r.cmd.ExtraFiles = []*os.File{inR, outW}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = inR.Close()
	_ = outW.Close()
	t.Cleanup(func() { _ = r.cmd.Wait() })
	r.Browser, err = Open(t.Context(), outR, inW, o)
	if err != nil {
		_ = r.cmd.Process.Kill()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = r.conn.call(ctx, nil, "", "Browser.close", nil, nil)
		_ = r.Close()
		<-r.Done()
		killed := time.AfterFunc(5*time.Second, func() { _ = r.cmd.Process.Kill() })
		_ = r.cmd.Wait()
		killed.Stop()
	})
	return r
}

// do performs an action and returns whatever came of it.
func (r *rig) do(name string, params any) core.BrowserResult {
	r.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.Do(r.t.Context(), core.BrowserAction{Action: name, Params: raw})
}

// must performs an action that works.
func (r *rig) must(name string, params any) core.BrowserResult {
	r.t.Helper()
	res := r.do(name, params)
	if res.Error != "" {
		r.t.Fatalf("%s %v: %s", name, params, res.Error)
	}
	return res
}

// fails performs an action whose error has a part.
func (r *rig) fails(part, name string, params any) {
	r.t.Helper()
	if res := r.do(name, params); !strings.Contains(res.Error, part) {
		r.t.Errorf("%s %v: error %q, result %q; want an error with %q", name, params, res.Error, clip(res.Result, 300), part)
	}
}

func (r *rig) open(page string) { r.t.Helper(); r.must("navigate", obj{"url": r.url + "/" + page}) }

// eval is what an expression gives.
func (r *rig) eval(expression string) string {
	r.t.Helper()
	return r.must("evaluate", obj{"expression": expression}).Result
}

// ref is the ref of the element with a name.
func (r *rig) ref(name string) int {
	r.t.Helper()
	res := r.must("read_page", nil)
	for _, e := range res.Elements {
		if e.Name == name {
			return e.Ref
		}
	}
	r.t.Fatalf("no element %q in:\n%s", name, res.Result)
	return 0
}

func (r *rig) click(name string) core.BrowserResult {
	r.t.Helper()
	return r.must("computer", obj{"action": "click", "ref": r.ref(name)})
}

func (r *rig) has(got, part string) {
	r.t.Helper()
	if !strings.Contains(got, part) {
		r.t.Errorf("%q is not in %q", part, clip(got, 3000))
	}
}

func decodeJSON(t *testing.T, s string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), into); err != nil {
		t.Fatalf("%v in %q", err, clip(s, 300))
	}
}
