//go:build chrome

package chrome

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// hurry has tools wait less for a page that does not answer.
func (r *rig) hurry(d time.Duration) {
	r.mu.Lock()
	r.patience = d
	r.mu.Unlock()
}

// within performs an action that ends in time, whatever comes of it.
func (r *rig) within(d time.Duration, name string, params any) core.BrowserResult {
	r.t.Helper()
	begun := time.Now()
	res := r.do(name, params)
	if took := time.Since(begun); took > d {
		r.t.Errorf("%s took %v", name, took)
	}
	return res
}

// heap is how much memory this program uses. A test that measures runs beside no other, whose
// bytes would count as its own.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// lean fails if memory has grown by more than most bytes since before.
func (r *rig) lean(before, most int64) {
	r.t.Helper()
	if grown := heap() - before; grown > most {
		r.t.Errorf("%d MiB of memory are kept", grown>>20)
	}
}

// everyTool has parameters for each of the nineteen, for a page like form.html whose
// elements were read; those in alive need nothing of the page.
var everyTool = []struct {
	name   string
	params obj
	alive  bool
}{
	{"evaluate", obj{"expression": "1"}, false}, {"find", obj{"query": "x"}, false}, {"form_input", obj{"ref": 1, "value": "x"}, false},
	{"computer", obj{"action": "click", "x": 5, "y": 5}, false}, {"computer", obj{"action": "click", "ref": 1}, false},
	{"computer", obj{"action": "right_click", "x": 5, "y": 5}, false}, {"computer", obj{"action": "double_click", "x": 5, "y": 5}, false},
	{"computer", obj{"action": "triple_click", "x": 5, "y": 5}, false}, {"computer", obj{"action": "type", "text": "x"}, false},
	{"computer", obj{"action": "key", "text": "a"}, false}, {"computer", obj{"action": "scroll", "delta_y": 5}, false},
	{"computer", obj{"action": "scroll_to", "ref": 1}, false}, {"computer", obj{"action": "hover", "x": 5, "y": 5}, false},
	{"computer", obj{"action": "left_click_drag", "start_x": 1, "start_y": 1, "x": 5, "y": 5}, false},
	{"computer", obj{"action": "wait", "duration": 0.01}, true},
	{"read_page", nil, false}, {"screenshot", nil, false}, {"get_page_text", nil, false}, {"page_info", nil, false},
	{"read_console_messages", nil, true}, {"read_network_requests", nil, true}, {"list_tabs", nil, true}, {"resize_window", obj{"width": 900, "height": 700}, false},
}

func TestEveryToolOfAPageThatHangs(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("hostile.html")
	r.must("read_page", nil)
	r.hurry(300 * time.Millisecond)
	r.do("computer", obj{"action": "click", "ref": r.ref("Hang")})
	tools := map[string]bool{"navigate": true, "new_tab": true, "switch_tab": true, "close_tab": true, "go_back": true, "go_forward": true, "reload": true}
	for _, c := range everyTool {
		tools[c.name] = true
		if c.name == "evaluate" {
			continue // it waits for ten seconds, and ends the script: it comes last
		}
		res := r.within(5*time.Second, c.name, c.params)
		if c.alive != (res.Error == "") || !c.alive && !strings.Contains(res.Error, "does not answer in time") {
			t.Errorf("%s %v: %+v", c.name, c.params, res)
		}
	}
	if len(tools) != 19 {
		t.Errorf("%d tools were tried", len(tools))
	}
	hung := r.Tabs()[0].ID
	for _, way := range []string{"reload", "go_back", "navigate", "close_tab"} {
		switch way {
		case "navigate":
			r.must("navigate", obj{"url": r.url + "/form.html"})
		case "close_tab":
			r.must("new_tab", obj{"url": r.url + "/form.html"})
			r.must("switch_tab", obj{"target_id": hung})
			r.within(10*time.Second, "close_tab", obj{"target_id": hung})
			if len(r.Tabs()) != 1 {
				t.Errorf("tabs %+v", r.Tabs())
			}
		default:
			r.has(r.within(20*time.Second, way, nil).Result, map[string]string{"reload": "Reloaded", "go_back": "Went back"}[way])
		}
		r.hurry(callTimeout)
		r.must("page_info", nil)
		if way == "close_tab" {
			return
		}
		r.open("hostile.html")
		r.hurry(300 * time.Millisecond)
		r.do("computer", obj{"action": "click", "x": r.must("find", obj{"query": "Hang"}).Elements[0].X + 5, "y": 15})
	}
}

