//go:build linux && chrome

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loop/backend/chrome"
	"loop/backend/chrome/chrometest"
	"loop/backend/core"
)

// agent calls the tools as the agent's CLI does, and looks at a real Chromium.
type agent struct {
	t    *testing.T
	cs   *sdk.ClientSession
	url  string // of the pages
	used map[string]bool
}

func newAgent(t *testing.T, o chrome.Options) *agent {
	t.Helper()
	c := chrometest.Start(t)
	b, err := chrome.Open(t.Context(), c.Out, c.In, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	cs := connectBrowser(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Channel string          `json:"channel_id"`
			Action  string          `json:"action"`
			Params  json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Method != http.MethodPost || r.URL.Path != "/api/browser/action" || in.Channel != "mine" {
			t.Errorf("%s %s: %+v, %v", r.Method, r.URL, in, err)
		}
		_ = json.NewEncoder(w).Encode(b.Do(r.Context(), core.BrowserAction{Action: in.Action, Params: in.Params}))
	})
	return &agent{t, cs, chrometest.Pages(t, "../../../backend/chrome/testdata/pages", nil), map[string]bool{}}
}

func (a *agent) call(tool string, args map[string]any) *sdk.CallToolResult {
	a.t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	a.used[tool] = true
	res, err := a.cs.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	return res
}

