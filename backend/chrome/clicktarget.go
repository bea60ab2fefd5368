package chrome

import (
	"context"

	"github.com/chromedp/cdproto/runtime"
)

// uncover says what would get a click on an element instead of it; empty if it gets it. The
// element is scrolled to the middle of the page if that frees it.
func (t *tab) uncover(ctx context.Context, n int, e ref, at box) (box, string, error) {
	over := t.covering(ctx, e, at)
	if over == "" {
		return at, "", nil
	}
	if t.askNode(ctx, e.node, toTheMiddle, nil) != nil {
		return at, over, nil //nolint:nilerr // what covers it is known, and it stays where it is
	}
	_, moved, err := t.place(ctx, n)
	if err != nil {
		return at, "", err
	}
	return moved, t.covering(ctx, e, moved), nil
}

const toTheMiddle = `function() {
	if (this.localName === "area") return; // it has no place of its own to scroll to
	(this.nodeType === 1 ? this : this.parentElement).scrollIntoView({block: "center", inline: "center", behavior: "instant"});
}`

// covering names what is at the middle of an element's box instead of it, and how.
func (t *tab) covering(ctx context.Context, e ref, at box) string {
	x, y := at.center()
	path, err := t.nodesAt(ctx, x, y, true)
	if err != nil {
		return ""
	}
	for _, hit := range path {
		if hit.session == e.session {
			return t.instead(ctx, e, hit)
		}
	}
	return "it is covered there by " + t.tagOf(ctx, path[len(path)-1])
}

// instead is covering where Chromium has found another element in the same session.
func (t *tab) instead(ctx context.Context, e ref, hit node) string {
	if hit.backend == e.backend {
		return ""
	}
	mine, err := t.resolve(ctx, e.node)
	if err != nil {
		return ""
	}
	defer t.b.conn.start(e.session, runtime.CommandReleaseObject, obj{"objectId": mine}, nil)
	hit.frame = e.frame
	other, err := t.resolve(ctx, hit)
	if err != nil {
		return "it is covered there by something outside of its frame"
	}
	defer t.b.conn.start(e.session, runtime.CommandReleaseObject, obj{"objectId": other}, nil)
	var said string
	if t.apply(ctx, e.session, obj{"objectId": mine}, gotInstead, &said, object(other)) != nil {
		return ""
	}
	return clip(said, 200)
}

// tagOf names an element by its tag.
func (t *tab) tagOf(ctx context.Context, n node) string {
	var tag string
	if t.askNode(ctx, n, `function() {`+tagText+` return tag(this) }`, &tag) != nil {
		return "something else"
	}
	return clip(tag, 120)
}

const tagText = `const tag = e => e.tagName.startsWith(":") && e.parentElement ? tag(e.parentElement) :
	"<" + e.tagName.toLowerCase() + (e.id ? " id=" + String(e.id).slice(0, 40) : "") +
	(e.className && e.className.slice ? " class=" + e.className.slice(0, 60) : "") + ">";`

// gotInstead says that a click on the element that is this would get to hit, empty if it
// gets to the element.
const gotInstead = `function(hit) {` + tagText + imageText + `
	const e = this.nodeType === 1 ? this : this.parentElement;
	const up = n => n.assignedSlot || n.parentNode || n.host;
	for (let n = hit; n; n = up(n)) if (n === e) return "";
	if (image(e) === hit) return "";
	const label = hit.closest && hit.closest("label");
	if (label && label.control === e) return "";
	for (let n = up(e); n; n = up(n)) if (n === hit) return "it lets clicks through to " + tag(hit) + " around it";
	return "it is covered there by " + tag(hit);
}`
