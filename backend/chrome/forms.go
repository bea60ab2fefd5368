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
}

const describeField = `function() {
	let e = this;
	if (e.nodeType === 3) e = e.parentElement;
	const label = e.closest && e.closest("label");
	if (label && label.control && e !== label.control) e = label.control;
	return {tag: e.tagName.toLowerCase(), type: String(e.type || ""), disabled: e.matches(":disabled"), readOnly: !!e.readOnly,
		editable: !!e.isContentEditable, checked: !!e.checked, connected: e.isConnected};
}`

// setValue gives an input a value as the page's own controls do, with their events.
const setValue = `function(value) {
	const p = this instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
	this.focus();
	Object.getOwnPropertyDescriptor(p, "value").set.call(this, value);
	this.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	this.dispatchEvent(new Event("change", {bubbles: true}));
	return this.value;
}`

// choose selects options by their labels or values.
const choose = `function(values) {
	const norm = s => String(s).trim().replace(/\s+/g, " ");
	const all = Array.from(this.options), picked = [];
	for (const v of values) {
		const o = all.find(o => norm(o.label) === norm(v)) || all.find(o => norm(o.text) === norm(v)) || all.find(o => o.value === v)
			|| all.find(o => norm(o.label).toLowerCase() === norm(v).toLowerCase());
		if (!o || o.disabled) return {ok: false, missing: v, have: all.slice(0, 40).map(o => norm(o.label).slice(0, 80))};
		picked.push(o);
	}
	this.focus();
	if (this.multiple) all.forEach(o => o.selected = picked.includes(o));
	else if (picked.length) picked[picked.length - 1].selected = true;
	this.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	this.dispatchEvent(new Event("change", {bubbles: true}));
	return {ok: true, now: Array.from(this.selectedOptions).map(o => norm(o.label)).join(", ").slice(0, 300)};
}`

const fieldText = `function() { return String(this.isContentEditable ? this.innerText : this.value).slice(0, 300) }`

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
	e, err := t.element(n)
	if err != nil {
		return "", err
	}
	var f field
	if err := t.askNode(ctx, e.node, describeField, &f); err != nil {
		return "", goneOr(err, n)
	}
	what := fmt.Sprintf("ref %d (%s “%s”)", n, e.role, e.name)
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
		return b.upload(ctx, t, e, what, value)
	case f.Tag == "input" && (f.Type == "checkbox" || f.Type == "radio"), f.Tag != "input" && (e.role == "checkbox" ||
		e.role == "switch" || e.role == "radio"):
		return t.check(ctx, n, e, what, f, value)
	case f.Tag == "input" && oneOf(f.Type, "date", "datetime-local", "month", "week", "time", "range", "color"):
		var now string
		if err := t.askNode(ctx, e.node, setValue, &now, value); err != nil {
			return "", goneOr(err, n)
		}
		t.settle(ctx)
		if now != value && f.Type != "color" && f.Type != "range" {
			return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("A field of type %s does not take “%s”; it is “%s” now.",
				f.Type, clip(value, 100), clip(now, 100)), dateForm(f.Type))
		}
		return fmt.Sprintf("Set %s to “%s”.", what, clip(now, 200)), nil
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

func dateForm(kind string) string {
	return map[string]string{
		"date": "Write it as 2026-01-31.", "datetime-local": "Write it as 2026-01-31T09:30.", "month": "Write it as 2026-01.",
		"week": "Write it as 2026-W05.", "time": "Write it as 09:30.",
	}[kind]
}

// fill replaces the text of a field, as a person who clicks, selects all and types.
func (t *tab) fill(ctx context.Context, n int, e ref, what, value string) (string, error) {
	_, at, err := t.show(ctx, n)
	if err != nil {
		return "", err
	}
	x, y := at.center()
	if err := t.click(ctx, x, y, input.MouseButtonLeft, 1, 0); err != nil {
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
	var now string
	if err := t.askNode(ctx, e.node, fieldText, &now); err != nil {
		return fmt.Sprintf("Filled %s.", what), nil //nolint:nilerr // the page has taken the value and moved on
	}
	if strings.TrimSpace(now) != strings.TrimSpace(clip(value, 300)) && len(value) < 300 {
		return fmt.Sprintf("Filled %s; its value is “%s” now.", what, clip(now, 200)), nil
	}
	return fmt.Sprintf("Filled %s with “%s”.", what, clip(value, 200)), nil
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
func (b *Browser) upload(ctx context.Context, t *tab, e ref, what, value string) (string, error) {
	if b.o.PutFile == nil {
		return "", core.Fail(core.CodeForbidden, nil, "Files cannot be uploaded in this browser.", "")
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
	if len(inside) == 0 {
		return "", core.Fail(core.CodeInvalid, nil, "No file is named.", "Give the path of a file in the workspace as value.")
	}
	if err := t.setFiles(ctx, e.node, inside); err != nil {
		return "", err
	}
	t.settle(ctx)
	return fmt.Sprintf("Gave %d file(s) to %s.", len(inside), what), nil
}
