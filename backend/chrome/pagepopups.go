package chrome

import (
	"context"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

// Bounds of what a page's popup has.
const (
	maxOptions   = 300
	maxOption    = 120       // bytes of an option's text
	maxPopup     = 512 << 10 // bytes of what the script says; a page that was taken over could say anything
	popupBinding = "loopPopup"
)

// popups runs in each frame, in our own world. Chromium without a screen draws no list of
// a select, no picker of a colour or date and no context menu, and its windows for them
// would take the next click. The script has them not open, and says what they would show.
const popups = `(() => {
	if (globalThis.loopPopups) return;
	globalThis.loopPopups = true;
	const tell = o => { try { ` + popupBinding + `(JSON.stringify(o)) } catch {} };
	const cut = (s, n) => String(s ?? "").trim().replace(/\s+/g, " ").slice(0, n);
	const place = e => { const r = e.getBoundingClientRect(); return {x: r.x, y: r.y, width: r.width, height: r.height} };
	const within = (e, what) => e.composedPath().find(n => n instanceof Element && n.matches(what));
	let open = null, cursor = "";
	const list = s => {
		open = s;
		tell({kind: "select", ...place(s), options: Array.from(s.options).slice(0, 300).map(o => ({
			label: cut(o.label || o.text, 100), group: o.parentElement.localName === "optgroup" ? cut(o.parentElement.label, 100) : "",
			disabled: o.disabled || o.parentElement.disabled === true, chosen: o.selected}))});
	};
	const isList = s => s && !s.multiple && s.size <= 1 && !s.matches(":disabled") && getComputedStyle(s).appearance !== "base-select";
	const changed = e => { for (const k of ["input", "change"]) e.dispatchEvent(new Event(k, {bubbles: true, composed: k === "input"})) };
	globalThis.loopChoose = i => {
		const o = open?.isConnected && open.options?.[i];
		if (!o || o.disabled) return false;
		if (open.selectedIndex !== i) { open.selectedIndex = i; changed(open) }
		return true;
	};
	globalThis.loopSet = v => {
		if (!open?.isConnected || open.localName !== "input") return false;
		if (open.value !== v) { open.value = v; changed(open) }
		return true;
	};
	addEventListener("mousedown", e => {
		if (!e.isTrusted || e.button !== 0) return;
		const s = within(e, "select");
		if (!isList(s)) return;
		e.preventDefault();
		s.focus({preventScroll: true});
		list(s);
	}, true);
	addEventListener("keydown", e => {
		if (!e.isTrusted || e.ctrlKey || e.metaKey) return;
		const s = within(e, "select");
		if (!isList(s) || !(e.altKey ? /^Arrow(Up|Down)$/ : /^( |Enter|F4)$/).test(e.key)) return;
		e.preventDefault();
		list(s);
	}, true);
	const pickers = "input[type=color],input[type=date],input[type=month],input[type=week],input[type=time],input[type=datetime-local]";
	addEventListener("click", e => {
		const i = e.isTrusted && within(e, pickers);
		if (!i || i.matches(":disabled,:read-only:not([type=color])")) return;
		const r = i.getBoundingClientRect();
		if (i.type !== "color" && (getComputedStyle(i).direction === "rtl" ? e.clientX > r.left + 32 : e.clientX < r.right - 32)) return;
		e.preventDefault();
		open = i;
		tell({kind: "input", ...place(i), input: i.type, value: cut(i.value, 100)});
	}, true);
	addEventListener("contextmenu", e => {
		if (!e.isTrusted) return;
		const a = within(e, "a[href],area[href]"), f = within(e, "input,textarea,[contenteditable]");
		setTimeout(() => e.defaultPrevented || tell({kind: "menu", x: e.clientX, y: e.clientY, width: 0, height: 0,
			link: a && /^https?:$/.test(a.protocol) ? a.href.slice(0, 2000) : "", editable: !!f}));
	}, true);
	addEventListener("mousemove", e => {
		const t = e.isTrusted && e.composedPath()[0];
		if (!(t instanceof Element)) return;
		let c = getComputedStyle(t).cursor.split(",").pop().trim();
		if (c === "auto") c = "default";
		if (c !== cursor) { cursor = c; tell({kind: "cursor", value: c}) }
	}, {capture: true, passive: true});
})()`

// cursors are those that a pane shows; a picture of the page's own is none of them.
var cursors = []string{"default", "none", "context-menu", "help", "pointer", "progress", "wait", "cell", "crosshair", "text",
	"vertical-text", "alias", "copy", "move", "no-drop", "not-allowed", "grab", "grabbing", "all-scroll", "col-resize", "row-resize",
	"n-resize", "e-resize", "s-resize", "w-resize", "ne-resize", "nw-resize", "se-resize", "sw-resize", "ew-resize", "ns-resize",
	"nesw-resize", "nwse-resize", "zoom-in", "zoom-out"}

// popup is what a page would show in a window of its own, and where its script runs.
type popup struct {
	core.BrowserPopup
	session string
	context int64
}

// readPopup reads what the script says, which a page that was taken over writes itself.
// The cursor is empty but where that is all it says.
func readPopup(payload string) (p core.BrowserPopup, cursor string, ok bool) {
	if len(payload) > maxPopup || json.Unmarshal([]byte(payload), &p, loose) != nil {
		return core.BrowserPopup{}, "", false
	}
	if p.Kind == "cursor" {
		return core.BrowserPopup{}, p.Value, slices.Contains(cursors, p.Value)
	}
	if p.Kind != "select" && p.Kind != "input" && p.Kind != "menu" || place(max(p.X, 0), max(p.Y, 0)) != nil ||
		place(max(p.Width, 0), max(p.Height, 0)) != nil {
		return core.BrowserPopup{}, "", false
	}
	if len(p.Options) > maxOptions {
		p.Options = p.Options[:maxOptions]
	}
	for i := range p.Options {
		o := &p.Options[i]
		o.Label, o.Group = line(o.Label, maxOption), line(o.Group, maxOption)
	}
	p.ID, p.Input, p.Value, p.Link = 0, clip(p.Input, 20), line(p.Value, 100), line(p.Link, maxURL)
	if !strings.HasPrefix(p.Link, "https://") && !strings.HasPrefix(p.Link, "http://") {
		p.Link = ""
	}
	return p, "", true
}

func (b *Browser) bindingCalled(e event) {
	var p struct {
		Name, Payload      string
		ExecutionContextID int64 `json:"executionContextId"`
	}
	if !b.decode(e, &p) || p.Name != popupBinding {
		return
	}
	said, cursor, ok := readPopup(p.Payload)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil {
		return
	}
	if cursor != "" {
		t.cursor = cursor
	} else {
		b.seq++
		said.ID = b.seq
		t.popup = &popup{said, e.session, p.ExecutionContextID}
	}
	b.changed()
}

// Popup is what the active page would show in a window of its own, if it does.
func (b *Browser) Popup() (core.BrowserPopup, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil || b.active.popup == nil {
		return core.BrowserPopup{}, false
	}
	return b.active.popup.BrowserPopup, true
}

// Cursor is the CSS cursor of where the mouse is on the active page; empty for the usual one.
func (b *Browser) Cursor() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil {
		return ""
	}
	return b.active.cursor
}

