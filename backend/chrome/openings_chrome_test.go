//go:build chrome

package chrome

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

// ownNames has names that end in .test lead to the server of a test.
var ownNames = []string{"--host-resolver-rules=MAP *.test 127.0.0.1", "--disable-features=HttpsUpgrades,Prerender2,BackForwardCache"}

// door is who decides about pages in a test, by host.
type door struct {
	t     *testing.T
	asked chan core.BrowserOpening

	mu      sync.Mutex
	waiting map[string]chan error // by host; closed when the browser waits no more
	open    map[string]error      // decided at once
	count   map[string]int
	ended   chan string // hosts of which the question ended without an answer
}

func newDoor(t *testing.T) *door {
	return &door{t: t, asked: make(chan core.BrowserOpening, 1000), ended: make(chan string, 1000), waiting: map[string]chan error{},
		open: map[string]error{}, count: map[string]int{}}
}

func (d *door) opens(ctx context.Context, op core.BrowserOpening) error {
	u, err := url.Parse(op.URL)
	if err != nil {
		return err
	}
	host := u.Hostname()
	d.mu.Lock()
	d.count[host]++
	said, known := d.open[host]
	ch := d.waiting[host]
	if ch == nil {
		ch = make(chan error, 1)
		d.waiting[host] = ch
	}
	d.mu.Unlock()
	d.asked <- op
	if known {
		return said
	}
	select {
	case err := <-ch:
		return err
	case <-ctx.Done():
		d.ended <- host
		return ctx.Err()
	}
}

func (d *door) says(host string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[host] = err
}

// answer decides about the page that waits.
func (d *door) answer(host string, err error) {
	d.mu.Lock()
	ch := d.waiting[host]
	d.mu.Unlock()
	ch <- err
}

// wait returns the next question about a host.
func (d *door) wait(host string) core.BrowserOpening {
	d.t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case op := <-d.asked:
			if u, err := url.Parse(op.URL); err == nil && u.Hostname() == host {
				return op
			}
		case <-late:
			d.t.Fatalf("nobody was asked about %s", host)
		}
	}
}

func (d *door) gone(host string) {
	d.t.Helper()
	select {
	case h := <-d.ended:
		if h != host {
			d.t.Fatalf("the question about %s ended, not that about %s", h, host)
		}
	case <-time.After(20 * time.Second):
		d.t.Fatalf("the question about %s did not end", host)
	}
}

func (d *door) asks(host string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count[host]
}

var errNo = core.Fail(core.CodeForbidden, nil, "The person denied opening it.", "Go on without it.")

// sites is a server of several sites, and what it was asked for.
type sites struct {
	port string
	mu   sync.Mutex
	got  []string // method, host and path
}

func (s *sites) url(host, path string) string { return "http://" + host + ":" + s.port + path }

func (s *sites) had(t *testing.T, what string) bool {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.got {
		if strings.HasPrefix(g, what) {
			return true
		}
	}
	return false
}

