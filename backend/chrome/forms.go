package chrome

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"

	"loop/backend/core"
)

// field is what a form's element is.
type field struct {
	Tag, Type          string
	Disabled, ReadOnly bool
	Editable, Checked  bool
	Connected          bool
	Multiple, Folder   bool
	Elsewhere          bool // it is what a label or a text is of
}

// fieldOf is the field that a label or the text in it is of, or the element itself.
const fieldOf = `const fieldOf = n => {
	const e = n.nodeType === 1 ? n : n.parentElement, label = e.closest("label");
	return label && label.control || e;
};`

const describeField = `function() {` + fieldOf + `
	const e = fieldOf(this);
	return {elsewhere: e !== this, multiple: !!e.multiple, folder: !!e.webkitdirectory,
		tag: e.tagName.toLowerCase(), type: String(e.type || ""), disabled: e.matches(":disabled"), readOnly: !!e.readOnly,
		editable: !!e.isContentEditable, checked: !!e.checked, connected: e.isConnected};
}`

// setValue gives an input a value as the page's own controls do, with their events, unless
// an input of its kind cannot have it.
const setValue = `function(value) {
	const set = (e, v) => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(e, v);
	const probe = this.cloneNode();
	set(probe, value);
	const now = probe.value, kind = this.type;
	const taken = value === "" || (kind === "color" ? CSS.supports("color", value) : kind === "range" ?
		value.trim() !== "" && isFinite(value) : now !== "");
	if (!taken) return {taken, now: this.value};
	this.focus();
	set(this, value);
	this.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	this.dispatchEvent(new Event("change", {bubbles: true}));
	return {taken, now: this.value, bounds: kind === "range" ? [this.min || "0", this.max || "100", this.step || "1"] : []};
}`

// choose selects options by their labels or values.
const choose = `function(values) {
	const norm = s => String(s).trim().replace(/\s+/g, " ");
	const all = Array.from(this.options), picked = [];
	const none = this.multiple && values.length === 1 && values[0] === "" && !all.some(o => o.label === "");
	for (const v of none ? [] : values) {
		const o = all.find(o => norm(o.label) === norm(v)) || all.find(o => norm(o.text) === norm(v)) || all.find(o => o.value === v)
			|| all.find(o => norm(o.label).toLowerCase() === norm(v).toLowerCase());
		if (!o || o.matches(":disabled")) return {ok: false, missing: v,
			have: all.filter(o => !o.matches(":disabled")).slice(0, 40).map(o => norm(o.label).slice(0, 80))};
		picked.push(o);
	}
	this.focus();
	if (this.multiple) all.forEach(o => o.selected = picked.includes(o));
	else if (picked.length) picked[picked.length - 1].selected = true;
	this.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	this.dispatchEvent(new Event("change", {bubbles: true}));
	return {ok: true, now: Array.from(this.selectedOptions).map(o => norm(o.label)).join(", ").slice(0, 300)};
}`

const fieldText = `function() { return String(this.isContentEditable ? this.innerText : this.value) }`

const selectAll = `function() {
	this.focus();
	if (this.isContentEditable) { 
		const r = document.createRange(), s = getSelection();
		r.selectNodeContents(this); s.removeAllRanges(); s.addRange(r);
	}
	else if (this.select) this.select();
}`

