package chrome

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

const maxClosed = 100 // closed shadow roots of a frame whose text is read

// frameText is the text of a frame, as innerText would give it if it knew of shadow roots.
// Those that are open are found here; the closed ones are given.
const frameText = `function(most, ...closed) {
	const body = document.body, roots = new Map(closed.map(r => [r.host, r]));
	const under = e => e.shadowRoot || roots.get(e);
	const beside = new Set(), mark = from => { for (const e of from.querySelectorAll("*")) if (under(e) || e.localName === "slot") {
		for (let n = e; n && !beside.has(n); n = n.parentNode || n.host) beside.add(n);
		if (under(e)) mark(under(e));
	} };
	mark(document);
	let out = "";
	const block = () => { if (out && !out.endsWith("\n")) out = out.replace(/ $/, "") + "\n" };
	const walk = n => {
		if (n.nodeType === 3) {
			const style = getComputedStyle(n.parentElement || n.getRootNode().host);
			if (style.visibility !== "visible") return;
			const kept = style.whiteSpaceCollapse === "preserve" || style.whiteSpace.startsWith("pre");
			const s = kept ? n.data : n.data.replace(/\s+/g, " ");
			out += /(^|\s)$/.test(out) ? s.replace(/^ /, "") : s;
			return;
		}
		if (n.nodeType !== 1 || /^(script|style|noscript|template|iframe)$/.test(n.localName)) return;
		const style = getComputedStyle(n);
		if (style.display === "none") return;
		if (n.localName === "br") { out += "\n"; return }
		const apart = !/^(inline|contents|ruby)/.test(style.display);
		if (apart) block();
		const root = under(n);
		if (!beside.has(n)) out += n.innerText ?? n.textContent;
		else {
			const filled = n.localName === "slot" ? n.assignedNodes() : [];
			for (const c of root ? root.childNodes : filled.length ? filled : n.childNodes) walk(c);
		}
		if (apart) block();
	};
	if (!body) out = (document.documentElement || {}).textContent || "";
	else if (body.localName === "frameset") out = "";
	else if (beside.size) walk(body);
	else out = body.innerText;
	out = out.trim();
	return [out.slice(0, most), String(out.length), document.contentType];
}`

// withoutRoot are the elements of a frame that may have a closed shadow root.
const withoutRoot = `function(most) {
	const out = [], look = root => { for (const e of root.querySelectorAll("*")) {
		if (out.length === most) return;
		if (e.shadowRoot) look(e.shadowRoot);
		else if (e.localName.includes("-")) out.push(e);
	} };
	look(document);
	return out;
}`

// frames are those of a tab that are read, from the first to the last of a session.
func (t *tab) allFrames(ctx context.Context) ([]node, error) {
	t.b.mu.Lock()
	others := t.frameSessions()
	t.b.mu.Unlock()
	slices.Sort(others)
	var out []node
	for i, session := range append([]string{t.session}, others...) {
		var got struct {
			FrameTree frameTree `json:"frameTree"`
		}
		if err := t.callIn(ctx, session, page.CommandGetFrameTree, nil, &got); err != nil {
			if i == 0 || ctx.Err() != nil {
				return nil, err
			}
			continue // it has gone
		}
		var walk func(f frameTree)
		walk = func(f frameTree) {
			if len(out) < maxInPage {
				out = append(out, node{session: session, frame: f.Frame.ID})
			}
			for _, c := range f.ChildFrames {
				walk(c)
			}
		}
		walk(got.FrameTree)
	}
	return out, nil
}

// closedRoots are the closed shadow roots of a frame, as objects of our world in it.
func (t *tab) closedRoots(ctx context.Context, f node, w int64) []any {
	var list evaluated
	if t.callIn(ctx, f.session, runtime.CommandCallFunctionOn, obj{"executionContextId": w, "functionDeclaration": withoutRoot,
		"arguments": []obj{{"value": maxClosed}}, "objectGroup": textObjects}, &list) != nil {
		return nil
	}
	var members struct {
		Result []struct {
			Name  string
			Value *remote
		}
	}
	var raw rawObject
	if t.callIn(ctx, f.session, runtime.CommandGetProperties, obj{"objectId": list.Result.ObjectID, "ownProperties": true}, &raw) != nil ||
		raw.into(&members) != nil {
		return nil
	}
	var out []any
	for _, m := range members.Result {
		if m.Value == nil || m.Value.Subtype != "node" {
			continue
		}
		var about struct {
			Node struct {
				ShadowRoots []struct {
					Type    string `json:"shadowRootType"`
					Backend int64  `json:"backendNodeId"`
				} `json:"shadowRoots"`
			} `json:"node"`
		}
		if t.callIn(ctx, f.session, "DOM.describeNode", obj{"objectId": m.Value.ObjectID}, &about) != nil {
			continue
		}
		for _, root := range about.Node.ShadowRoots {
			if root.Type != "closed" {
				continue
			}
			if id, err := t.resolve(ctx, node{f.session, f.frame, root.Backend}); err == nil {
				out = append(out, object(id))
			}
		}
	}
	return out
}

// textObjects is the group of the objects that reading a text needs.
const textObjects = "loop-text"

// textOf is the text of one frame, how long it is in all, and its content type.
func (t *tab) textOf(ctx context.Context, f node) (text string, length int, kind string, err error) {
	w, err := t.worldOf(ctx, f.session, f.frame)
	if err != nil {
		return "", 0, "", err
	}
	defer t.b.conn.start(f.session, runtime.CommandReleaseObjectGroup, obj{"objectGroup": textObjects}, nil)
	var got []string
	args := append([]any{maxSnapshot}, t.closedRoots(ctx, f, w)...)
	if err = t.apply(ctx, f.session, obj{"executionContextId": w}, frameText, &got, args...); err != nil || len(got) != 3 {
		return "", 0, "", err
	}
	if err := json.Unmarshal([]byte(got[1]), &length); err != nil {
		return "", 0, "", fmt.Errorf("reading the length of a text: %w", err)
	}
	return got[0], length, got[2], nil
}

func pageTextTool(ctx context.Context, _ *Browser, t *tab, _ noParams) (result, error) {
	frames, err := t.allFrames(ctx)
	if err != nil {
		return result{}, err
	}
	var out strings.Builder
	var kind string
	for i, f := range frames {
		text, length, of, err := t.textOf(ctx, f)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return result{}, err
		}
		if i == 0 {
			kind = of
		}
		if text == "" || out.Len() > maxSnapshot {
			continue
		}
		if i > 0 {
			out.WriteString("\n--- frame ---\n")
		}
		out.WriteString(clip(text, 4*maxSnapshot))
		if length > maxSnapshot {
			fmt.Fprintf(&out, "\n… (%d characters in all; evaluate with document.body.innerText.slice(%d) goes on)", length, maxSnapshot)
		}
	}
	if strings.TrimSpace(out.String()) == "" {
		return result{Result: "The page has no text." + noText(kind)}, nil
	}
	return result{Result: out.String()}, nil
}

// noText says how to look at what has no text because it is no page.
func noText(kind string) string {
	if kind == "" || strings.Contains(kind, "html") || strings.HasSuffix(kind, "/xml") {
		return ""
	}
	return " It is " + core.CleanTitle(clip(kind, 100)) + ": screenshot shows it, and a command can fetch the file to read it."
}
