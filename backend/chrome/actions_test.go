package chrome

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

func TestParamsAreStrict(t *testing.T) {
	for raw, part := range map[string]string{
		`{}`:                               "“action” is missing",
		`[]`:                               "not an object",
		`{"action":1}`:                     "“action” has to be a string",
		`{"action":"key","ref":"x"}`:       "“ref” has to be a number",
		`{"action":"key","nope":1}`:        "no parameter “nope”",
		`{"action":"key"} trailing`:        "not valid JSON",
		`{"action":"key","action":"type"}`: "not valid JSON",
		`{"action":"` + strings.Repeat("x", maxParams) + `"}`: "1 MiB",
	} {
		var p computerParams
		err := decodeParams(jsontext.Value(raw), &p)
		if err == nil || !strings.Contains(sentence(err), part) {
			t.Errorf("%s: %v; want %q", clip(raw, 100), err, part)
		}
	}
	var p computerParams
	if err := decodeParams(jsontext.Value(` {"action":"click","x":0,"y":1.5} `), &p); err != nil || *p.X != 0 || *p.Y != 1.5 {
		t.Errorf("%v, %+v", err, p)
	}
}

func FuzzParams(f *testing.F) {
	f.Add(`{"action":"click","x":1}`)
	f.Add(`{"action":`)
	f.Fuzz(func(t *testing.T, raw string) {
		var p computerParams
		if err := decodeParams(jsontext.Value(raw), &p); err == nil && p.Action == "" {
			t.Error("the action is missing, and nobody said so")
		}
	})
}

func TestNamesOfActions(t *testing.T) {
	if len(tools) != 19 {
		t.Errorf("%d tools", len(tools))
	}
	if len(byName) != len(actions) {
		t.Error("a name is there twice")
	}
	if slices.Contains(AgentActions(), "dialog") || !slices.Contains(PaneActions(), "dialog") || !slices.Contains(AgentActions(), "navigate") {
		t.Error("an action is in the wrong list")
	}
}

func TestNavAddress(t *testing.T) {
	for given, want := range map[string]string{
		"localhost:3000": "http://localhost:3000", "127.0.0.1:80/x": "http://127.0.0.1:80/x", "[::1]:8080": "http://[::1]:8080",
		"preview.app:3000/x": "http://preview.app:3000/x", "example.com": "https://example.com", "example.com:8443/a?b#c": "https://example.com:8443/a?b#c",
		" https://example.com/ä ": "https://example.com/%C3%A4", "ABOUT:blank": "about:blank", "HTTP://x.y": "http://x.y", "localhost": "http://localhost",
		"8080": "http://localhost:8080", ":3000/a?b#c": "http://localhost:3000/a?b#c",
	} {
		if got, err := navAddress(given); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	for _, given := range []string{
		"", "file:///x", "javascript:alert(1)", "java\nscript:x", "data:text/html,x", "chrome://a", "view-source:http://x", "blob:http://x", "about:srcdoc",
		"http://", "https:///x", "ftp://x", "filesystem:http://x", "http://x\x00", strings.Repeat("x", maxAddress+1), "JaVaScRiPt:0",
	} {
		if got, err := navAddress(given); err == nil {
			t.Errorf("%q is opened as %q", clip(given, 60), got)
		} else if f := core.AsFailure(err); f.Code == core.CodeInternal {
			t.Errorf("%q: %v", clip(given, 60), err)
		}
	}
}

func FuzzNavAddress(f *testing.F) {
	f.Add("localhost:3000")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := navAddress(s)
		if err == nil && got != "about:blank" && !strings.HasPrefix(got, "http://") && !strings.HasPrefix(got, "https://") {
			t.Errorf("%q is opened as %q", s, got)
		}
	})
}

func TestRefsLast(t *testing.T) {
	var r refTable
	a, b := ref{node: node{"s", "f", 1}}, ref{node: node{"s", "f", 2}}
	if r.number(a) != 1 || r.number(b) != 2 || r.number(a) != 1 {
		t.Error("a number is another one")
	}
	if e, err := r.find(2); err != nil || e.backend != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	r.leave("s", "another")
	if e, err := r.find(2); err != nil || e.backend != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	r.leave("s", "")
	if _, err := r.find(1); err == nil || sentence(err) != "The frame that ref 1 was in shows another page now; call read_page again." {
		t.Errorf("%v", err)
	}
	r.forget()
	if _, err := r.find(2); err == nil || sentence(err) != "The page has changed since ref 2 was read; call read_page again." {
		t.Errorf("%v", err)
	}
	for i := range int64(maxRefs + 5) {
		r.number(ref{node: node{"s", "f", i}})
	}
	if len(r.byRef) > maxRefs || len(r.byNode) != len(r.byRef) {
		t.Errorf("%d refs of %d nodes", len(r.byRef), len(r.byNode))
	}
	if e, err := r.find(maxRefs + 5); err != nil || e.backend != maxRefs+4 || r.number(e) != maxRefs+5 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := r.find(3); err == nil || sentence(err) != "Ref 3 was read too long ago; call read_page or find again." {
		t.Errorf("%v", err)
	}
}