// formInput gives a form's element a value, in the way that fits its kind.
func (b *Browser) formInput(ctx context.Context, t *tab, n int, value string) (string, error) {
	if len(value) > maxTyped {
		return "", core.Fail(core.CodeInvalid, nil, "The value is longer than 64 KiB.", "Give a shorter one.")
	}
	value = strings.ReplaceAll(strings.ReplaceAll(value, "\r\n", "\n"), "\r", "\n")
	e, err := t.element(n)
	if err != nil {
		return "", err
	}
	var f field
	if err := t.askNode(ctx, e.node, describeField, &f); err != nil {
		return "", goneOr(err, n)
	}
	what := t.called(ctx, n, &e)
	if f.Elsewhere {
		if e.node, err = t.related(ctx, e.node, `function() {`+fieldOf+` return fieldOf(this) }`); err != nil {
			return "", goneOr(err, n)
		}
		t.b.mu.Lock()
		known, ok := t.refs.byNode[e.node]
		if !ok {
			known = t.refs.number(ref{e.node, f.Tag, e.name})
		}
		n = known
		t.b.mu.Unlock()
	}
	switch {
	case !f.Connected:
		return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("The element of ref %d is gone from the page;", n), "call read_page again.")
	case f.Disabled:
		return "", core.Fail(core.CodeConflict, nil, "The element "+what+" is disabled.", "Do first what enables it.")
	case f.ReadOnly:
		return "", core.Fail(core.CodeConflict, nil, "The element "+what+" is read-only.", "Use another element.")
	}
	switch {
	case f.Tag == "select":
		return t.chooseIn(ctx, e, what, value)
	case f.Tag == "input" && f.Type == "file":
		return b.upload(ctx, t, e, what, f, value)
	case f.Tag == "input" && (f.Type == "checkbox" || f.Type == "radio"), f.Tag != "input" && (e.role == "checkbox" ||
		e.role == "switch" || e.role == "radio"):
		return t.check(ctx, n, e, what, f, value)
	case f.Tag == "input" && oneOf(f.Type, "date", "datetime-local", "month", "week", "time", "range", "color"):
		return t.setTo(ctx, n, e, what, f, value)
	case f.Tag == "input" && oneOf(f.Type, "button", "submit", "reset", "image"):
		return "", core.Fail(core.CodeInvalid, nil, "The element "+what+" is a button.", "Click it with the computer tool.")
	case f.Tag == "input", f.Tag == "textarea", f.Editable:
		return t.fill(ctx, n, e, what, value)
	}
	return "", core.Fail(core.CodeInvalid, nil, "The element "+what+" takes no value.",
		"Click it, or choose a text field, select, checkbox or file input.")
}

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}

// setTo gives a field whose kind has a form of its own a value.
func (t *tab) setTo(ctx context.Context, n int, e ref, what string, f field, value string) (string, error) {
	var got struct {
		Taken  bool
		Now    string
		Bounds []string
	}
	if err := t.askNode(ctx, e.node, setValue, &got, strings.TrimSpace(value)); err != nil {
		return "", goneOr(err, n)
	}
	if !got.Taken {
		return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("A field of type %s does not take “%s”; it is “%s” as before.",
			f.Type, clip(value, 100), clip(got.Now, 100)), valueForm[f.Type])
	}
	t.settle(ctx)
	s := fmt.Sprintf("Set %s to “%s”", what, clip(got.Now, 200))
	if len(got.Bounds) == 3 && got.Now != strings.TrimSpace(value) {
		s += fmt.Sprintf(", as it goes from %s to %s in steps of %s", clip(got.Bounds[0], 40), clip(got.Bounds[1], 40), clip(got.Bounds[2], 40))
	}
	return s + ".", nil
}

// valueForm says how the value of a kind of field is written.
var valueForm = map[string]string{
	"date": "Write it as 2026-01-31.", "datetime-local": "Write it as 2026-01-31T09:30.", "month": "Write it as 2026-01.",
	"week": "Write it as 2026-W05.", "time": "Write it as 09:30.", "color": "Write it as #ff8800.", "range": "Write a number.",
}

// fill replaces the text of a field, as a person who clicks, selects all and types. One that
// a person could not click gets the focus by a script.
func (t *tab) fill(ctx context.Context, n int, e ref, what, value string) (string, error) {
	var before, now string
	if err := t.askNode(ctx, e.node, fieldText, &before); err != nil {
		return "", goneOr(err, n)
	}
	_, at, err := t.show(ctx, n)
	if err == nil {
		var over string
		if at, over, err = t.uncover(ctx, n, e, at); err == nil && over == "" {
			x, y := at.center()
			err = t.click(ctx, x, y, input.MouseButtonLeft, 1, 0)
		}
	}
	if err != nil && core.AsFailure(err).Code != core.CodeConflict {
		return "", err
	}
	if err := t.askNode(ctx, e.node, selectAll, nil); err != nil {
		return "", goneOr(err, n)
	}
	if value == "" {
		err = t.press(ctx, namedKeys["delete"], 0)
	} else {
		err = t.insert(ctx, value)
	}
	if err != nil {
		return "", err
	}
	if err := t.askNode(ctx, e.node, fieldText, &now); err != nil {
		return fmt.Sprintf("Filled %s.", what), nil //nolint:nilerr // the page has taken the value and moved on
	}
	same := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	switch {
	case same(now) == same(value):
		return fmt.Sprintf("Filled %s with “%s”.", what, clip(value, 200)), nil
	case now == before || strings.TrimSpace(now) == "":
		return "", core.Fail(core.CodeConflict, nil, fmt.Sprintf("%s did not take “%s”; its value is “%s” now.", what, clip(value, 100),
			clip(now, 200)), "Look at what the page wants there, or click it and use type of the computer tool.")
	}
	return fmt.Sprintf("Filled %s; its value is “%s” now.", what, clip(now, 200)), nil
}

