//go:build chrome

package chrome

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestForm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "up.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, Options{PutFile: func(_ context.Context, p string) (string, error) { return file, nil }})
	r.open("form.html")
	page := r.must("read_page", nil)
	r.has(page.Result, `textbox "Name" value="old"`)
	r.has(page.Result, `checkbox "I agree"`)
	for name, value := range map[string]string{
		"Name": "Ada", "Note": "two\nlines", "Fruit": "Pear", "I agree": "true", "Large": "true", "Day": "2026-01-31",
		"Volume": "7", "Tint": "#112233", "Rich text": "new text",
	} {
		r.must("form_input", obj{"ref": r.ref(name), "value": value})
	}
	r.must("form_input", obj{"ref": r.ref("File"), "value": "up.txt"})
	// What a field holds is its value, and no element of its own.
	if again := r.must("read_page", nil); strings.Contains(again.Result, "] text ") || !strings.Contains(again.Result, `textbox "Name" value="Ada"`) {
		t.Errorf("%s", again.Result)
	}
	r.has(r.eval(`document.getElementById("file").files[0].name`), "up.txt")
	r.has(r.eval(`document.getElementById("edit").innerText`), "new text")
	r.fails("read-only", "form_input", obj{"ref": r.ref("Locked"), "value": "y"})
	r.fails("disabled", "form_input", obj{"ref": r.ref("Off"), "value": "y"})
	r.fails("Its options are: Apple, Pear", "form_input", obj{"ref": r.ref("Fruit"), "value": "Kiwi"})
	r.fails("does not take", "form_input", obj{"ref": r.ref("Day"), "value": "tomorrow"})
	r.must("form_input", obj{"ref": r.ref("Day"), "value": "2026-01-31"})
	r.click("Send")
	out := r.eval(`document.getElementById("out").textContent`)
	for _, part := range []string{`"name":"Ada"`, `"fruit":"p"`, `"agree":"on"`, `"size":"l"`, `"day":"2026-01-31"`, `"volume":"7"`, `"tint":"#112233"`, `two\nlines`} {
		r.has(out, part)
	}
	r.has(r.eval(`events.join()`), "fruit change")
	n := r.ref("Name")
	r.eval(`document.getElementById("name").remove()`)
	r.fails("gone from the page", "form_input", obj{"ref": n, "value": "x"})
	n = r.ref("Send")
	r.eval(`document.querySelector("form").style.display = "none"`)
	r.fails("hidden", "computer", obj{"action": "click", "ref": n})
	r.open("long.html")
	r.fails("The page has changed since ref 3 was read; call read_page again.", "computer", obj{"action": "click", "ref": 3})
}

func TestFramesAndShadow(t *testing.T) {
	r := start(t, Options{})
	r.open("frames.html")
	for _, which := range []string{"same", "cross"} {
		r.click("Press " + which)
		r.has(r.eval(`new Promise(r => setTimeout(() => r(document.title), 100))`), "clicked "+which)
	}
	r.must("form_input", obj{"ref": r.ref("Inner field"), "value": "text inside"})
	r.has(r.must("get_page_text", nil).Result, "inside")
	at := r.must("find", obj{"query": "press cross"}).Elements
	if len(at) != 1 || at[0].Width != 120 {
		t.Fatalf("found %+v", at)
	}
	el := r.must("element_at", obj{"x": at[0].X + 5, "y": at[0].Y + 5})
	if el.Target == nil || el.Target.Role != "button" || el.Target.Selector != "button" || el.Target.Ref != at[0].Ref || el.Target.X != at[0].X {
		t.Errorf("element_at gives %+v for %+v", el.Target, at[0])
	}
	r.open("shadow.html")
	r.must("form_input", obj{"ref": r.ref("Deep field"), "value": "deep"})
	r.click("Deep button")
	r.has(r.eval(`document.title`), "Shadow clicked")
}

func TestNavigation(t *testing.T) {
	r := start(t, Options{})
	for address, part := range map[string]string{
		"file:///etc/passwd": "not opened", "javascript:alert(1)": "not opened", "chrome://version": "not opened", "data:text/html,x": "not opened",
		"view-source:http://localhost": "not opened", "blob:http://x/1": "not opened", "": "missing",
		"http://127.0.0.1:1/": "port", "http://127.0.0.1:9/": "browsers refuse", "http://localhost:45671/": "Nothing answers at http://localhost:45671/ (connection refused).",
	} {
		r.fails(part, "navigate", obj{"url": address})
	}
	r.has(r.must("navigate", obj{"url": r.url + "/form.html"}).Result, "HTTP 200")
	r.has(r.must("navigate", obj{"url": r.url + "/nothing.html"}).Result, "HTTP 404")
	r.has(r.must("go_back", nil).Result, "form.html")
	r.has(r.must("go_forward", nil).Result, "nothing.html")
	r.fails("no page to go forward", "go_forward", nil)
	r.has(r.must("reload", nil).Result, "Reloaded")
	r.open("spa.html")
	r.click("About")
	r.has(r.must("page_info", nil).Result, "/spa/about")
	r.has(r.must("get_page_text", nil).Result, "About view")
	r.must("go_back", nil)
	r.has(r.must("get_page_text", nil).Result, "Home view")
	begun := time.Now()
	r.has(r.must("navigate", obj{"url": r.url + "/slow"}).Result, "still loads")
	if d := time.Since(begun); d > 17*time.Second {
		t.Errorf("it took %v", d)
	}
	r.must("stop", nil)
}

