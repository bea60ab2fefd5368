//go:build chrome

package hostchrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"loop/backend/browser"
	"loop/backend/chrome"
	"loop/backend/core"
)

// person is a person with a Chromium, in which a tab of theirs is open.
type person struct {
	t      *testing.T
	site   string // of the pages
	folder string
	cmd    *exec.Cmd
	ended  chan struct{}
}

func newPerson(t *testing.T) *person {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/touched" {
			t.Errorf("the person's tab was touched: %s", r.URL.RawQuery)
		}
		frame := ""
		if r.URL.Path == "/foreign" {
			frame = `<script>onload = () => setTimeout(() => { // when the window has its size
				for (const e of ["resize", "visibilitychange", "blur", "pagehide", "beforeunload", "keydown", "mousemove"])
					addEventListener(e, () => navigator.sendBeacon("/touched?" + e), true)
				document.title = "At rest"
			}, 1000)</script>`
		}
		if q := r.URL.Query().Get("frame"); q != "" {
			frame = `<iframe src="` + q + `"></iframe>`
		}
		_, _ = fmt.Fprintf(w, `<title>Page %s</title><p>Here is %s</p>%s`, r.URL.Path, r.URL.Path, frame)
	}))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	p := &person{t: t, site: s.URL, folder: t.TempDir()}
	t.Cleanup(func() { p.kill() })
	for tries := 1; !p.start(); tries++ { // one start in some twenty ends with a fault of its own, measured
		if tries == 3 {
			t.Fatal("Chromium does not start")
		}
	}
	p.wait("their tab", func(list []target) bool { return len(list) == 1 && list[0].Title == "At rest" })
	return p
}

// start starts Chromium and waits until its DevTools listen; false if it ended.
func (p *person) start() bool {
	p.t.Helper()
	said, w := io.Pipe()
	p.cmd = exec.CommandContext(context.Background(), "/usr/bin/chromium", "--remote-debugging-port=0", "--headless", "--no-sandbox", "--disable-gpu",
		"--no-first-run", "--disable-dev-shm-usage", "--user-data-dir="+p.folder, p.site+"/foreign")
	p.cmd.Stderr = w
	ended := make(chan struct{})
	p.ended = ended
	if err := p.cmd.Start(); err != nil {
		close(ended)
		p.t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = p.cmd.Wait()
		_ = w.Close()
	}()
	listening, words := make(chan struct{}), make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
			if strings.HasPrefix(lines.Text(), "DevTools listening on") {
				close(listening)
			}
		}
		words <- text.String()
	}()
	select {
	case <-listening:
		return true
	case <-ended:
		p.t.Logf("Chromium ended: %v\n%s", p.cmd.ProcessState, <-words)
	case <-time.After(time.Minute):
		p.t.Fatal("Chromium does not listen")
	}
	return false
}

func (p *person) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

type target struct{ ID, Title, URL, Type string }

// targets are the tabs that Chromium itself knows.
func (p *person) targets() (out []target) {
	p.t.Helper()
	at, err := readPortFile(p.folder)
	if err != nil {
		return nil // it is not written yet
	}
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/json/list", at.Port))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var all []target
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		p.t.Fatal(err)
	}
	for _, x := range all {
		if x.Type == "page" {
			out = append(out, x)
		}
	}
	return out
}

// wait waits for what Chromium knows.
func (p *person) wait(what string, ok func([]target) bool) {
	p.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for !ok(p.targets()) {
		select {
		case <-tick.C:
		case <-late:
			p.t.Fatalf("%s: %+v", what, p.targets())
		}
	}
}

// loop is Loop in the person's Chromium.
type loop struct {
	*chrome.Browser
	t    *testing.T
	port uint16
	run  browser.Running

	painted chan struct{} // room for one
	changed chan struct{} // room for one
}