// dismiss forgets a tab's popup. The caller holds mu.
func (t *tab) dismiss() {
	if t.popup != nil {
		t.popup = nil
		t.b.changed()
	}
}

type popupParams struct {
	ID    int64   `json:"id" needs:"yes"`
	Index *int    `json:"index"`
	Value *string `json:"value"`
}

// answerPopup chooses in a popup of the page, or closes it.
func answerPopup(ctx context.Context, b *Browser, t *tab, p popupParams) (result, error) {
	b.mu.Lock()
	open := t.popup
	if open == nil || open.ID != p.ID {
		b.mu.Unlock()
		return result{}, core.Fail(core.CodeNotFound, nil, "The page does not show that any more.", "Open it again.")
	}
	t.dismiss()
	b.mu.Unlock()
	var done bool
	in := obj{"executionContextId": open.context}
	switch {
	case p.Index != nil && open.Kind == "select":
		if err := t.apply(ctx, open.session, in, `i => loopChoose(i)`, &done, *p.Index); err != nil {
			return result{}, err
		}
	case p.Value != nil && open.Kind == "input":
		if err := t.apply(ctx, open.session, in, `v => loopSet(v)`, &done, clip(*p.Value, 100)); err != nil {
			return result{}, err
		}
	default:
		return say("Closed."), nil
	}
	if !done {
		return result{}, core.Fail(core.CodeNotFound, nil, "The page has no such choice any more.", "Open it again.")
	}
	return say("Chosen."), nil
}

// watchPopups has a frame's session tell of its popups.
func (b *Browser) watchPopups(session string) {
	b.conn.start(session, runtime.CommandAddBinding, obj{"name": popupBinding, "executionContextName": world}, nil)
	b.conn.start(session, "Page.addScriptToEvaluateOnNewDocument", obj{"source": popups, "worldName": world, "runImmediately": true}, nil)
}