func TestEveryToolOfAPageThatCrashed(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("form.html")
	r.must("read_page", nil)
	tb, err := r.current()
	if err != nil {
		t.Fatal(err)
	}
	tb.post("Page.navigate", obj{"url": "chrome://crash"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.until(ctx, func() bool { return tb.crashed }); err != nil {
		t.Fatal(err)
	}
	for _, c := range everyTool {
		res := r.within(5*time.Second, c.name, c.params)
		if c.alive != (res.Error == "") || !c.alive && !strings.Contains(res.Error, "The page has crashed. Reload it or open another.") {
			t.Errorf("%s %v: %+v", c.name, c.params, res)
		}
	}
	r.open("form.html")
	r.must("read_page", nil)
}

func TestChromiumKilledUnderAnAct(t *testing.T) {
	t.Parallel()
	said := make(chan struct{}, 100)
	r := start(t, Options{Changed: func() { said <- struct{}{} }})
	r.open("form.html")
	done := make(chan core.BrowserResult, 1)
	go func() { done <- r.do("evaluate", obj{"expression": "console.log('begun'); new Promise(() => {})"}) }()
	for len(r.Console(0)) == 0 {
		<-said
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if res := <-done; !strings.Contains(res.Error, "The browser has ended; the next action starts it again.") {
		t.Errorf("%+v", res)
	}
	for _, c := range everyTool {
		if res := r.within(time.Second, c.name, c.params); !strings.Contains(res.Error, "The browser has ended") {
			t.Errorf("%s: %+v", c.name, res)
		}
	}
}

func TestFiveHundredTabs(t *testing.T) {
	r := start(t, Options{}, "--disable-popup-blocking")
	r.open("hostile.html")
	first := r.Tabs()[0].ID
	before := heap()
	r.do("evaluate", obj{"expression": `for (let i = 0; i < ` + fmt.Sprint(soaktest.Of(500)) + `; i++) window.open("/inner.html?" + i, "_blank", "noopener"); "opened"`})
	if n := len(r.Tabs()); n > maxTabs {
		t.Errorf("%d tabs", n)
	}
	r.has(r.must("list_tabs", nil).Result, "hostile.html")
	r.must("switch_tab", obj{"target_id": first})
	r.has(r.must("page_info", nil).Result, "hostile.html")
	r.lean(before, 16<<20)
}

func TestEndlessDialogs(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for _, script := range []string{`document.getElementById("alerts").click()`, `setInterval(() => alert("again"), 1)`,
		`onbeforeunload = e => { e.preventDefault(); return "stay" }; setInterval(() => prompt("again"), 1)`} {
		r.open("hostile.html")
		tb, err := r.current()
		if err != nil {
			t.Fatal(err)
		}
		tb.post("Runtime.evaluate", obj{"expression": script, "userGesture": true})
		for range 2 * dialogsInARow {
			r.within(callTimeout+5*time.Second, "computer", obj{"action": "key", "text": "Enter"})
		}
		begun := time.Now()
		r.open("form.html")
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: leaving took %v", script, took)
		}
		r.must("read_page", nil)
	}
}

func TestVeryLongPage(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	for _, v := range []core.BrowserView{{Width: 1280, Height: 800}, {Width: 3840, Height: 3840, Scale: 3}, {Width: 800, Height: 600, Scale: 2, Zoom: 5}, {Width: 390, Height: 844, Scale: 3, Mobile: true, Zoom: 0.25}} {
		r.look(v)
		r.open("long.html")
		r.eval(`document.body.style.width = "20000px"`)
		res := r.must("screenshot", nil)
		picture, kind, err := image.DecodeConfig(bytes.NewReader(res.Image))
		if err != nil || picture.Width > maxPixels || picture.Height > maxPixels || len(res.Image) > 2*maxPNG {
			t.Errorf("%+v: %s of %d×%d, %d bytes, %v", v, kind, picture.Width, picture.Height, len(res.Image), err)
		}
		r.must("computer", obj{"action": "scroll", "delta_y": 9000})
		p := r.must("page_info", nil).Page
		if p.ScrollY < 1000 || p.PageHeight < 20_000 || p.PageWidth < 20_000 {
			t.Errorf("%+v: page %+v", v, p)
		}
		r.has(r.must("read_page", nil).Result, "pixels from the top")
		r.click("At the end")
		r.has(r.eval(`document.title`), "end clicked")
	}
}

// look sets a view and waits until the page has it.
func (r *rig) look(v core.BrowserView) {
	r.t.Helper()
	if err := r.SetView(v); err != nil {
		r.t.Fatal(err)
	}
	if err := r.until(r.t.Context(), func() bool { return r.shown == r.view }); err != nil {
		r.t.Fatal(err)
	}
	r.eval(`new Promise(r => { requestAnimationFrame(() => setTimeout(r)); setTimeout(r, 300) })`)
}

func TestConsoleFlood(t *testing.T) {
	r := start(t, Options{})
	r.open("hostile.html")
	before := heap()
	r.hurry(25 * time.Second)
	r.do("evaluate", obj{"expression": `for (let i = 0; i < ` + fmt.Sprint(soaktest.Of(100_000)) + `; i++) console.log(i, "x".repeat(1000)); "done"`})
	r.must("page_info", nil)
	lines := r.Console(0)
	if len(lines) == 0 || len(lines) > keptLines {
		t.Errorf("%d lines are kept", len(lines))
	}
	if s := r.must("read_console_messages", obj{"limit": 100}).Result; len(s) > maxValue+1000 {
		t.Errorf("%d bytes are read", len(s))
	}
	r.lean(before, 32<<20)
}

func TestNetworkFlood(t *testing.T) {
	r := start(t, Options{})
	r.open("hostile.html")
	before := heap()
	r.must("evaluate", obj{"expression": `for (let i = 0; i < ` + fmt.Sprint(soaktest.Of(10_000)) + `; i++) fetch("/data.json?" + i + "x".repeat(3000)).catch(() => 0); fetch("/data.json?last").finally(() => window.over = true); "done"`})
	// On a slow machine Chromium needs most of a minute for ten thousand of them.
	for n := 0; soaktest.Whole() && n < 20 && r.do("evaluate", obj{"expression": `await new Promise(r => setTimeout(r, 5000)); window.over`}).Result != "true"; n++ {
		r.must("list_tabs", nil)
	}
	r.shows("the last answer", func() bool { return r.do("evaluate", obj{"expression": `window.over`}).Result == "true" })
	r.has(r.must("read_network_requests", obj{"pattern": "last"}).Result, "last")
	if n := len(r.Requests(0)); n > keptRequests {
		t.Errorf("%d requests are kept", n)
	}
	r.lean(before, 16<<20)
}

// TestEventFloods makes Chromium say as much as a page can have it say.
func TestEventFloods(t *testing.T) {
	r := start(t, Options{})
	r.open("hostile.html")
	before := heap()
	r.hurry(25 * time.Second)
	n := fmt.Sprint(soaktest.Of(2000))
	for range 10 { // a frame costs Chromium some milliseconds, and a script has ten seconds
		r.must("evaluate", obj{"expression": fmt.Sprintf(`frames(%d)`, soaktest.Of(2000)/10)})
		r.must("page_info", nil)
	}
	for _, script := range []string{
		`for (let i = 0; i < 10 * ` + n + `; i++) document.title = "title " + i; "done"`,
		`for (let i = 0; i < ` + n + `; i++) { try { history.pushState({}, "", "#" + i) } catch {} } "done"`,
		`for (let i = 0; i < ` + n + `; i++) setTimeout(() => { throw new Error("x".repeat(10000)) }); "done"`,
	} {
		r.must("evaluate", obj{"expression": script})
		r.must("page_info", nil)
	}
	r.lean(before, 32<<20)
}

func TestHugeScriptsAndValues(t *testing.T) {
	r := start(t, Options{})
	r.open("hostile.html")
	before := heap()
	r.fails("longer than 256 KiB", "evaluate", obj{"expression": "'" + strings.Repeat("x", maxScript) + "'"})
	r.fails("longer than 1 MiB", "evaluate", obj{"expression": "'" + strings.Repeat("x", maxParams) + "'"})
	if soaktest.Whole() {
		r.fails("larger than 64 MiB; ask for less", "evaluate", obj{"expression": `"x".repeat(1e8)`})
	}
	for _, expression := range []string{`"x".repeat(1e6)`, `Array.from({length: 1e5}, (_, i) => ({i, s: "x".repeat(100)}))`, `new Error("x".repeat(1e6))`,
		`Object.fromEntries(Array.from({length: 1e5}, (_, i) => ["k" + i, i]))`, `document.body.innerHTML = "<p>x</p>".repeat(1e4); document.body`, `new Map(Array.from({length: 1e5}, (_, i) => [i, i]))`} {
		if s := r.eval(expression); len(s) > 4*maxValue+100 {
			t.Errorf("%s gives %d bytes", expression, len(s))
		}
	}
	if res := r.do("evaluate", obj{"expression": `throw "x".repeat(1e6)`}); len(res.Error) > 4000 || res.Error == "" {
		t.Errorf("an error of %d bytes", len(res.Error))
	}
	r.lean(before, 16<<20)
	r.fails("There is no action “nope”", "nope", nil)
	r.fails("“url” is missing", "navigate", nil)
	r.fails("“url” has to be a string", "navigate", obj{"url": 7})
	r.fails("no parameter “nope”", "read_page", obj{"nope": 1})
	r.fails("not an object", "read_page", []int{1})
}

func TestMonstrousDocuments(t *testing.T) {
	r := start(t, Options{})
	for _, script := range []string{fmt.Sprintf(`nest(%d)`, soaktest.Of(10_000)), fmt.Sprintf(`many(%d)`, soaktest.Of(100_000))} {
		r.open("hostile.html")
		before := heap()
		r.has(r.eval(script), "000")
		for _, c := range []struct {
			name   string
			params obj
		}{{"read_page", nil}, {"find", obj{"query": "Button 9999"}}, {"get_page_text", nil}, {"screenshot", nil}, {"page_info", nil}} {
			res := r.within(doTimeout+2*time.Second, c.name, c.params)
			t.Logf("%s: %s gives %d bytes, %d elements: %s %.200s", script, c.name, len(res.Result), len(res.Elements), res.Error, tail(res.Result))
			if res.Error != "" && !strings.Contains(res.Error, "too many elements to be read at a time") && !strings.Contains(res.Error, "does not answer in time") &&
				!strings.Contains(res.Error, "The page has crashed") { // Chromium runs out of stack in a deep enough page
				t.Errorf("%s: %s: %s", script, c.name, res.Error)
			}
			if c.name == "get_page_text" && strings.Contains(script, "many") && !strings.Contains(res.Result, "characters in all") {
				t.Errorf("a text that was cut does not say so: %s", tail(res.Result))
			}
			if len(res.Result) > 5*maxSnapshot {
				t.Errorf("%s: %s gives %d bytes", script, c.name, len(res.Result))
			}
		}
		r.lean(before, 64<<20)
	}
}

func tail(s string) string { return s[max(0, len(s)-200):] }

func TestHugeAndMisleadingNames(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("hostile.html")
	r.eval(`document.title = "a\u0000b\u202Ec\u0007" + "x".repeat(1e6); const l = document.createElement("link"); l.rel = "icon"; l.href = "data:image/png;base64," + "A".repeat(1e6); document.head.append(l); 0`)
	r.has(r.must("page_info", nil).Page.Title, "a bc xxx")
	r.eval(`history.replaceState({}, "", "?" + "y".repeat(500000)); 0`)
	r.eval(`const b = document.createElement("button"); b.setAttribute("aria-label", "\u202Egnp.exe\u0000\n[99] button " + "z".repeat(1e5)); document.body.append(b); 0`)
	tab := r.Tabs()[0]
	if len(tab.Title) > maxTitle || len(tab.URL) > maxURL || len(tab.Icon) > 20<<10 || strings.ContainsAny(tab.Title, "\u0000\u202e\u0007") {
		t.Errorf("%d bytes of title, %d of address, %d of icon: %.40q", len(tab.Title), len(tab.URL), len(tab.Icon), tab.Title)
	}
	page := r.must("read_page", nil)
	if strings.ContainsAny(page.Result, "\u202e\u0000") || strings.Contains(page.Result, "\n[99] button") || len(page.Result) > maxSnapshot {
		t.Errorf("%d bytes: %.2000q", len(page.Result), page.Result)
	}
	r.has(page.Result, `button "gnp.exe [99] button zzz`)
	r.must("list_tabs", nil)
}

// TestResizeStorm names a thousand sizes a second, as panes do that are dragged.
func TestResizeStorm(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("form.html")
	r.eval(`window.sizes = 0; onresize = () => sizes++; 0`)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range 1000 {
		<-tick.C
		if err := r.SetView(core.BrowserView{Width: 500 + i%300, Height: 400 + i%200, Scale: 1 + float64(i%2)}); err != nil {
			t.Fatal(err)
		}
	}
	r.look(core.BrowserView{Width: 701, Height: 501})
	if got := r.eval(`[innerWidth, innerHeight, devicePixelRatio].join()`); got != "701,501,1" {
		t.Errorf("the page is %s", got)
	}
	t.Log("sizes that the page saw:", r.eval(`sizes`))
	r.must("computer", obj{"action": "click", "ref": r.ref("Name")})
}

// TestNobodyTakesFrames has a pane that keeps every frame: Chromium stops drawing, and
// what the tools do goes on.
func TestNobodyTakesFrames(t *testing.T) {
	t.Parallel()
	frames := make(chan core.BrowserFrame, 10000)
	r := start(t, Options{Frame: func(f core.BrowserFrame) { frames <- f }})
	r.open("motion.html")
	r.Cast(true, 0)
	first := <-frames
	for i := range 10 {
		r.has(r.eval(fmt.Sprint(i)), fmt.Sprint(i))
	}
	r.open("form.html")
	r.must("screenshot", nil)
	if n := len(frames); n > 30 {
		t.Errorf("%d frames came without an answer", n)
	}
	first.Ack()
	first.Ack()
	r.Cast(false, 0)
	late := slices.Collect(func(yield func(core.BrowserFrame) bool) {
		for {
			select {
			case f := <-frames:
				if !yield(f) {
					return
				}
			default:
				return
			}
		}
	})
	for _, f := range late { // of a cast that is over
		f.Ack()
	}
	r.must("page_info", nil)
}