func (p *person) attach() *loop {
	p.t.Helper()
	at, err := readPortFile(p.folder)
	if err != nil {
		p.t.Fatal(err)
	}
	l := &loop{t: p.t, port: at.Port, painted: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	offer := func(ch chan struct{}) {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
	run, err := Attach(p.t.Context(), p.folder, browser.Hooks{
		Changed: func() { offer(l.changed) },
		Frame:   func(f core.BrowserFrame) { f.Ack(); offer(l.painted) },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	if run.Mode != core.BrowserOnHost || len(run.Notices) != 1 || run.Lost == nil {
		p.t.Errorf("%+v", run)
	}
	l.Browser, l.run = run.Driver.(*chrome.Browser), run
	p.t.Cleanup(func() { _ = run.Close() })
	return l
}

type obj = map[string]any

func (l *loop) do(name string, params any) core.BrowserResult {
	l.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.Do(l.t.Context(), core.BrowserAction{Action: name, Params: raw})
}

func (l *loop) must(name string, params any) core.BrowserResult {
	l.t.Helper()
	res := l.do(name, params)
	if res.Error != "" {
		l.t.Fatalf("%s %v: %s", name, params, res.Error)
	}
	return res
}

// until waits for a state of the tabs.
func (l *loop) until(what string, ok func([]core.BrowserTab) bool) {
	l.t.Helper()
	late := time.After(30 * time.Second)
	for !ok(l.Tabs()) {
		select {
		case <-l.changed:
		case <-late:
			l.t.Fatalf("%s: %+v", what, l.Tabs())
		}
	}
}

func active(title string) func([]core.BrowserTab) bool {
	return func(list []core.BrowserTab) bool {
		for _, tab := range list {
			if tab.Active {
				return tab.Title == title
			}
		}
		return false
	}
}

// lookOfPage waits for the view of a phone's width: a view is set in a moment.
const lookOfPage = `new Promise(r => { const look = n => innerWidth === 400 || n === 0
	? r(innerWidth + " " + matchMedia("(prefers-color-scheme: dark)").matches) : setTimeout(look, 100, n - 1); look(80) })`

func TestOwnTabsOfAPersonsChromium(t *testing.T) {
	p := newPerson(t)
	theirs := p.targets()[0]
	l := p.attach()
	if list := l.Tabs(); len(list) != 1 || list[0].URL != "about:blank" {
		t.Fatalf("at first: %+v", list)
	}
	if res := l.must("navigate", obj{"url": p.site + "/own"}); !strings.Contains(res.Result, "the person's own Chrome") {
		t.Errorf("the agent is not told: %s", res.Result)
	}
	l.Cast(true, 60)
	<-l.painted
	if err := l.SetView(core.BrowserView{Width: 400, Height: 700, Dark: true, Network: "slow"}); err != nil {
		t.Fatal(err)
	}
	if got := l.must("evaluate", obj{"expression": lookOfPage}).Result; !strings.Contains(got, "400 true") {
		t.Errorf("the view of Loop's own tab: %s", got)
	}
	if err := l.SetView(core.BrowserView{Width: 1280, Height: 800}); err != nil {
		t.Fatal(err)
	}

	// What a tab of Loop's opens is Loop's, however it was opened.
	l.must("evaluate", obj{"expression": "void window.open('/popup')"})
	l.until("a popup", active("Page /popup"))
	l.must("evaluate", obj{"expression": "void window.open('/noopener', '_blank', 'noopener')"})
	l.until("a popup without an opener", active("Page /noopener"))
	l.must("new_tab", obj{"url": p.site + "/second"})
	l.until("a second tab", active("Page /second"))
	if list := l.must("list_tabs", nil).Tabs; len(list) != 4 {
		t.Errorf("tabs: %+v", list)
	}

	// The person's is in no list, and no tool reaches it.
	for _, tab := range l.Tabs() {
		if tab.ID == theirs.ID || strings.Contains(tab.URL+tab.Title, "foreign") {
			t.Errorf("the person's tab is listed: %+v", tab)
		}
	}
	for _, tool := range []string{"switch_tab", "close_tab"} {
		if res := l.do(tool, obj{"target_id": theirs.ID}); !strings.Contains(res.Error, "There is no tab") {
			t.Errorf("%s: %+v", tool, res)
		}
	}
	// A new tab of the person's own.
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("http://127.0.0.1:%d/json/new?%s/later", l.port, p.site), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(put)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	p.wait("the person's later tab", func(list []target) bool { return len(list) == 6 })
	if list := l.must("list_tabs", nil).Tabs; len(list) != 4 {
		t.Errorf("tabs, after the person opened one: %+v", list)
	}

	// The end closes what is Loop's, also a page that would rather stay, and nothing else.
	l.must("evaluate", obj{"expression": "addEventListener('beforeunload', e => e.preventDefault()); document.body.click()"})
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	p.wait("the person's tabs alone", func(list []target) bool {
		return len(list) == 2 && !strings.Contains(list[0].URL+list[1].URL, "own") && strings.Contains(list[0].URL+list[1].URL, "foreign")
	})
	again := p.attach()
	again.must("navigate", obj{"url": p.site + "/again"})
}

func TestAFileForAPageOfAPersonsChromium(t *testing.T) {
	p := newPerson(t)
	l := p.attach()
	l.must("navigate", obj{"url": p.site + "/own"})
	l.must("evaluate", obj{"expression": `document.body.innerHTML = "<input type=file>"; document.querySelector("input").click()`})
	late := time.After(30 * time.Second)
	for _, asks := l.Chooser(); !asks; _, asks = l.Chooser() {
		select {
		case <-l.changed:
		case <-late:
			t.Fatal("the page asks for no file")
		}
	}
	at, err := l.run.PutFile(t.Context(), "letter.txt", strings.NewReader("Dear page"))
	if err != nil {
		t.Fatal(err)
	}
	if res := l.do("choose_files", obj{"paths": []string{"/etc/passwd"}}); res.Error == "" {
		t.Error("a file that nobody gave was chosen")
	}
	l.must("choose_files", obj{"paths": []string{at}})
	const read = `const f = document.querySelector("input").files[0]; f.name + ": " + await f.text()`
	if got := l.must("evaluate", obj{"expression": read}).Result; got != "letter.txt: Dear page" {
		t.Errorf("the page reads %q", got)
	}
	if err := l.run.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

func TestDevToolsAreOutOfReach(t *testing.T) {
	p := newPerson(t)
	l := p.attach()
	l.must("navigate", obj{"url": p.site + "/own"})
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]"} {
		list := fmt.Sprintf("http://%s:%d/json/list", host, l.port)
		if res := l.do("navigate", obj{"url": list}); res.Error == "" {
			t.Errorf("%s: %s", list, res.Result)
		}
		l.must("navigate", obj{"url": p.site + "/own"})
		if res := l.must("evaluate", obj{"expression": "fetch('" + list + "', {mode: 'no-cors'}).then(() => 'reached', () => 'refused')"}); !strings.Contains(res.Result, "refused") {
			t.Errorf("%s: %s", list, res.Result)
		}
		l.must("navigate", obj{"url": p.site + "/framing?frame=" + list})
		for _, action := range []string{"read_page", "get_page_text"} {
			if res := l.must(action, nil); strings.Contains(res.Result, "webSocketDebuggerUrl") {
				t.Errorf("%s of a frame of %s: %s", action, list, res.Result)
			}
		}
		if res := l.must("evaluate", obj{"expression": "void window.open('" + list + "')"}); res.Error != "" {
			t.Error(res.Error)
		}
		l.until("a popup", func(tabs []core.BrowserTab) bool { return len(tabs) == 1 || !tabs[len(tabs)-1].Loading })
		if res := l.do("get_page_text", nil); strings.Contains(res.Result, "webSocketDebuggerUrl") {
			t.Errorf("a popup of %s: %s", list, res.Result)
		}
		l.must("navigate", obj{"url": p.site + "/own"})
	}
	if res := l.do("navigate", obj{"url": "file:///etc/passwd"}); !strings.Contains(res.Error, "not opened in this browser") {
		t.Errorf("%+v", res)
	}
	// An address that only speaks of the port is another one.
	l.must("navigate", obj{"url": fmt.Sprintf("%s/own?of=http://127.0.0.1:%d/json/list", p.site, l.port)})
}

func TestTheChromiumDies(t *testing.T) {
	p := newPerson(t)
	l := p.attach()
	p.kill()
	select {
	case <-l.Done():
	case <-time.After(30 * time.Second):
		t.Fatal("its end is not noticed")
	}
	if res := l.do("navigate", obj{"url": p.site}); !strings.Contains(res.Error, "has ended") {
		t.Errorf("%+v", res)
	}
	began := time.Now()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("the end took %v", d)
	}
	// Its file is left, and says a port on which nothing listens.
	if f := fails(t, core.CodeNotFound, p.folder); !strings.Contains(f.Cause, "has ended") {
		t.Errorf("%+v", f)
	}
	if _, err := os.Stat(p.folder); err != nil {
		t.Error(err)
	}
}
