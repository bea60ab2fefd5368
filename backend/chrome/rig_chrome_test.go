//go:build chrome

package chrome

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"loop/backend/chrome/chrometest"
	"loop/backend/core"
)

// rig is a Chromium of a test, and the pages it looks at.
type rig struct {
	*Browser
	t   testing.TB
	url string // of the pages, by 127.0.0.1
	cmd *exec.Cmd
}

func start(t testing.TB, o Options, args ...string) *rig {
	t.Helper()
	c := chrometest.Start(t, args...)
	r := &rig{t: t, url: chrometest.Pages(t, "testdata/pages", map[string]http.HandlerFunc{
		"/download/": serveDownload, "/odd/": serveOdd, "/flood": serveFlood,
	}), cmd: c.Cmd}
	var err error
	if r.Browser, err = Open(t.Context(), c.Out, c.In, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
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

func decodeJSON(t testing.TB, s string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), into); err != nil {
		t.Fatalf("%v in %q", err, clip(s, 300))
	}
}