func (t *tab) chooseIn(ctx context.Context, e ref, what, value string) (string, error) {
	var got struct {
		OK           bool
		Missing, Now string
		Have         []string
	}
	for _, values := range [][]string{{value}, strings.Split(value, "\n")} {
		if err := t.askNode(ctx, e.node, choose, &got, values); err != nil {
			return "", err
		}
		if got.OK {
			t.settle(ctx)
			return fmt.Sprintf("Chose “%s” in %s.", clip(got.Now, 200), what), nil
		}
	}
	return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("%s has no option “%s” that can be chosen.", what, clip(value, 100)),
		"Its options are: "+clip(strings.Join(got.Have, ", "), 1500)+".")
}

func (t *tab) check(ctx context.Context, n int, e ref, what string, f field, value string) (string, error) {
	var want bool
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "on", "yes", "1", "checked":
		want = true
	case "false", "off", "no", "0", "unchecked", "":
	default:
		return "", core.Fail(core.CodeInvalid, nil, what+" takes true or false.", "")
	}
	const state = `function() { return "checked" in this ? !!this.checked : this.getAttribute("aria-checked") === "true" }`
	now := f.Checked
	if err := t.askNode(ctx, e.node, state, &now); err != nil {
		return "", goneOr(err, n)
	}
	word := map[bool]string{true: "checked", false: "not checked"}
	if now == want {
		return fmt.Sprintf("%s is %s already.", what, word[want]), nil
	}
	if f.Type == "radio" && !want {
		return "", core.Fail(core.CodeInvalid, nil, what+" is a radio button, which is not switched off by itself.",
			"Choose another one of its group.")
	}
	_, at, err := t.show(ctx, n)
	if err == nil {
		x, y := at.center()
		err = t.click(ctx, x, y, input.MouseButtonLeft, 1, 0)
	} else if core.AsFailure(err).Code == core.CodeConflict { // a box that a page draws itself hides the real one
		err = t.askNode(ctx, e.node, `function() { this.click() }`, nil)
	}
	if err != nil {
		return "", err
	}
	t.settle(ctx)
	if err := t.askNode(ctx, e.node, state, &now); err == nil && now != want {
		return "", core.Fail(core.CodeConflict, nil, fmt.Sprintf("%s was clicked but is still %s.", what, word[now]),
			"Take a screenshot to see what covers it.")
	}
	return fmt.Sprintf("%s is %s now.", what, word[want]), nil
}

// upload gives files of the workspace to a file input. Several are on a line each.
func (b *Browser) upload(ctx context.Context, t *tab, e ref, what string, f field, value string) (string, error) {
	switch {
	case b.o.PutFile == nil:
		return "", core.Fail(core.CodeForbidden, nil, "Files cannot be uploaded in this browser.", "")
	case f.Folder:
		return "", core.Fail(core.CodeForbidden, nil, what+" takes a whole folder, which cannot be uploaded in this browser.",
			"Look for a field of the page that takes files.")
	}
	var inside []string
	for p := range strings.SplitSeq(value, "\n") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if len(inside) == maxChosen {
			return "", core.Fail(core.CodeTooMany, nil, fmt.Sprintf("At most %d files are uploaded at a time.", maxChosen), "Nothing was done.")
		}
		at, err := b.o.PutFile(ctx, p)
		if err != nil {
			return "", err
		}
		inside = append(inside, at)
	}
	if len(inside) > 1 && !f.Multiple {
		return "", core.Fail(core.CodeInvalid, nil, what+" takes one file.", "Give one path.")
	}
	if len(inside) == 0 {
		return "", core.Fail(core.CodeInvalid, nil, "No file is named.", "Give the path of a file in the workspace as value.")
	}
	if err := t.setFiles(ctx, e.node, inside); err != nil {
		return "", err
	}
	t.settle(ctx)
	return fmt.Sprintf("Gave %d file(s) to %s.", len(inside), what), nil
}