func TestKeys(t *testing.T) {
	for name, want := range map[string]struct {
		key, code, text string
		modifiers       int
	}{
		"Enter": {"Enter", "Enter", "\r", 0}, "ctrl+a": {"a", "KeyA", "", core.ModifierCtrl}, "?": {"?", "Slash", "?", core.ModifierShift},
		"shift+a": {"A", "KeyA", "A", core.ModifierShift}, "+": {"+", "Equal", "+", core.ModifierShift}, "ctrl++": {"+", "Equal", "", core.ModifierCtrl | core.ModifierShift},
		"F5": {"F5", "F5", "", 0}, "é": {"é", "", "é", 0}, "esc": {"Escape", "Escape", "", 0},
		"ctrl+A": {"a", "KeyA", "", core.ModifierCtrl}, " ctrl + a ": {"a", "KeyA", "", core.ModifierCtrl}, " ": {" ", "Space", " ", 0},
		"ctrl+shift+Z": {"Z", "KeyZ", "", core.ModifierCtrl | core.ModifierShift},
	} {
		k, m, err := parseKeys(name)
		if err != nil || k.key != want.key || k.code != want.code || k.text != want.text || m != want.modifiers {
			t.Errorf("%q: %+v, %d, %v", name, k, m, err)
		}
	}
	for _, name := range []string{"", "nonsense", "ctrl+", "a+b", "ctrl+ab"} {
		if _, _, err := parseKeys(name); err == nil {
			t.Errorf("%q is a key", name)
		}
	}
}

func TestInputIsCoalesced(t *testing.T) {
	l := newInputLane(&Browser{})
	for i := range 100 {
		l.push(core.BrowserInput{Kind: core.InputMove, X: float64(i)})
	}
	l.push(core.BrowserInput{Kind: core.InputScroll, DeltaY: 3})
	l.push(core.BrowserInput{Kind: core.InputScroll, DeltaY: 4})
	l.push(core.BrowserInput{Kind: core.InputDown, X: 5})
	l.push(core.BrowserInput{Kind: core.InputMove, X: 7})
	l.push(core.BrowserInput{Kind: core.InputMove, X: 8})
	if len(l.queue) != 4 || l.queue[0].X != 99 || l.queue[1].DeltaY != 7 || l.queue[3].X != 8 {
		t.Errorf("queue %+v", l.queue)
	}
	for range 2 * maxQueued {
		l.push(core.BrowserInput{Kind: core.InputKey, Key: "a"})
	}
	if len(l.queue) != maxQueued {
		t.Errorf("%d are queued", len(l.queue))
	}
	l.queue = []laneItem{{BrowserInput: core.BrowserInput{Kind: core.InputMove}}}
	l.moving = make(chan struct{})
	if _, wait, ok := l.next(); ok || wait == nil {
		t.Error("a second move is under way")
	}
	l.push(core.BrowserInput{Kind: core.InputDown})
	if in, _, ok := l.next(); !ok || in.Kind != core.InputMove {
		t.Error("a click waits for a move")
	}
	full := 0
	l.queue, l.moving = nil, nil
	for range maxQueued + 1 {
		l.after(func() {}, func() { full++ })
	}
	if full != 1 || len(l.queue) != maxQueued {
		t.Errorf("%d of %d have no room", full, maxQueued+1)
	}
	l.queue = nil
	for _, n := range []int{core.MaxBrowserPaste, core.MaxBrowserPaste + 1} {
		l.push(core.BrowserInput{Kind: core.InputPaste, Text: strings.Repeat("x", n)})
		l.push(core.BrowserInput{Kind: core.InputCompose, Text: strings.Repeat("x", n)})
	}
	if len(l.queue) != 1 {
		t.Errorf("%d long texts", len(l.queue))
	}
}
