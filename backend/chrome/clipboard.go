package chrome

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

const (
	maxCopied   = 1 << 20 // characters of a page that come to the person's clipboard at a time
	copyTimeout = 5 * time.Second
)

// focusedFind sets d to the document that has the focus, and a to the element. A script that
// begins with it gives null where that is in a frame that it cannot look into.
const focusedFind = `
	let d = document, a = d.activeElement;
	for (;;) {
		if (a?.shadowRoot?.activeElement) a = a.shadowRoot.activeElement;
		else if (a && /^I?FRAME$/.test(a.tagName)) {
			let inner = null;
			try { inner = a.contentDocument } catch {}
			if (!inner) return null;
			d = inner; a = d.activeElement;
		} else break;
	}
	const w = d.defaultView;
`

// copyScript has the page copy, or cut, what is marked, as a key does there: the page's own
// handlers run, and what they put on the clipboard counts. A page hears of it also where
// nothing is marked.
const copyScript = `(cut, most) => {` + focusedFind + `
	const field = a && typeof a.value === "string" && typeof a.selectionStart === "number";
	if (a?.tagName === "INPUT" && a.type === "password") return {text: "", size: 0};
	const marked = field ? a.value.slice(a.selectionStart, a.selectionEnd) : String(d.getSelection() ?? "");
	if (marked.length > most) return {text: "", size: marked.length};
	let own = null;
	const kind = cut ? "cut" : "copy", allow = e => e.preventDefault();
	const heard = e => { if (e.defaultPrevented) own = e.clipboardData?.getData("text/plain") ?? null };
	w.addEventListener("before" + kind, allow);
	w.addEventListener(kind, heard);
	try { d.execCommand(kind) } finally { w.removeEventListener(kind, heard); w.removeEventListener("before" + kind, allow) }
	const text = own ?? marked;
	return text.length > most ? {text: "", size: text.length} : {text, size: text.length};
}`

// putScript puts a text on Chromium's clipboard, by a copy that the page's handlers have no
// part in. It gives whether that is done; Chromium refuses in a password field.
const putScript = `(text) => {` + focusedFind + `
	let done = false;
	const allow = e => e.preventDefault();
	const put = e => { e.clipboardData.setData("text/plain", text); e.preventDefault(); e.stopImmediatePropagation(); done = true };
	w.addEventListener("beforecopy", allow, true);
	w.addEventListener("copy", put, true);
	try { return d.execCommand("copy") && done } finally {
		w.removeEventListener("copy", put, true);
		w.removeEventListener("beforecopy", allow, true);
	}
}`

// focusScript says whether its frame has the focus of the document around it, and so on up.
const focusScript = `function() {
	for (let n = this; n; n = n.ownerDocument.defaultView.frameElement) if (n.getRootNode().activeElement !== n) return false;
	return true;
}`

// Copy brings what is marked on the active page to done, after the input before it; cut has
// the page take it out. Nothing is cut that is too long to come. done is called on another
// goroutine, and not at all once the connection has ended; its error is a *core.Failure.
func (b *Browser) Copy(cut bool, done func(text string, err error)) {
	b.input.after(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		ctx, stop := context.WithTimeout(ctx, copyTimeout)
		defer stop()
		text, err := b.copyNow(ctx, cut)
		if _, asks := isDialog(err); asks {
			err = core.Fail(core.CodeConflict, err, "Nothing was copied: the page asks something.", "Answer it first.")
		}
		if _, known := errors.AsType[*core.Failure](err); err != nil && !known {
			err = core.Fail(core.CodeTimeout, err, "Nothing was copied: the page does not answer.", "Load it again if it hangs.")
		}
		done(text, err)
	}, func() {
		done("", core.Fail(core.CodeTooMany, nil, "Nothing was copied: the page does not keep up.", "Try again in a moment."))
	})
}

func (b *Browser) copyNow(ctx context.Context, cut bool) (string, error) {
	t, err := b.touched()
	if err != nil {
		return "", err
	}
	got, err := askFocused[struct {
		Text string `json:"text"`
		Size int    `json:"size"`
	}](ctx, t, copyScript, cut, maxCopied)
	switch {
	case err != nil || got == nil:
		return "", err
	case got.Size > maxCopied:
		why := fmt.Sprintf("%d characters are marked, and at most %d are copied.", got.Size, maxCopied)
		return "", core.Fail(core.CodeTooMany, nil, why, "Mark less.")
	}
	return got.Text, nil
}

// touched is the tab that a person's hands are on.
func (b *Browser) touched() (*tab, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil {
		return nil, errGone
	}
	return b.active, b.active.standing()
}

// paste gives the active page a text as its clipboard's and presses the keys that paste it.
// Where Chromium takes no clipboard, the text is inserted.
func (b *Browser) paste(text string) {
	ctx, cancel := b.context(context.Background())
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, copyTimeout)
	defer stop()
	t, err := b.touched()
	if err != nil {
		return // as for all input
	}
	put, err := askFocused[bool](ctx, t, putScript, text)
	switch {
	case err != nil: // a page that hangs, as for all input
	case put == nil || !*put:
		_ = t.call(ctx, input.CommandInsertText, obj{"text": text}, nil)
	default:
		// Without a window keys alone paste nothing.
		press := obj{"type": "rawKeyDown", "key": "v", "code": "KeyV", "windowsVirtualKeyCode": 'V', "modifiers": core.ModifierCtrl}
		press["commands"] = []string{"paste"}
		_ = t.call(ctx, input.CommandDispatchKeyEvent, press, nil)
		delete(press, "commands")
		press["type"] = "keyUp"
		_ = t.call(ctx, input.CommandDispatchKeyEvent, press, nil)
	}
}

// askFocused runs a script that begins with focusedFind in the document that has the focus;
// nil if there is none that could be found.
func askFocused[T any](ctx context.Context, t *tab, script string, args ...any) (*T, error) {
	session, frame := t.session, t.id
	for range maxNested {
		var got *T
		if err := t.askIn(ctx, session, frame, script, &got, args...); err != nil || got != nil {
			return got, err
		}
		if session, frame = t.focused(ctx, session); session == "" {
			break
		}
	}
	return nil, nil
}

// focused is the frame inside a session's document that has its focus, if it has a session
// of its own.
func (t *tab) focused(ctx context.Context, session string) (inner, frame string) {
	t.b.mu.Lock()
	frames := maps.Clone(t.frames)
	t.b.mu.Unlock()
	for id, s := range frames {
		o, err := t.owner(ctx, s)
		var has bool
		if err == nil && o.session == session && t.askNode(ctx, o, focusScript, &has) == nil && has {
			return s, id
		}
	}
	return "", ""
}