func serveSites(t *testing.T) *sites {
	s := &sites{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		s.mu.Lock()
		s.got = append(s.got, r.Method+" "+host+r.URL.Path)
		s.mu.Unlock()
		switch r.URL.Path {
		case "/hop":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/pic.svg":
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
		case "/links":
			to := r.URL.Query().Get("to")
			fmt.Fprintf(w, `<title>Links</title><h1>Links of %[1]s</h1><a href="%[2]s">go</a><a href="%[2]s" target="_blank">tab</a>
				<form method="post" action="%[2]s"><input name="secret" value="s3cret"><button>send</button></form>
				<button onclick="window.open('%[2]s')">popup</button>`, host, to)
		case "/worker":
			_, _ = w.Write([]byte(`<title>Worker</title><script>navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready).then(() => document.title = "ready", e => document.title = e)</script>`))
		case "/sw.js":
			w.Header().Set("Content-Type", oddAnswers["sw.js"][0])
			_, _ = w.Write([]byte(oddAnswers["sw.js"][1]))
		case "/frames":
			to := r.URL.Query().Get("to")
			fmt.Fprintf(w, `<title>Frames</title><iframe src="%[1]s" title="inner"></iframe><img src="%[1]s/pic.svg">`, to)
		default:
			fmt.Fprintf(w, `<title>Page</title><h1>Hello from %s</h1><a href="/next">next</a>`, host)
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.port = u.Port()
	return s
}

// held starts an action that is about to wait, and returns what comes of it.
func (r *rig) held(name string, params any) <-chan core.BrowserResult {
	out := make(chan core.BrowserResult, 1)
	r.t.Helper()
	go func() { out <- r.do(name, params) }()
	return out
}

func (r *rig) result(ch <-chan core.BrowserResult) core.BrowserResult {
	r.t.Helper()
	select {
	case res := <-ch:
		return res
	case <-time.After(30 * time.Second):
		r.t.Fatal("the action does not end")
		return core.BrowserResult{}
	}
}

// eventually waits for something that tools say.
func (r *rig) eventually(ok func() bool) {
	r.t.Helper()
	ended := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(ended) {
			r.t.Fatal("it does not come to that")
		}
	}
}

// stays fails unless the page that is shown is that of a host.
func (r *rig) stays(host string) {
	r.t.Helper()
	if res := r.must("read_page", nil); !strings.Contains(res.Result, host) {
		r.t.Errorf("the page is not that of %s: %s", host, clip(res.Result, 400))
	}
	if res := r.must("screenshot", nil); len(res.Image) == 0 {
		r.t.Error("no screenshot")
	}
}

func TestToolNavigationIsHeldUntilItIsDecided(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	r.has(r.must("navigate", obj{"url": s.url("a.test", "/")}).Result, "Opened http://a.test")

	res := r.held("navigate", obj{"url": s.url("b.test", "/x")})
	if op := d.wait("b.test"); op.Act == nil || op.Act.Action != "navigate" || op.Within || op.URL != s.url("b.test", "/x") {
		t.Errorf("%+v", op)
	}
	r.stays("a.test")
	if s.had(t, "GET b.test") {
		t.Error("the site was reached before the answer")
	}
	d.answer("b.test", errNo)
	if got := r.result(res); !strings.Contains(got.Error, "The person denied opening it. Go on without it.") {
		t.Errorf("%+v", got)
	}
	r.stays("a.test")
	if s.had(t, "GET b.test") {
		t.Error("the site was reached although it was denied")
	}

	res = r.held("navigate", obj{"url": s.url("b.test", "/x")})
	d.wait("b.test")
	r.stays("a.test")
	d.answer("b.test", nil)
	got := r.result(res)
	r.has(got.Result, "It was allowed. Opened http://b.test")
	r.stays("b.test")

	// Rules take no time, and no tool says that anybody was asked.
	d.says("c.test", errNo)
	r.fails("The person denied opening it.", "navigate", obj{"url": s.url("c.test", "/")})
	r.stays("b.test")
	if op := d.wait("c.test"); op.Within {
		t.Error("another site passes for the one that is shown")
	}
	d.says("www.b.test", nil)
	r.must("navigate", obj{"url": s.url("www.b.test", "/")})
	if op := d.wait("www.b.test"); !op.Within {
		t.Error("a site passes for another one")
	}
	// Neither what was let in for another run, nor what was not reached, is open.
	d.says("b.test", nil)
	navigate := func(run core.RunID, to string) {
		raw := []byte(`{"url":"` + to + `"}`)
		r.Do(t.Context(), core.BrowserAction{Action: "navigate", Params: raw, Caller: core.Caller{RunID: run}})
	}
	for _, c := range []struct {
		run    core.RunID
		within bool
	}{{"run2", false}, {"run2", true}, {"run3", false}} {
		navigate(c.run, s.url("b.test", "/"))
		if op := d.wait("b.test"); op.Within != c.within {
			t.Errorf("%s: %+v", c.run, op)
		}
	}
	d.says("down.test", nil)
	for range 2 {
		navigate("run3", "http://down.test:1/")
		if op := d.wait("down.test"); op.Within {
			t.Error("a site that was not reached is open")
		}
	}
}

func TestPagesGoNowhereByThemselves(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	at := func(host string) {
		r.must("navigate", obj{"url": s.url("a.test", "/links?to="+url.QueryEscape(s.url(host, "/in")))})
	}
	for _, c := range []struct {
		what, host string
		act        func() <-chan core.BrowserResult
	}{
		{"link", "link.test", func() <-chan core.BrowserResult {
			return r.held("computer", obj{"action": "click", "ref": r.ref("go")})
		}},
		{"form", "form.test", func() <-chan core.BrowserResult {
			return r.held("computer", obj{"action": "click", "ref": r.ref("send")})
		}},
		{"script", "script.test", func() <-chan core.BrowserResult {
			return r.held("evaluate", obj{"expression": "location.href = '" + s.url("script.test", "/in") + "'"})
		}},
	} {
		at(c.host)
		res := c.act()
		if op := d.wait(c.host); op.Act == nil {
			t.Errorf("%s: no action is known to be under way", c.what)
		}
		if c.what == "form" {
			r.eventually(func() bool { return strings.Contains(r.do("read_page", nil).Error, "is sending a form to") })
			if shot := r.must("screenshot", nil); len(shot.Image) == 0 {
				t.Error("no screenshot")
			}
		} else {
			r.stays("a.test")
		}
		d.answer(c.host, errNo)
		got := r.result(res)
		if got.Error != "" || !strings.Contains(got.Result, "The person denied opening it.") {
			t.Errorf("%s: %+v", c.what, got)
		}
		r.stays("a.test")
		for _, method := range []string{"GET ", "POST "} {
			if s.had(t, method+c.host) {
				t.Errorf("%s: the site was reached although it was denied", c.what)
			}
		}
	}

	at("form.test")
	res := r.held("computer", obj{"action": "click", "ref": r.ref("send")})
	d.wait("form.test")
	r.eventually(func() bool { return strings.Contains(r.do("read_page", nil).Error, "is sending a form to") })
	d.answer("form.test", nil)
	r.has(r.result(res).Result, "It was allowed. Opened "+s.url("form.test", "/in"))
	if !s.had(t, "POST form.test/in") {
		t.Error("the form was not sent after it was allowed")
	}

	// What a page does while no tool is under way.
	at("timer.test")
	r.must("evaluate", obj{"expression": "setTimeout(() => { location = '" + s.url("timer.test", "/in") + "' }, 700); 1"})
	if op := d.wait("timer.test"); op.Act != nil {
		t.Errorf("a tool passes for what the page did: %+v", op.Act)
	}
	d.answer("timer.test", errNo)
	r.eventually(func() bool {
		return strings.Contains(r.must("page_info", nil).Result, "Note: The person denied opening it.")
	})
	r.stays("a.test")
}

func TestPopupsAreHeldFromTheirFirstRequest(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	for i, how := range []string{"popup", "tab"} {
		host := fmt.Sprintf("new%d.test", i)
		r.must("navigate", obj{"url": s.url("a.test", "/links?to="+url.QueryEscape(s.url(host, "/in")))})
		first := r.Tabs()[0].ID
		res := r.held("computer", obj{"action": "click", "ref": r.ref(how)})
		d.wait(host)
		if s.had(t, "GET "+host) {
			t.Errorf("%s: the site was reached before the answer", how)
		}
		d.answer(host, errNo)
		got := r.result(res)
		r.has(got.Result+got.Error, "The person denied opening it.")
		if s.had(t, "GET "+host) {
			t.Errorf("%s: the site was reached although it was denied", how)
		}
		r.must("switch_tab", obj{"target_id": first})
		for _, tab := range r.Tabs()[1:] {
			r.must("close_tab", obj{"target_id": tab.ID})
		}
		r.stays("a.test")
	}
	d.says("good.test", nil)
	r.must("navigate", obj{"url": s.url("a.test", "/links?to="+url.QueryEscape(s.url("good.test", "/in")))})
	r.click("popup")
	r.eventually(func() bool { return strings.Contains(r.must("read_page", nil).Result, "good.test") })
}

func TestEachHopOfRedirectsIsHeld(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	r.must("navigate", obj{"url": s.url("a.test", "/")})
	last := s.url("three.test", "/end")
	two := s.url("two.test", "/hop?to="+url.QueryEscape(last))
	res := r.held("navigate", obj{"url": s.url("one.test", "/hop?to="+url.QueryEscape(two))})
	for _, host := range []string{"one.test", "two.test"} {
		d.wait(host)
		r.stays("a.test")
		d.answer(host, nil)
	}
	d.wait("three.test")
	d.answer("three.test", errNo)
	if got := r.result(res); !strings.Contains(got.Error, "The person denied opening it.") {
		t.Errorf("%+v", got)
	}
	if s.had(t, "GET three.test") {
		t.Error("the last site was reached although it was denied")
	}
	r.stays("a.test")
}

func TestFramesAndPicturesOfAPageAreNotAskedAbout(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	r.must("navigate", obj{"url": s.url("a.test", "/frames?to="+url.QueryEscape(s.url("inner.test", "")))})
	r.has(r.must("get_page_text", nil).Result, "Hello from inner.test")
	if !s.had(t, "GET inner.test/pic.svg") || d.asks("inner.test") > 0 {
		t.Errorf("asked %d times", d.asks("inner.test"))
	}
}

func TestNothingIsAskedForATabThatIsGone(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	r.must("navigate", obj{"url": s.url("a.test", "/")})
	res := r.held("navigate", obj{"url": s.url("b.test", "/")})
	d.wait("b.test")
	r.must("close_tab", obj{"target_id": r.Tabs()[0].ID})
	d.gone("b.test")
	if got := r.result(res); !strings.Contains(got.Error, "The tab was closed.") {
		t.Errorf("%+v", got)
	}

	// A person stops what loads.
	res = r.held("navigate", obj{"url": s.url("c.test", "/")})
	d.wait("c.test")
	r.must("stop", nil)
	d.gone("c.test")
	if got := r.result(res); got.Error == "" {
		t.Errorf("%+v", got)
	}

	// The browser ends.
	res = r.held("navigate", obj{"url": s.url("d.test", "/")})
	d.wait("d.test")
	_ = r.Close()
	d.gone("d.test")
	if got := r.result(res); !strings.Contains(got.Error, "The browser has ended") {
		t.Errorf("%+v", got)
	}
}

func TestManyNavigationsAreOneQuestion(t *testing.T) {
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, ownNames...)
	d.says("a.test", nil)
	r.must("navigate", obj{"url": s.url("a.test", "/")})
	res := r.held("evaluate", obj{"expression": `new Promise(done => { let n = 0;
		const go = () => { location.href = '` + s.url("calm.test", "/") + `' + n; if (++n < 100) setTimeout(go, 5); else setTimeout(() => done(n), 300) }; go() })`})
	d.wait("calm.test")
	r.stays("a.test")
	d.answer("calm.test", errNo)
	r.result(res)
	r.stays("a.test")
	if n := d.asks("calm.test"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if s.had(t, "GET calm.test") {
		t.Error("the site was reached although it was denied")
	}
}

// TestNoPageComesPastTheQuestion has pages come that Chromium requests from nobody, as a
// service worker makes them of a site that was allowed before, and goes back to another.
func TestNoPageComesPastTheQuestion(t *testing.T) {
	t.Parallel()
	d, s := newDoor(t), serveSites(t)
	r := start(t, Options{Opens: d.opens}, append(ownNames, "--unsafely-treat-insecure-origin-as-secure="+s.url("work.test", ""))...)
	d.says("work.test", nil)
	d.says("start.test", nil)
	d.says("localhost", nil)
	made := s.url("work.test", "/made")
	links := "/links?to=" + url.QueryEscape(made)
	refused := func(what string, res core.BrowserResult) {
		t.Helper()
		if !strings.Contains(res.Result+res.Error, "The person denied opening it.") {
			t.Errorf("%s: %q %q", what, res.Result, res.Error)
		}
		if page := r.must("read_page", nil).Result; strings.Contains(page, "made by a worker") || strings.Contains(page, "Hello from work.test") {
			t.Errorf("%s: the page is %s", what, page)
		}
	}
	r.must("navigate", obj{"url": s.url("work.test", "/worker")})
	r.comes(`document.title`, "ready")
	r.must("navigate", obj{"url": s.url("start.test", links)})
	d.says("work.test", errNo)
	refused("a tool", r.do("navigate", obj{"url": made}))
	refused("back", r.do("go_back", nil))
	// A page of the agent's own container has its workers, and leads to no page of another's.
	for _, host := range []string{"start.test", "localhost"} {
		r.must("navigate", obj{"url": s.url(host, links)})
		refused("a link of "+host, r.click("go"))
	}
	d.says("work.test", nil)
	r.must("navigate", obj{"url": s.url("start.test", "/a")})
	r.must("navigate", obj{"url": s.url("work.test", "/b")})
	r.has(r.must("go_back", nil).Result, "start.test")
	r.has(r.must("go_forward", nil).Result, "work.test") // the way back leaves the way forward
	r.must("navigate", obj{"url": s.url("localhost", links)})
	r.click("go")
	r.has(r.must("read_page", nil).Result, "Hello from work.test")
	r.must("navigate", obj{"url": s.url("localhost", "/worker")})
	r.comes(`document.title`, "ready")
	r.must("navigate", obj{"url": s.url("localhost", "/made")})
	r.has(r.must("read_page", nil).Result, "made by a worker")
	r.must("reload", nil)
	r.has(r.must("read_page", nil).Result, "made by a worker")
}