func TestPointerAndKeys(t *testing.T) {
	r := start(t, Options{})
	r.open("drag.html")
	r.must("computer", obj{"action": "left_click_drag", "start_x": 50, "start_y": 50, "x": 350, "y": 260})
	r.has(r.eval(`document.title`), "Dropped payload")
	r.open("canvas.html")
	r.must("computer", obj{"action": "left_click_drag", "start_x": 50, "start_y": 50, "x": 250, "y": 160})
	r.has(r.eval(`document.title`), "Canvas drawn")
	r.open("form.html")
	r.must("computer", obj{"action": "triple_click", "ref": r.ref("Name")})
	r.must("computer", obj{"action": "type", "text": "Hé <b> \"x\"!"})
	r.has(r.eval(`document.getElementById("name").value`), "Hé <b> \"x\"!")
	r.must("computer", obj{"action": "key", "text": "ctrl+a"})
	r.must("computer", obj{"action": "key", "text": "Backspace"})
	if v := r.eval(`document.getElementById("name").value`); v != `""` {
		t.Errorf("value %q", v)
	}
	r.must("computer", obj{"action": "key", "text": "Tab"})
	r.has(r.eval(`document.activeElement.id`), "note")
	r.fails("no key", "computer", obj{"action": "key", "text": "ctrl+nonsense"})
	r.fails("outside of the viewport", "computer", obj{"action": "click", "x": 5000, "y": 10})
	r.fails("Neither a ref", "computer", obj{"action": "click"})
	r.fails("no action", "computer", obj{"action": "dance"})
	r.open("long.html")
	r.must("computer", obj{"action": "scroll", "delta_y": 600})
	r.has(r.eval(`new Promise(r => setTimeout(() => r(scrollY > 300), 300))`), "true")
	r.click("At the end")
	r.has(r.eval(`document.title`), "end clicked")
	r.open("scroll.html")
	for range 5 {
		r.must("computer", obj{"action": "scroll", "delta_y": 5000})
	}
	r.has(r.eval(`new Promise(r => setTimeout(() => r(String(n > 100)), 300))`), "true")
}

func TestScreenshots(t *testing.T) {
	r := start(t, Options{})
	r.open("long.html")
	res := r.must("screenshot", nil)
	if !bytes.HasPrefix(res.Image, []byte("\x89PNG")) {
		t.Errorf("result %+v, %d bytes", res.Result, len(res.Image))
	}
	r.must("resize_window", obj{"width": 500, "height": 400})
	p := r.must("page_info", nil).Page
	if p.Width != 500 && p.Width != 485 || p.Height != 400 || p.PageHeight < 20000 {
		t.Errorf("page %+v", p)
	}
	r.fails("100 to 3840", "resize_window", obj{"width": 1, "height": 4})
}

func TestDialogs(t *testing.T) {
	r := start(t, Options{})
	r.open("dialogs.html")
	r.has(r.click("Alert").Result, "alert: “Hello”")
	if d, ok := r.Dialog(); !ok || d.Kind != "alert" {
		t.Errorf("dialog %+v", d)
	}
	r.fails("shows a dialog", "read_page", nil)
	r.must("computer", obj{"action": "key", "text": "Enter"})
	r.has(r.eval(`document.title`), "alerted")
	r.click("Confirm")
	r.must("computer", obj{"action": "key", "text": "Escape"})
	r.has(r.eval(`document.title`), "confirm false")
	r.click("Prompt")
	r.must("computer", obj{"action": "type", "text": "Ada"})
	r.must("computer", obj{"action": "key", "text": "Enter"})
	r.has(r.eval(`document.title`), "prompt Ada")
	r.click("Prompt")
	r.must("dialog", obj{"accept": true})
	r.has(r.eval(`document.title`), "prompt nobody")
	r.click("Loop")
	for range 5 {
		r.do("computer", obj{"action": "key", "text": "Enter"})
	}
	r.has(r.eval(`new Promise(r => setTimeout(() => r(document.title), 200))`), "loop ended")
	r.click("Guard")
	r.has(r.must("navigate", obj{"url": r.url + "/long.html"}).Result, "long.html")
}

