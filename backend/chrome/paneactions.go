package chrome

import (
	"context"
	"strconv"

	"github.com/chromedp/cdproto/page"
	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

type paramText = jsontext.Value

// paneActions are what a person does at the pane's buttons.
var paneActions = []action{
	{name: "stop", pane: true, aside: true, run: on(func(_ context.Context, _ *Browser, t *tab, _ noParams) (result, error) {
		t.b.mu.Lock()
		t.goesElsewhere(errMoved)
		t.b.mu.Unlock()
		t.post(page.CommandStopLoading, nil)
		return say("Stopped."), nil
	})},
	{name: "dialog", pane: true, aside: true, run: on(func(ctx context.Context, b *Browser, t *tab, p struct {
		Accept *bool   `json:"accept" needs:"yes"`
		Text   *string `json:"text"`
	}) (result, error) {
		if p.Text != nil {
			*p.Text = clip(*p.Text, maxDialogText)
		}
		had, err := b.decideDialog(ctx, t, *p.Accept, p.Text)
		if err == nil && !had {
			err = core.Fail(core.CodeNotFound, nil, "The page shows no dialog.", "")
		}
		return say("Answered."), err
	})},
	{name: "choose_files", pane: true, aside: true, run: on(chooseFiles)},
	{name: "find_text", pane: true, aside: true, run: on(findText)},
	{name: "element_at", pane: true, aside: true, run: on(func(ctx context.Context, _ *Browser, t *tab, p mouseParams) (result, error) {
		if err := place(*p.X, *p.Y); err != nil {
			return result{}, err
		}
		n, err := t.nodeAt(ctx, *p.X, *p.Y)
		if err != nil {
			return result{}, err
		}
		return t.target(ctx, n)
	})},
	{name: "answer_popup", pane: true, aside: true, run: on(answerPopup)},
	{name: "parent_of", pane: true, aside: true,
		run: relative(`function() { return this.parentElement || (this.getRootNode().host) || this }`)},
	{name: "child_of", pane: true, aside: true, run: relative(`function() { return this.firstElementChild || this }`)},
}

// findText marks the next place of a text. Its result is how often the text is on the page,
// at most 1000.
func findText(ctx context.Context, _ *Browser, t *tab, p struct {
	Query string `json:"query" needs:"yes"`
	Back  bool   `json:"back"`
}) (result, error) {
	const find = `(q, back) => {
		if (!window.find(q, false, back, true, false, true, false)) return null;
		const s = getSelection(); if (!s.rangeCount) return [0, 0, 0, 0, 1];
		const r = s.getRangeAt(0).getBoundingClientRect();
		const all = (document.body?.innerText ?? "").slice(0, 2000000).toLowerCase(), what = q.toLowerCase();
		let n = 0; for (let i = all.indexOf(what); i >= 0 && n < 1000; i = all.indexOf(what, i + what.length)) n++;
		return [r.x, r.y, r.width, r.height, n];
	}`
	var at []float64
	if err := t.ask(ctx, find, &at, clip(p.Query, 1000), p.Back); err != nil {
		return result{}, err
	}
	if len(at) != 5 {
		return say("0"), nil
	}
	// What is in a frame is found, and not counted.
	return result{Result: strconv.Itoa(max(int(at[4]), 1)), Target: &core.BrowserTarget{X: at[0], Y: at[1], Width: at[2], Height: at[3]}}, nil
}

// nodeAt is the element at a place of the viewport, also inside frames.
func (t *tab) nodeAt(ctx context.Context, x, y float64) (node, error) {
	path, err := t.nodesAt(ctx, x, y, false)
	if err != nil {
		return node{}, err
	}
	return path[len(path)-1], nil
}

// selector is a short CSS selector that names one element of its document.
const selector = `function() {
	let e = this;
	if (e.nodeType !== 1) e = e.parentElement;
	if (!e) return "";
	const root = e.getRootNode(), one = s => { try { const a = root.querySelectorAll(s); return a.length === 1 &&
		a[0] === e } catch { return false } };
	const tag = e.tagName.toLowerCase(), esc = CSS.escape;
	if (e.id && one("#" + esc(e.id))) return "#" + esc(e.id);
	for (const a of ["data-testid", "name", "aria-label", "placeholder", "href", "alt", "title"]) {
		const v = e.getAttribute(a);
		if (v && v.length < 60 && one(tag + "[" + a + "=" + JSON.stringify(v) + "]")) return tag + "[" + a + "=" + JSON.stringify(v) + "]";
	}
	for (const c of Array.from(e.classList).slice(0, 8)) if (one(tag + "." + esc(c))) return tag + "." + esc(c);
	if (one(tag)) return tag;
	const parts = [];
	for (let n = e; n && n.nodeType === 1 && parts.length < 12; n = n.parentElement) {
		const t = n.tagName.toLowerCase();
		if (n !== e && n.id) { parts.unshift("#" + esc(n.id)); }
		else {
			const same = n.parentElement ? Array.from(n.parentElement.children).filter(c => c.tagName === n.tagName) : [n];
			parts.unshift(same.length > 1 ? t + ":nth-of-type(" + (same.indexOf(n) + 1) + ")" : t);
		}
		if (one(parts.join(" > "))) break;
		if (n.id) break;
	}
	return parts.join(" > ");
}`

// textLook is how the text of an element looks: its size, colour and contrast; null where
// it has no text of its own.
const textLook = `function() {
	let e = this;
	if (e.nodeType !== 1) e = e.parentElement;
	if (!e || !(e.value || Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim()))) return null;
	const rgb = c => { const m = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(c);
		return m && [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] };
	const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const style = getComputedStyle(e), ink = rgb(style.color);
	if (!ink) return null;
	const layers = [];
	let sure = true;
	for (let n = e; n; n = n.parentElement || n.getRootNode().host) {
		const s = getComputedStyle(n), c = rgb(s.backgroundColor);
		if (s.backgroundImage !== "none" || !c) { sure = false; break }
		if (c[3] > 0) layers.push(c);
		if (c[3] === 1) break;
	}
	const paper = layers.reduceRight((under, c) => over(c, under), [255, 255, 255, 1]), seen = over(ink, paper);
	const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const [a, b] = [light(seen), light(paper)].sort((x, y) => y - x);
	return {size: parseFloat(style.fontSize), contrast: sure ? Math.round((a + 0.05) / (b + 0.05) * 10) / 10 : 0,
		color: "#" + seen.slice(0, 3).map(v => Math.round(v).toString(16).padStart(2, "0")).join("")};
}`

// target describes an element for whoever points at it, and gives it a ref.
func (t *tab) target(ctx context.Context, n node) (result, error) {
	to := &core.BrowserTarget{}
	var err error
	if to.Role, to.Name, err = t.spoken(ctx, n); err != nil {
		return result{}, err
	}
	var css string
	if err := t.askNode(ctx, n, selector, &css); err != nil {
		return result{}, err
	}
	to.Selector = clip(css, 500)
	if err := t.askNode(ctx, n, textLook, &to.Text); err != nil {
		return result{}, err
	}
	if to.Text != nil {
		to.Text.Color = clip(to.Text.Color, 7)
	}
	t.b.mu.Lock()
	to.Ref = t.refs.number(ref{n, to.Role, to.Name})
	t.b.mu.Unlock()
	e := []core.BrowserElement{{Ref: to.Ref}}
	t.boxes(ctx, e)
	to.X, to.Y, to.Width, to.Height = e[0].X, e[0].Y, e[0].Width, e[0].Height
	return result{Target: to}, nil
}

// spoken is the role and the name that an element has now.
func (t *tab) spoken(ctx context.Context, n node) (role, name string, err error) {
	var got struct {
		Nodes []*axNode `json:"nodes"`
	}
	if err := t.callIn(ctx, n.session, "Accessibility.getPartialAXTree", obj{"backendNodeId": n.backend,
		"fetchRelatives": false}, &got); err != nil {
		return "", "", err
	}
	if len(got.Nodes) > 0 && got.Nodes[0] != nil {
		role, name = got.Nodes[0].Role.text(40), got.Nodes[0].Name.text(maxName)
	}
	return role, name, nil
}

// relative is an action that goes from an element to one near it.
func relative(step string) func(context.Context, *Browser, paramText) (result, error) {
	return on(func(ctx context.Context, b *Browser, t *tab, p struct {
		Ref int `json:"ref" needs:"yes"`
	}) (result, error) {
		e, err := t.element(p.Ref)
		if err != nil {
			return result{}, err
		}
		to, err := t.related(ctx, e.node, step)
		if err != nil {
			return result{}, goneOr(err, p.Ref)
		}
		return t.target(ctx, to)
	})
}

// related is the element that a function of ours gives for another one of the same frame.
func (t *tab) related(ctx context.Context, n node, step string) (node, error) {
	id, err := t.resolve(ctx, n)
	if err != nil {
		return node{}, err
	}
	defer t.b.conn.start(n.session, "Runtime.releaseObject", obj{"objectId": id}, nil)
	var got struct {
		Result struct {
			ObjectID string `json:"objectId"`
		} `json:"result"`
	}
	if err := t.callIn(ctx, n.session, "Runtime.callFunctionOn", obj{"objectId": id, "functionDeclaration": step}, &got); err != nil {
		return node{}, err
	}
	defer t.b.conn.start(n.session, "Runtime.releaseObject", obj{"objectId": got.Result.ObjectID}, nil)
	return t.nodeOf(ctx, n.session, n.frame, got.Result.ObjectID)
}

// nodeOf is the node that an object of a frame is.
func (t *tab) nodeOf(ctx context.Context, session, frame, object string) (node, error) {
	var about struct {
		Node struct {
			Backend int64 `json:"backendNodeId"`
		} `json:"node"`
	}
	err := t.callIn(ctx, session, "DOM.describeNode", obj{"objectId": object}, &about)
	return node{session, frame, about.Node.Backend}, err
}
