package chrome

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

const (
	scriptTimeout = 10 * time.Second // for an agent's script, promises included
	maxScript     = 256 << 10
	maxValue      = 30_000 // bytes of a script's result that are shown
)

// world is the name of the scripts' own world: a page cannot change what they see.
const world = "loop"

type remote struct {
	Type                string
	Subtype             string
	Value               jsontext.Value
	UnserializableValue string
	Description         string
	ObjectID            string `json:"objectId"`
}

type evaluated struct {
	Result           remote
	ExceptionDetails *struct {
		Text         string
		LineNumber   int
		ColumnNumber int
		Exception    *remote
	}
}

// evaluated reads case-insensitively, as its fields have no names of their own.
func (e *evaluated) UnmarshalJSON(b []byte) error {
	type plain evaluated
	return json.Unmarshal(b, (*plain)(e), loose, json.MatchCaseInsensitiveNames(true))
}

// thrown is what a script threw, as a sentence; nil if it did not.
func (e *evaluated) thrown() error {
	x := e.ExceptionDetails
	if x == nil {
		return nil
	}
	s := x.Text
	if x.Exception != nil {
		if x.Exception.Description != "" {
			s = x.Exception.Description
		} else if len(x.Exception.Value) > 0 {
			s += " " + string(x.Exception.Value)
		}
	}
	if strings.Contains(s, "Execution was terminated") {
		return core.Fail(core.CodeTimeout, nil, "The script did not end within 10 seconds and was stopped.", "Do less at a time.")
	}
	remedy := ""
	if strings.Contains(s, "Illegal return statement") {
		remedy = "Leave “return” out: the value of the last expression is what you get."
	}
	return core.Fail(core.CodeInvalid, nil, "The script failed: "+clip(s, 2000)+".", remedy)
}

// describeValue makes text out of whatever an expression gave, cut where it is made.
const describeValue = `function(most) {
	const cut = s => s.length > most ? s.slice(0, most) + "… (" + s.length + " characters in all)" : s;
	const v = this;
	try {
		if (typeof v === "function" || Object(v) instanceof Symbol || v instanceof RegExp) return cut(v.toString());
		if (v instanceof Document) return cut(v.documentElement ? v.documentElement.outerHTML : "");
		if (v instanceof Element) return cut(v.outerHTML);
		if (v instanceof Node) return cut(v.nodeName + ": " + v.textContent);
		if (v instanceof Error) return cut(v.stack || String(v));
		const path = []; let left = 20000;
		const s = JSON.stringify(v, function(k, x) {
			if (--left < 0) return undefined;
			if (typeof x === "bigint") return x + "n";
			if (typeof x === "function") return "[function " + x.name + "]";
			if (typeof x === "string" && x.length > most) return x.slice(0, most) + "…";
			if (x && typeof x === "object") {
				while (path.length && path[path.length - 1] !== this) path.pop();
				if (path.includes(x)) return "[seen above]";
				path.push(x);
				let as = null;
				if (x instanceof Map) as = {map: Array.from(x).slice(0, 1000)};
				if (x instanceof Set) as = {set: Array.from(x).slice(0, 1000)};
				if (as) { path.push(as); return as }
				if (x instanceof RegExp) return String(x);
				if (typeof Node !== "undefined" && x instanceof Node) return "<" + x.nodeName.toLowerCase() + (x.id ? " id=" + x.id : "") + ">";
				if (typeof Window !== "undefined" && x instanceof Window) return "[window]";
			}
			return x;
		});
		return cut(s === undefined ? String(v) : s);
	} catch (e) { return cut(Object.prototype.toString.call(v) + ": " + e); }
}`

// evaluate runs an agent's expression in the page and says what it gave.
func (b *Browser) evaluate(ctx context.Context, t *tab, expression string) (string, error) {
	if len(expression) > maxScript {
		return "", core.Fail(core.CodeInvalid, nil, "The expression is longer than 256 KiB.", "Do less at a time.")
	}
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout+2*time.Second)
	defer cancel()
	group := "loop-evaluate"
	defer t.post("Runtime.releaseObjectGroup", obj{"objectGroup": group})
	var got evaluated
	err := t.run(ctx, runtime.CommandEvaluate, obj{
		"expression": expression, "objectGroup": group, "replMode": true, "userGesture": true,
		"awaitPromise": true, "timeout": scriptTimeout.Milliseconds(), "includeCommandLineAPI": false,
	}, &got)
	if err == nil && got.ExceptionDetails == nil && got.Result.Subtype == "promise" {
		id := got.Result.ObjectID
		got = evaluated{}
		err = t.run(ctx, runtime.CommandAwaitPromise, obj{"promiseObjectId": id}, &got)
	}
	if err != nil {
		return "", err
	}
	if x := got.ExceptionDetails; x != nil && x.Exception != nil && x.Exception.ObjectID != "" && x.Exception.Subtype != "error" {
		x.Exception.Description = x.Text + " " + t.described(ctx, *x.Exception, 2000) // “Object” would say little
	}
	if err := got.thrown(); err != nil {
		return "", err
	}
	r := got.Result
	switch {
	case r.Type == "undefined":
		return "undefined", nil
	case r.UnserializableValue != "":
		return clip(r.UnserializableValue, maxValue), nil
	case r.ObjectID == "" && r.Type == "string":
		var s string
		if err := json.Unmarshal(r.Value, &s, loose); err != nil {
			return "", fmt.Errorf("reading a script's result: %w", err)
		}
		if len(s) > maxValue {
			return clip(s, maxValue) + fmt.Sprintf(" (%d bytes in all)", len(s)), nil
		}
		if s == "" {
			return `""`, nil // or it would look like no answer
		}
		return s, nil
	case r.ObjectID == "":
		return clip(string(r.Value), maxValue), nil
	}
	return clip(t.described(ctx, r, maxValue), 4*maxValue), nil
}