func TestTabs(t *testing.T) {
	r := start(t, Options{})
	r.open("popups.html")
	res := r.click("Open one")
	if len(r.Tabs()) != 2 {
		t.Fatalf("tabs %+v; %s", r.Tabs(), res.Result)
	}
	r.has(r.must("page_info", nil).Result, "inner.html")
	first := r.Tabs()[0].ID
	r.must("switch_tab", obj{"target_id": first})
	r.has(r.must("page_info", nil).Result, "popups.html")
	for range maxTabs + 3 { // Chromium allows one for each gesture
		r.must("switch_tab", obj{"target_id": first})
		r.eval(`window.open("/inner.html?more"); 0`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.until(ctx, func() bool { return len(r.tabs) == maxTabs }); err != nil {
		t.Fatalf("%d tabs: %v", len(r.Tabs()), err)
	}
	r.fails("20 tabs already", "new_tab", obj{"url": r.url})
	for _, tab := range r.Tabs() {
		r.must("close_tab", obj{"target_id": tab.ID})
	}
	if tabs := r.Tabs(); len(tabs) != 1 || tabs[0].URL != "about:blank" {
		t.Errorf("tabs %+v", tabs)
	}
	r.has(r.must("new_tab", obj{"url": r.url + "/form.html"}).Result, "HTTP 200")
	r.has(r.must("list_tabs", nil).Result, "form.html")
	r.fails("no tab", "switch_tab", obj{"target_id": "nope"})
}

func TestLogs(t *testing.T) {
	r := start(t, Options{})
	r.open("log.html")
	r.eval(`new Promise(r => setTimeout(() => r("x"), 300))`)
	all := r.must("read_console_messages", nil).Result
	for _, part := range []string{"[log] plain", "a: 1", "[warning] careful", "[error] broken", "Error: thrown"} {
		r.has(all, part)
	}
	if s := r.must("read_console_messages", obj{"onlyErrors": true, "pattern": "brok.n"}).Result; strings.Contains(s, "careful") || !strings.Contains(s, "broken") {
		t.Error(s)
	}
	r.fails("not a regular expression", "read_console_messages", obj{"pattern": "("})
	r.has(r.must("read_network_requests", obj{"pattern": "missing"}).Result, "404")
	r.has(r.must("read_network_requests", nil).Result, "data.json (fetch) 200")
	r.must("read_network_requests", obj{"clear": true})
	r.has(r.must("read_network_requests", nil).Result, "No such requests")
}

func TestEvaluateAndHang(t *testing.T) {
	r := start(t, Options{})
	r.open("hang.html")
	for expression, want := range map[string]string{
		`1 + 1`: "2", `({a: [1, "x"]})`: `{"a":[1,"x"]}`, `await Promise.resolve(7)`: "7", `document.querySelector("button")`: "<button", `undefined`: "undefined",
		`10n`: "10n", `"x".repeat(1e6)`: "…", `(() => { const a = {}; a.a = a; return a })()`: "seen above", `new Array(1e6).fill(1)`: "…", `NaN`: "NaN",
	} {
		got := r.eval(expression)
		r.has(got, want)
		if len(got) > 2*maxValue {
			t.Errorf("%s gives %d bytes", expression, len(got))
		}
	}
	r.fails("ReferenceError", "evaluate", obj{"expression": "nothing.here"})
	begun := time.Now()
	r.fails("10 seconds", "evaluate", obj{"expression": "for (;;);"})
	r.fails("10 seconds", "evaluate", obj{"expression": "new Promise(() => {})"})
	r.do("computer", obj{"action": "click", "ref": r.ref("Hang")})
	r.fails("does not answer", "read_page", nil)
	if d := time.Since(begun); d > 60*time.Second {
		t.Errorf("it took %v", d)
	}
	r.open("form.html")
}

func TestCrashAndEnd(t *testing.T) {
	r := start(t, Options{})
	r.open("form.html")
	tb, err := r.current()
	if err != nil {
		t.Fatal(err)
	}
	tb.post("Page.crash", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.until(ctx, func() bool { return tb.crashed }); err != nil {
		t.Fatal(err)
	}
	r.fails("The page has crashed", "read_page", nil)
	r.has(r.must("reload", nil).Result, "form.html")
	r.must("read_page", nil)
	tb.post("Page.crash", nil)
	if err := r.until(ctx, func() bool { return tb.crashed }); err != nil {
		t.Fatal(err)
	}
	r.open("log.html")
	r.must("read_page", nil)
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-r.Done()
	r.fails("The browser has ended; the next action starts it again.", "read_page", nil)
}