func said(res *sdk.CallToolResult) string {
	var lines []string
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			lines = append(lines, text.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// does calls a tool that works, whose answer has each of the parts.
func (a *agent) does(tool string, args map[string]any, parts ...string) string {
	a.t.Helper()
	res := a.call(tool, args)
	s := said(res)
	if res.IsError {
		a.t.Fatalf("%s %v: %s", tool, args, s)
	}
	for _, part := range parts {
		if !strings.Contains(s, part) {
			a.t.Errorf("%s %v: %q is not in\n%.3000s", tool, args, part, s)
		}
	}
	return s
}

// fails calls a tool that does not work, and says why in a sentence that has each part.
func (a *agent) fails(tool string, args map[string]any, parts ...string) {
	a.t.Helper()
	res := a.call(tool, args)
	s := said(res)
	for _, part := range parts {
		if !res.IsError || !strings.Contains(s, part) {
			a.t.Errorf("%s %v: %v %.1000q; want an error with %q", tool, args, res.IsError, s, part)
		}
	}
}

type m = map[string]any

func (a *agent) open(page string) {
	a.t.Helper()
	a.does("navigate", m{"url": a.url + "/" + page}, "HTTP 200")
}

// see finds the ref of a line of read_page, as a model does: by its role and name.
func (a *agent) see(line string) int {
	a.t.Helper()
	page := a.does("read_page", nil)
	at := regexp.MustCompile(`(?m)^ *\[(\d+)\] ` + regexp.QuoteMeta(line)).FindStringSubmatch(page)
	if at == nil {
		a.t.Fatalf("no line %q in\n%s", line, page)
	}
	var n int
	_, _ = fmt.Sscan(at[1], &n)
	return n
}

func (a *agent) computer(action string, more m) string {
	a.t.Helper()
	args := m{"action": action}
	for k, v := range more {
		args[k] = v
	}
	return a.does("computer", args)
}

func (a *agent) eval(expression string, want string) {
	a.t.Helper()
	if got := a.does("evaluate", m{"expression": expression}); got != want {
		a.t.Errorf("%s is %q; want %q", expression, got, want)
	}
}

// soon is an expression that waits until another one is true, at most five seconds.
func soon(expression string) string {
	return `new Promise(r => { const look = n => (` + expression + `) || n > 100 ? r(Boolean(` + expression + `)) : setTimeout(look, 50, n + 1); look(0) })`
}

// TestAgentDrivesPages drives our own pages through all of the nineteen tools.
func TestAgentDrivesPages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "up.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, chrome.Options{PutFile: func(_ context.Context, p string) (string, error) {
		if p != "notes/up.txt" {
			return "", core.Fail(core.CodeNotFound, nil, "There is no file “"+p+"” in the workspace.", "Give the path of one that is there.")
		}
		return file, nil
	}})

	// Forms.
	a.open("form.html")
	a.does("page_info", nil, "form.html", "“Form”", "viewport 1280×800")
	a.does("read_page", nil, `textbox "Name" value="old"`, `checkbox "I agree" checked=false`, `textbox "Locked" value="x" readonly`,
		`textbox "Off" value="x" disabled`, `radio "Small" checked=false`, `textbox "Rich text"`)
	for line, value := range map[string]string{
		`textbox "Name"`: "Ada Lovelace", `textbox "Note"`: "two\nlines", `combobox "Fruit"`: "Pear", `checkbox "I agree"`: "true", `radio "Large"`: "true",
		`Date "Day"`: "2026-01-31", `slider "Volume"`: "7", `ColorWell "Tint"`: "#112233", `textbox "Rich text"`: "new text", `button "File`: "notes/up.txt",
	} {
		a.does("form_input", m{"ref": a.see(line), "value": value})
	}
	a.does("read_page", nil, `textbox "Name" value="Ada Lovelace"`, `checkbox "I agree" checked`, `radio "Large" checked`, `slider "Volume" value="7"`, `value="Pear"`)
	a.fails("form_input", m{"ref": a.see(`button "File`), "value": "../secret"}, "no file", "Give the path")
	a.fails("form_input", m{"ref": a.see(`combobox "Fruit"`), "value": "Kiwi"}, "Its options are: Apple, Pear")
	a.fails("form_input", m{"ref": a.see(`checkbox "I agree"`), "value": "perhaps"}, "true or false")
	a.fails("form_input", m{"ref": a.see(`Date "Day"`), "value": "tomorrow"}, "Write it as 2026-01-31.")
	a.fails("form_input", m{"ref": 9999, "value": "x"}, "There is no ref 9999", "read_page")
	a.fails("computer", m{"action": "click", "ref": a.see(`option "Apple"`)}, "list that is closed", "form_input")
	a.does("form_input", m{"ref": a.see(`Date "Day"`), "value": "2026-01-31"})
	a.computer("click", m{"ref": a.see(`button "Send"`)})
	a.eval(`const o = JSON.parse(document.getElementById("out").textContent); [o.name, o.note, o.fruit, o.agree, o.size, o.day, o.volume, o.tint].join()`,
		"Ada Lovelace,two\nlines,p,on,l,2026-01-31,7,#112233")
	a.eval(`document.getElementById("edit").innerText + document.getElementById("file").files[0].name`, "new textup.txt")

	// Mouse and keys, into a field.
	a.computer("triple_click", m{"ref": a.see(`textbox "Name"`)})
	a.computer("type", m{"text": "Grace"})
	a.computer("key", m{"text": "Tab"})
	a.computer("type", m{"text": "Hopper ✓"})
	a.eval(`[document.getElementById("name").value, document.activeElement.id].join()`, "Grace,note")
	a.computer("double_click", m{"ref": a.see(`textbox "Name"`)})
	a.eval(`const n = document.getElementById("name"); n.value.slice(n.selectionStart, n.selectionEnd)`, "Grace")
	a.computer("key", m{"text": "ctrl+a"})
	a.computer("key", m{"text": "Backspace"})
	a.eval(`document.getElementById("name").value`, `""`)
	a.fails("computer", m{"action": "key", "text": "Enterr"}, "no key", "ctrl+a")

	// States, and text that is no element.
	a.open("states.html")
	a.does("read_page", nil, `heading "Settings" level=2`, `checkbox "Some" checked=mixed`, `checkbox "Mail" checked`, `button "More" expanded=false`,
		`button "Bold" pressed`, `button "Send" disabled`, `textbox "Mail address" value="no address" required invalid`, `tab "First" selected`,
		`switch "Night" checked=false`, `spinbutton "Amount" value="3"`, `Two plain words stand here.`)
	if page := a.does("read_page", nil); strings.Contains(page, "Nobody reads this") || strings.Contains(page, "Hidden until asked for") {
		t.Errorf("hidden text is read:\n%s", page)
	}
	a.computer("click", m{"ref": a.see(`button "More"`)})
	a.does("read_page", nil, `button "More" expanded`, "Hidden until asked for")
	a.does("form_input", m{"ref": a.see(`switch "Night"`), "value": "on"}, "checked now")
	a.does("form_input", m{"ref": a.see(`listbox "Colours"`), "value": "Red\nBlue"}, "Red, Blue")
	a.does("read_page", nil, `option "Red" selected`, `switch "Night" checked`)
	a.does("form_input", m{"ref": a.see(`spinbutton "Amount"`), "value": "8"})
	a.fails("form_input", m{"ref": a.see(`button "Bold"`), "value": "x"}, "takes no value")
	a.does("find", m{"query": "plain words"}, `text "Two plain words stand here."`)
	a.does("find", m{"query": "SWITCH"}, `switch "Night"`)
	a.fails("find", m{"query": " "}, "query is empty")
	a.does("find", m{"query": "no such thing"}, "Nothing on the page")
	a.does("get_page_text", nil, "Two plain words stand here.", "Hidden until asked for")

	// Frames, one of them of another site, and a shadow tree.
	a.open("frames.html")
	for _, which := range []string{"same", "cross"} {
		a.computer("click", m{"ref": a.see(`button "Press ` + which)})
		a.eval(soon(`document.title === "Frames clicked `+which+`"`), "true")
	}
	a.does("get_page_text", nil, "inside")
	a.open("shadow.html")
	a.does("form_input", m{"ref": a.see(`textbox "Deep field"`), "value": "deep"})
	a.computer("click", m{"ref": a.see(`button "Deep button"`)})
	a.eval(`document.title + document.querySelector("x-box").shadowRoot.querySelector("input").value`, "Shadow clickeddeep")

	// Canvas, drag and drop, the wheel, pointing.
	a.open("canvas.html")
	a.computer("left_click_drag", m{"start_x": 50, "start_y": 50, "x": 250, "y": 160})
	a.eval(`document.title`, "Canvas drawn")
	a.open("drag.html")
	a.computer("left_click_drag", m{"start_x": 50, "start_y": 50, "x": 350, "y": 260})
	a.eval(`document.title`, "Dropped payload")
	a.fails("computer", m{"action": "left_click_drag", "x": 1, "y": 1}, "needs start_x, start_y, x and y")
	a.eval(`document.onmousemove = e => window.at = e.clientX; document.oncontextmenu = e => { e.preventDefault(); window.menu = e.clientY }; 0`, "0")
	a.computer("move", m{"x": 77, "y": 5})
	a.computer("right_click", m{"x": 10, "y": 500})
	a.eval(`[at, menu].join()`, "10,500")
	a.computer("hover", m{"x": 78, "y": 5})
	a.eval(`at`, "78")
	a.open("scroll.html")
	a.does("computer", m{"action": "scroll", "delta_y": 400}, "The page is at 0, 400 of")
	for range 3 {
		a.computer("scroll", m{"delta_y": 5000})
	}
	a.eval(soon(`n > 100`), "true")
	a.does("find", m{"query": "Row 1"}, `text "Row 1"`, "more fit the query")
	a.does("computer", m{"action": "scroll_to", "ref": a.find("Row 41")}, "Scrolled to")
	a.eval(`const r = [...document.querySelectorAll("p")].find(p => p.textContent === "Row 41").getBoundingClientRect(); r.top >= 0 && r.bottom <= innerHeight`, "true")
	a.does("computer", m{"action": "wait", "duration": 0.1}, "Waited")
	a.fails("computer", m{"action": "wait", "duration": 21}, "0 to 20 seconds")

	// Pictures and sizes.
	a.does("resize_window", m{"width": 500, "height": 400}, "500×400")
	for _, res := range []*sdk.CallToolResult{a.call("screenshot", nil), a.call("computer", m{"action": "screenshot"})} {
		picture, ok := res.Content[0].(*sdk.ImageContent)
		if !ok || picture.MIMEType != "image/png" || !bytes.HasPrefix(picture.Data, []byte("\x89PNG")) || !strings.Contains(said(res), "CSS pixels") {
			t.Errorf("a screenshot is %+v", res.Content)
		}
	}
	a.fails("resize_window", m{"width": 1, "height": 1}, "100 to 3840")

	// Dialogs.
	a.open("dialogs.html")
	a.does("computer", m{"action": "click", "ref": a.see(`button "Prompt"`)}, "prompt: “Who?”", "Enter accepts")
	a.fails("read_page", nil, "shows a dialog")
	a.computer("type", m{"text": "Ada"})
	a.computer("key", m{"text": "Enter"})
	a.eval(`document.title`, "prompt Ada")
	a.computer("click", m{"ref": a.see(`button "Confirm"`)})
	a.computer("key", m{"text": "Escape"})
	a.eval(`document.title`, "confirm false")

	// A page that moves within itself, and the history.
	a.open("spa.html")
	a.computer("click", m{"ref": a.see(`link "About"`)})
	a.does("page_info", nil, "/spa/about", "“About”")
	a.does("get_page_text", nil, "About view")
	a.does("go_back", nil, "spa.html")
	a.does("go_forward", nil, "/spa/about")
	a.fails("go_forward", nil, "no page to go forward")
	a.does("reload", nil, "Reloaded")
	a.fails("computer", m{"action": "click", "ref": 1}, "The page has changed since ref 1 was read; call read_page again.")

	// Tabs.
	a.does("new_tab", m{"url": a.url + "/log.html"}, "log.html")
	list := a.does("list_tabs", nil, "spa", "log.html", "* ")
	ids := regexp.MustCompile(`(?m)^[* ] (\S+)`).FindAllStringSubmatch(list, -1)
	if len(ids) != 2 {
		t.Fatalf("tabs:\n%s", list)
	}
	a.does("switch_tab", m{"target_id": ids[0][1]}, "/spa/about")
	a.does("page_info", nil, "/spa/about")
	a.fails("switch_tab", m{"target_id": "nope"}, "no tab “nope”", "list_tabs")

	// What the page said and fetched.
	a.does("switch_tab", m{"target_id": ids[1][1]})
	a.eval(soon(`performance.getEntriesByName(location.origin + "/data.json").length`), "true")
	a.does("read_console_messages", nil, "[log] plain", "[warning] careful", "[error] broken", "thrown")
	if s := a.does("read_console_messages", m{"onlyErrors": true, "pattern": "brok.n", "limit": 5}, "broken"); strings.Contains(s, "careful") {
		t.Error(s)
	}
	a.does("read_console_messages", m{"limit": 1}, "the newest 1 of")
	a.does("read_console_messages", m{"clear": true}, "careful")
	a.does("read_console_messages", nil, "no such messages")
	a.does("read_network_requests", m{"pattern": "data\\.json"}, "data.json (fetch) 200")
	a.does("read_network_requests", m{"clear": true, "limit": 50}, "missing.json")
	a.does("read_network_requests", nil, "No such requests")
	a.fails("read_network_requests", m{"pattern": "("}, "not a regular expression")
	a.does("close_tab", m{"target_id": ids[1][1]}, "Closed")
	a.does("list_tabs", nil, "* "+ids[0][1])

	// Failures say what to do.
	a.fails("navigate", m{"url": "file:///etc/passwd"}, "not opened")
	a.fails("evaluate", m{"expression": "nothing.here"}, "ReferenceError")
	a.fails("computer", m{"action": "dance"}, "no action", "left_click_drag")
	a.fails("computer", m{"action": "click"}, "Neither a ref nor x and y")
	for name := range browserTools {
		if !a.used[name] {
			t.Errorf("%s was not used", name)
		}
	}
}

// find is the ref of the first thing that find finds.
func (a *agent) find(query string) int {
	a.t.Helper()
	var n int
	if _, err := fmt.Sscanf(a.does("find", m{"query": query}), "[%d]", &n); err != nil {
		a.t.Fatalf("find %q: %v", query, err)
	}
	return n
}