// described is an object of the page as text. One that cannot be shown is named.
func (t *tab) described(ctx context.Context, r remote, most int) string {
	var text evaluated
	var s string
	if err := t.run(ctx, runtime.CommandCallFunctionOn, obj{
		"objectId": r.ObjectID, "functionDeclaration": describeValue, "returnByValue": true, "arguments": []obj{{"value": most}},
	}, &text); err != nil || json.Unmarshal(text.Result.Value, &s, loose) != nil {
		return clip(r.Description, most)
	}
	return s
}

// run is a command that runs a script of an agent's. One that does not end is ended.
func (t *tab) run(ctx context.Context, method string, params, result any) error {
	b := t.b
	b.mu.Lock()
	err, held := t.standing(), t.held
	b.mu.Unlock()
	if err != nil {
		return err
	}
	err = b.conn.call(ctx, held, t.session, method, params, result)
	refused, isRefused := errors.AsType[*protocolError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isRefused &&
		refused.Message == "Internal error": // so Chromium calls a script that it ended
		t.post("Runtime.terminateExecution", nil)
		return core.Fail(core.CodeTimeout, nil, "The script, or a promise that it returned, did not end within 10 seconds.",
			"Do less at a time, or look whether the page hangs.")
	case errors.Is(err, errStopped):
		b.mu.Lock()
		defer b.mu.Unlock()
		if why := t.standing(); why != nil {
			return why
		}
	}
	return err
}

// object is an argument that is an object of the page, by its id.
type object string

// ask runs a function of ours in the main frame, in a world that the page cannot change,
// and reads what it returns.
func (t *tab) ask(ctx context.Context, function string, result any, args ...any) error {
	return t.askIn(ctx, t.session, t.id, function, result, args...)
}

// askIn is ask in a frame.
func (t *tab) askIn(ctx context.Context, session, frame, function string, result any, args ...any) error {
	w, err := t.worldOf(ctx, session, frame)
	if err != nil {
		return err
	}
	return t.apply(ctx, session, obj{"executionContextId": w}, function, result, args...)
}

// worldOf is our world in a frame.
func (t *tab) worldOf(ctx context.Context, session, frame string) (int64, error) {
	var w struct {
		ID int64 `json:"executionContextId"`
	}
	err := t.callIn(ctx, session, page.CommandCreateIsolatedWorld, obj{"frameId": frame, "worldName": world}, &w)
	return w.ID, err
}

// askNode calls a function of ours with an element as this.
func (t *tab) askNode(ctx context.Context, n node, function string, result any, args ...any) error {
	id, err := t.resolve(ctx, n)
	if err != nil {
		return err
	}
	defer t.b.conn.start(n.session, runtime.CommandReleaseObject, obj{"objectId": id}, nil)
	return t.apply(ctx, n.session, obj{"objectId": id}, function, result, args...)
}

// resolve makes an object of our world out of an element.
func (t *tab) resolve(ctx context.Context, n node) (string, error) {
	params := obj{"backendNodeId": n.backend}
	if n.frame != "" {
		w, err := t.worldOf(ctx, n.session, n.frame)
		if err != nil {
			return "", err
		}
		params["executionContextId"] = w
	}
	var got struct {
		Object struct {
			ObjectID string `json:"objectId"`
		} `json:"object"`
	}
	err := t.callIn(ctx, n.session, dom.CommandResolveNode, params, &got)
	return got.Object.ObjectID, err
}

func (t *tab) apply(ctx context.Context, session string, on obj, function string, result any, args ...any) error {
	on["functionDeclaration"] = function
	on["returnByValue"] = true
	on["awaitPromise"] = true
	on["userGesture"] = true
	values := make([]obj, 0, len(args))
	for _, a := range args {
		if o, ok := a.(object); ok {
			values = append(values, obj{"objectId": string(o)})
			continue
		}
		values = append(values, obj{"value": a})
	}
	on["arguments"] = values
	var got evaluated
	if err := t.callIn(ctx, session, runtime.CommandCallFunctionOn, on, &got); err != nil {
		return err
	}
	if err := got.thrown(); err != nil {
		return err
	}
	if result == nil || len(got.Result.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(got.Result.Value, result, loose, json.MatchCaseInsensitiveNames(true)); err != nil {
		return fmt.Errorf("reading a script's result: %w", err)
	}
	return nil
}

// rawObject is an answer that is read with names in any case.
type rawObject struct{ value jsontext.Value }

func (r *rawObject) UnmarshalJSON(b []byte) error {
	r.value = jsontext.Value(b).Clone()
	return nil
}

func (r *rawObject) into(v any) error {
	return json.Unmarshal(r.value, v, loose, json.MatchCaseInsensitiveNames(true))
}
