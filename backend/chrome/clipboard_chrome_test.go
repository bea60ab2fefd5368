//go:build chrome

package chrome

import (
	"errors"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// copies is what a person's copy or cut brings.
func (r *rig) copies(cut bool) (string, error) {
	r.t.Helper()
	type copied struct {
		text string
		err  error
	}
	done := make(chan copied, 1)
	r.Copy(cut, func(text string, err error) { done <- copied{text, err} })
	select {
	case c := <-done:
		return c.text, c.err
	case <-time.After(20 * time.Second):
		r.t.Fatal("copy says nothing")
		return "", nil
	}
}

func TestCopyAndCut(t *testing.T) {
	r := start(t, Options{})
	r.open("copy.html")
	r.eval(`new Promise(r => { const look = () => other.offsetWidth && performance.getEntriesByType("resource").length ? setTimeout(r, 500) : setTimeout(look, 50); look() })`)
	mark := func(script string) { t.Helper(); r.eval(script + `; heard.length = 0; 1`) }
	for _, c := range []struct{ name, mark, copied, cut, left string }{
		{"text of the page", `getSelection().selectAllChildren(said)`, "Words of the page.", "Words of the page.", `said.textContent`},
		{"what is JSON", `json.focus(); json.select()`, `"{"`, `"{"`, `json.value`},
		{"a part of a field", `json.focus(); json.value = "abcdef"; json.setSelectionRange(1, 3)`, "bc", "bc", `json.value`},
		{"a password", `secret.focus(); secret.select()`, "", "", `secret.value`},
		{"an editor", `editor.focus(); getSelection().selectAllChildren(editor)`, "Rich text", "Rich text", `editor.textContent`},
		{"what the page puts there", `own.focus(); getSelection().removeAllRanges()`, "what the page says", "", `own.textContent`},
		{"a shadow tree", `root.firstChild.focus(); root.firstChild.select()`, "in the shadow", "in the shadow", `root.firstChild.value`},
		{"a frame", `const f = same.contentDocument.getElementById("in"); f.focus(); f.select()`, "in the same", "in the same", `same.contentDocument.getElementById("in").value`},
		{"nothing", `document.activeElement.blur(); getSelection().removeAllRanges()`, "", "", `""`},
	} {
		mark(`{ ` + c.mark + ` }`)
		for _, cut := range []bool{false, true} {
			want := c.copied
			if cut {
				want = c.cut
			}
			if got, err := r.copies(cut); got != want || err != nil {
				t.Errorf("%s, cut %v: %q, %v; want %q", c.name, cut, got, err, want)
			}
		}
		left := map[string]string{"what is JSON": `""`, "a part of a field": "adef", "an editor": `""`, "a shadow tree": `""`, "a frame": `""`,
			"a password": "hidden", "text of the page": "Words of the page.", "what the page puts there": "Own copy", "nothing": `""`}[c.name]
		if got := r.eval(c.left); got != left {
			t.Errorf("%s: %q is left, want %q", c.name, got, left)
		}
	}
	r.eval(`json.value = "cut me"; json.focus(); json.select(); heard.length = 0; 1`)
	if _, err := r.copies(true); err != nil {
		t.Fatal(err)
	}
	r.has(r.eval(`heard.join()`), "cut,input deleteByCut")

	// A press just before it counts, and a frame of another site has what is marked in it.
	r.click("Elsewhere")
	for _, kind := range []string{core.InputKey, core.InputKeyUp} {
		r.Input(core.BrowserInput{Kind: kind, Key: "a", Code: "KeyA", KeyCode: 'A', Modifiers: core.ModifierCtrl})
	}
	if got, err := r.copies(true); got != "of another site" || err != nil {
		t.Errorf("another site: %q, %v", got, err)
	}
	if got, err := r.copies(false); got != "" || err != nil {
		t.Errorf("another site after the cut: %q, %v", got, err)
	}

	r.eval(`long.value = "x".repeat(1 << 20); long.focus(); long.select(); 1`)
	if got, err := r.copies(true); len(got) != maxCopied || err != nil {
		t.Errorf("the longest: %d characters, %v", len(got), err)
	}
	r.eval(`long.value = "x".repeat((1 << 20) + 1); long.focus(); long.select(); 1`)
	got, err := r.copies(true)
	if f, ok := errors.AsType[*core.Failure](err); got != "" || !ok || f.Code != core.CodeTooMany || r.eval(`long.value.length`) != "1048577" {
		t.Errorf("too long: %d characters, %v, %s left", len(got), err, r.eval(`long.value.length`))
	}
}

func TestCopyFromAPageThatHangs(t *testing.T) {
	r := start(t, Options{})
	r.open("form.html")
	if res := r.do("evaluate", obj{"expression": `setTimeout(() => { for (;;); }, 10); 1`}); res.Error != "" {
		t.Fatal(res)
	}
	<-time.After(100 * time.Millisecond)
	if _, err := r.copies(false); core.AsFailure(err).Code != core.CodeTimeout {
		t.Errorf("%v", err)
	}
}

func TestPaste(t *testing.T) {
	r := start(t, Options{})
	r.open("copy.html")
	r.click("Elsewhere")
	r.Input(core.BrowserInput{Kind: core.InputPaste, Text: "pasted "})
	r.Input(core.BrowserInput{Kind: core.InputKey, Key: "a", Code: "KeyA", KeyCode: 'A', Modifiers: core.ModifierCtrl})
	if got, err := r.copies(false); !strings.Contains(got, "pasted ") || err != nil {
		t.Errorf("another site: %q, %v", got, err)
	}
	for _, c := range []struct{ name, focus, text, value, heard string }{
		{"into a field", `json.value = "<>"; json.focus(); json.setSelectionRange(1, 1)`, "wörter", "<wörter>", "paste 6,input insertFromPaste"},
		{"into a password", `secret.value = ""; secret.focus()`, "s3cret", "s3cret", "input insertText"},
		{"into an editor", `editor.textContent = ""; editor.focus()`, "a\nb", "a\nb", "paste 3,input insertFromPaste"},
		{"into a shadow tree", `root.firstChild.value = ""; root.firstChild.focus()`, "x", "x", "paste 1,input insertFromPaste"},
		{"where nothing takes it", `document.activeElement.blur(); own.focus()`, "x", "", "paste 1"},
		{"10,000 lines", `long.value = ""; long.focus()`, strings.Repeat("wörter\n", 10_000), "70000,wörter\n", "paste 70000,input insertFromPaste"},
	} {
		r.eval(`{ ` + c.focus + ` } heard.length = 0; 1`)
		r.Input(core.BrowserInput{Kind: core.InputPaste, Text: c.text})
		if _, err := r.copies(false); err != nil { // comes after it
			t.Fatal(c.name, err)
		}
		if got := r.eval(`heard.filter(h => h !== "copy").join()`); got != c.heard {
			t.Errorf("%s: the page heard %q, want %q", c.name, got, c.heard)
		}
		value := r.eval(`(() => { const a = root.activeElement ?? document.activeElement, v = a.value ?? (a.isContentEditable ? a.innerText : "");
			return v.length > 100 ? [v.length, v.slice(-7)].join() : v })()`)
		if value != c.value && value != `"`+c.value+`"` {
			t.Errorf("%s: %q, want %q", c.name, value, c.value)
		}
	}
}
