//go:build chrome

package chrome

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// refs are the refs of the elements of the page by their names.
func (r *rig) refs() map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for _, e := range r.must("read_page", nil).Elements {
		if out[e.Name] == 0 {
			out[e.Name] = e.Ref
		}
	}
	return out
}

// comes waits until an expression gives a value, at most five seconds.
func (r *rig) comes(expression, want string) {
	r.t.Helper()
	got := r.eval(`new Promise(done => { const end = Date.now() + 5000; (function look() { const v = String(` + expression + `);
		v === ` + fmt.Sprintf("%q", want) + ` || Date.now() > end ? done(v) : setTimeout(look, 10) })() })`)
	if got != want {
		r.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// TestFramesWithinFramesOfOtherSites uses a page of three sites inside one another, of which
// the innermost is scaled, and one made by srcdoc.
func TestFramesWithinFramesOfOtherSites(t *testing.T) {
	t.Parallel()
	r := start(t, Options{PutFile: func(context.Context, string) (string, error) { return "/etc/hostname", nil }})
	r.open("nest.html")
	r.comes(`loaded`, "3")
	at := r.refs()
	for _, name := range []string{"level 0", "level 1", "level 2", "srcdoc", "sandbox"} {
		r.must("computer", obj{"action": "click", "ref": at["Press "+name]})
		r.comes(`document.title`, "clicked "+name)
	}
	for i := range 3 {
		r.must("form_input", obj{"ref": at[fmt.Sprint("Field ", i)], "value": "v"})
		r.comes(`document.title`, fmt.Sprint("typed ", i, " v"))
		r.has(r.must("form_input", obj{"ref": at[fmt.Sprint("Pick ", i)], "value": "two"}).Result, "Chose “two”")
		r.has(r.must("form_input", obj{"ref": at[fmt.Sprint("File ", i)], "value": "x"}).Result, "Gave 1 file")
	}
	// A picture of the innermost shows the button where the tools say that it is.
	e := r.must("find", obj{"query": "Press level 2"}).Elements[0]
	if el := r.must("element_at", obj{"x": e.X + e.Width/2, "y": e.Y + e.Height/2}).Target; el == nil || el.Name != "Press level 2" {
		t.Errorf("at %+v is %+v", e, el)
	}
	// A frame that moves on leaves no number that means something else.
	for _, who := range []string{`f.contentWindow.frames[0]`, `f.contentWindow`} {
		before := r.eval(`loaded`)
		r.eval(who + `.postMessage("move on", "*"); 0`)
		r.comes(`loaded > `+before, "true")
		r.fails("The frame that ref", "computer", obj{"action": "click", "ref": at["Press level 2"]})
	}
	old := map[int]bool{}
	for name, n := range at {
		old[n] = strings.HasSuffix(name, "1") || strings.HasSuffix(name, "2")
	}
	for name, n := range r.refs() {
		if old[n] {
			t.Errorf("%q has the number %d of another page's element", name, n)
		}
	}
}

// TestClicksGoWhereTheySay clicks what is hard to hit: what it says is what the page saw.
func TestClicksGoWhereTheySay(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("places.html")
	at := r.refs()
	const clicked = "Clicked ref"
	for _, c := range []struct{ name, says, hit string }{
		{"In head", clicked, "head"},
		{"Under", "it is covered there by <div class=o veil>, which got the click", "veil"},
		{"Contents link", clicked, "contents"},
		{"Zero link", clicked, "zero"},
		{"Off screen", "is outside of the viewport, and the page cannot be scrolled to it; make the viewport larger", "-"},
		{"Turned", clicked, "turned true"},
		{"Zoomed", clicked, "zoomed"},
		{"Clear", clicked, "clear"},
		{"No pointer", "it lets clicks through to <body> around it", "-"},
		{"שלום עולם", clicked, "rtl"},
		{"👩‍👩‍👧 Family", clicked, "emoji"},
		{"a link that is wrapped over several lines", clicked, "wrapped"},
		{"Deep in box", clicked, "scrolled"},
		{"Pseudo", clicked, "pseudo"},
		{"Ghosted", "covered there by <i class=veiled>", "-"},
		{"Shape", clicked, "shape"},
		{"Low", clicked, "low"},
	} {
		r.eval(`document.title = "-"`)
		if c.name == "Low" { // it is under the head of the page, and comes out from there
			r.eval(`scrollBy(0, low.getBoundingClientRect().top - 20); 0`)
		}
		res := r.do("computer", obj{"action": "click", "ref": at[c.name]})
		if got := r.eval(`document.title`); got != c.hit || !strings.Contains(res.Result+res.Error, c.says) {
			t.Errorf("%s: %q, and the page saw %q", c.name, res.Result+res.Error, got)
		}
	}
	if aria := r.refs(); aria["Aria hidden"]+aria["Inert"]+aria["Invisible"] != 0 {
		t.Errorf("what is not there for a person has refs: %v", aria)
	}
	r.must("computer", obj{"action": "click", "ref": at["Modal"]})
	modal := r.refs()
	r.has(r.must("computer", obj{"action": "click", "ref": at["Low"]}).Result, "covered there by <dialog id=dlg>")
	if modal["Low"] != 0 || modal["Close it"] == 0 {
		t.Errorf("under a modal dialog are %v", modal)
	}
	r.must("computer", obj{"action": "click", "ref": modal["Close it"]})
	r.must("computer", obj{"action": "click", "ref": at["Pop"]})
	r.click("In popover")
	r.comes(`document.title`, "popped")
}

// TestEveryKindOfField gives each kind a value it takes and one it does not.
func TestEveryKindOfField(t *testing.T) {
	t.Parallel()
	r := start(t, Options{PutFile: func(context.Context, string) (string, error) { return "/etc/hostname", nil }})
	r.open("editors.html")
	at := r.refs()
	for _, c := range []struct{ name, value, says, expression, want string }{
		{"Plain", "new\nlines 😀", "Filled", `plain.innerText`, "new\nlines 😀"},
		{"Blocks", "one\ntwo", "Filled", `blocks.innerText.replace(/\n+/g, "|")`, "one|two"},
		{"Blocks", "", "Filled", `blocks.innerText.trim()`, ""},
		{"Text only", "a <b>", "Filled", `plainonly.innerText`, "a <b>"},
		{"Guarded", "new", "did not take “new”; its value is “kept” now. Look at what", `guard.innerText`, "kept"},
		{"Model", "one\ntwo", "Filled", `model.innerText`, "one\ntwo"},
		{"Model", "three", "Filled", `model.innerText`, "three"},
		{"Controlled", "typed", "Filled", `react.value + state.react`, "typedtyped"},
		{"Upper", "typed", "its value is “TYPED” now", `upper.value`, "TYPED"},
		{"Number", "12.5", "Filled", `num.value`, "12.5"},
		{"Number", "abc", "did not take “abc”", `num.value`, ""},
		{"Short", "abcdefgh", "its value is “abcde” now", `short.value`, "abcde"},
		{"Area", "a\r\nb\n\nc", "Filled", `area.value`, "a\nb\n\nc"},
		{"Area", strings.Repeat("long ", 2000), "Filled", `String(area.value.length)`, "10000"},
		{"Area", "", "Filled", `area.value`, ""},
		{"Hidden from sight", "found", "Filled", `unseen.value`, "found"},
		{"Under glass", "through", "Filled", `under.value`, "through"},
		{"When", "2026-01-31T09:30:00", "Set", `document.getElementById("when").value`, "2026-01-31T09:30"},
		{"When", "31.1.2026", "it is “2026-01-31T09:30” as before. Write it as", `document.getElementById("when").value`, "2026-01-31T09:30"},
		{"When", "", "Set", `document.getElementById("when").value`, ""},
		{"Hour", "09:30", "Set", `hour.value`, "09:30"},
		{"Week", "2026-W05", "Set", `week.value`, "2026-W05"},
		{"Month", "2026-01", "Set", `month.value`, "2026-01"},
		{"Month", "January", "Write it as 2026-01.", `month.value`, "2026-01"},
		{"Level", "7", "to “8”, as it goes from 0 to 10 in steps of 2.", `level.value + state.level`, "88"},
		{"Level", "much", "does not take “much”", `level.value`, "8"},
		{"Tint", "#ABCDEF", "Set", `tint.value`, "#abcdef"},
		{"Tint", "sky", "Write it as #ff8800.", `tint.value`, "#abcdef"},
		{"Many", "One\nTwo", "Chose “One, Two”", `Array.from(many.selectedOptions, o => o.value).join()`, "1,2"},
		{"Many", "Three", "Its options are: One, Two.", `Array.from(many.selectedOptions, o => o.value).join()`, "1,2"},
		{"Many", "", "Chose “”", `String(many.selectedOptions.length)`, "0"},
		{"Third", "true", "is checked now", `String(third.checked)`, "true"},
		{"Lamp", "on", "is checked now", `document.querySelector("[role=switch]").ariaChecked`, "true"},
		{"Lamp", "maybe", "takes true or false", `"x"`, "x"},
		{"Styled box", "true", "is checked now", `String(fake.checked)`, "true"},
		{"Styled radio", "true", "is checked now", `String(fr.checked)`, "true"},
		{"Styled radio", "false", "Choose another one of its group", `String(fr.checked)`, "true"},
		{"Folder", "x", "takes a whole folder", `String(folder.files.length)`, "0"},
		{"One file", "a\nb", "takes one file", `String(one.files.length)`, "0"},
		{"One file", "a", "Gave 1 file", `String(one.files.length)`, "1"},
		{"Press", "x", "is a button", `"x"`, "x"},
	} {
		res := r.do("form_input", obj{"ref": at[c.name], "value": c.value})
		if got := r.eval(c.expression); got != c.want && (c.want != "" || got != `""`) || !strings.Contains(res.Result+res.Error, c.says) {
			t.Errorf("%s %q: %q, and the page has %q", c.name, clip(c.value, 40), res.Result+res.Error, got)
		}
	}
	// What find gives for the words of a label is its field.
	for _, e := range r.must("find", obj{"query": "Wrapped"}).Elements {
		r.must("form_input", obj{"ref": e.Ref, "value": "by " + e.Role})
		r.has(r.eval(`wrapped.value`), "by "+e.Role)
	}
	// A chord may be written as people do.
	for _, keys := range []string{"ctrl+A", "Control+a", "ctrl + a", "Ctrl+Shift+Home"} {
		r.eval(`area.value = "some text"; area.focus(); area.setSelectionRange(9, 9); 0`)
		r.must("computer", obj{"action": "key", "text": keys})
		if got := r.eval(`area.selectionStart + " " + area.selectionEnd`); got != "0 9" {
			t.Errorf("%s selects %s", keys, got)
		}
	}
	r.fails("Several keys are several actions", "computer", obj{"action": "key", "text": "Enter Enter"})
	r.must("computer", obj{"action": "key", "text": "ctrl+c"})
	r.must("computer", obj{"action": "key", "text": "End"})
	r.must("computer", obj{"action": "key", "text": "ctrl+v"})
	r.must("computer", obj{"action": "type", "text": "\n👩‍👩‍👧é1️⃣"})
	if got := r.eval(`area.value`); got != "some textsome text\n👩‍👩‍👧é1️⃣" {
		t.Errorf("typed %q", got)
	}
	r.must("computer", obj{"action": "key", "text": "ctrl+z"})
}

// TestWhatScriptsAndConsolesSay has values of every kind shown as an agent can use them.
func TestWhatScriptsAndConsolesSay(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("hang.html")
	for expression, want := range map[string]string{
		`return 1`: "Illegal return statement. Leave “return” out", `throw {code: 7}`: `Uncaught {"code":7}`, `throw null`: "Uncaught null",
		`Promise.reject({why: "no"})`: `{"why":"no"}`, `Symbol("s")`: "Symbol(s)", `/x/g`: "/x/g", `document`: "<html>", `[/a/, new Map([[1, {a: /b/}]])]`: `["/a/",{"map":[[1,{"a":"/b/"}]]}]`,
		`(() => { const s = {x: 1}; return {p: s, q: s} })()`:                            `{"p":{"x":1},"q":{"x":1}}`,
		`(() => { const a = {n: 1}; a.self = a; return [a, a] })()`:                      `[{"n":1,"self":"[seen above]"},{"n":1,"self":"[seen above]"}]`,
		`(() => { let a = {}; for (let i = 0; i < 60; i++) a = {a, b: a}; return a })()`: "{",
		`new Proxy({}, {ownKeys() { throw 2 }})`:                                         "[object Object]: 2", `({get x() { throw new Error("own") }})`: "Error: own",
		`const v = await fetch("/data.json"); await v.json()`: `{"ok":true}`, `-0`: "-0", `[undefined, 2n]`: `[null,"2n"]`, `// nothing`: "undefined",
	} {
		if res := r.do("evaluate", obj{"expression": expression}); !strings.Contains(res.Result+res.Error, want) {
			t.Errorf("%s gives %q %q, want %q", expression, clip(res.Result, 300), res.Error, want)
		}
	}
	r.eval(`console.log("%s is %d%% of %o %c!", "it", 7, {a: 1}, "color: red", "more"); console.warn("50% of", 2); console.error("%s"); 0`)
	said := r.must("read_console_messages", nil).Result
	for _, part := range []string{"[log] it is 7% of Object {a: 1} ! more\n", "[warning] 50% of 2\n", "[error] %s"} {
		r.has(said, part)
	}
	r.fails("“onlyErrors” has to be true or false", "read_console_messages", obj{"onlyErrors": "yes"})
	r.fails("The limit is less than 1.", "read_network_requests", obj{"limit": 0})
}

// TestWhatMovesUnderTheHand acts on what scrolls smoothly and is used again for something
// else, in a page that has its own ideas of the language.
func TestWhatMovesUnderTheHand(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("moving.html")
	at := r.refs()
	for _, c := range []struct{ name, says, title string }{
		{"Bottom", "Clicked ref", "bottom"}, {"Top", "Clicked ref", "top"},
		{"Play", "(button “Play”).", "Pause"}, {"Play", "(button “Pause”, which was “Play” when it was read).", "Play"}, {"Row 3", "Clicked ref", "Row 3"},
	} {
		r.has(r.must("computer", obj{"action": "click", "ref": at[c.name]}).Result, c.says)
		r.comes(`document.title`, c.title)
	}
	r.must("form_input", obj{"ref": at["Code"], "value": "x"})
	r.must("computer", obj{"action": "scroll", "ref": at["List"], "delta_y": 1000})
	r.comes(`list.scrollTop > 900`, "true")
	r.has(r.must("computer", obj{"action": "click", "ref": at["Row 3"]}).Result, "which was “Row 3” when it was read).")
	// A page that asks is left by its tab, and the others go on.
	r.click("Later")
	r.waitFor("the dialog", func() bool { _, open := r.Dialog(); return open })
	r.fails("shows a dialog", "screenshot", nil)
	r.must("new_tab", obj{"url": r.url + "/form.html"})
	r.must("close_tab", obj{"target_id": r.Tabs()[0].ID})
	r.has(r.must("list_tabs", nil).Result, "* ")
	// Keys go to the frame that has the focus, of whatever site.
	r.open("nest.html")
	r.comes(`loaded`, "3")
	r.must("computer", obj{"action": "click", "ref": r.refs()["Field 2"]})
	r.must("computer", obj{"action": "type", "text": "Abc"})
	r.comes(`document.title`, "typed 2 Abc")
	r.must("computer", obj{"action": "key", "text": "ctrl+a"})
	r.must("computer", obj{"action": "type", "text": "d"})
	r.comes(`document.title`, "typed 2 d")
}
