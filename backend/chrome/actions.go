package chrome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

const maxParams = 1 << 20 // bytes of an action's parameters

// action is one act by its name.
type action struct {
	name  string
	pane  bool // a person's alone
	aside bool // does not wait for another action, as it may end one
	acts  bool // on the page, so that a dialog may be what it comes to
	run   func(ctx context.Context, b *Browser, params jsontext.Value) (core.BrowserResult, error)
}

// on makes an action out of a function that takes parameters and the active tab.
func on[P any](run func(ctx context.Context, b *Browser, t *tab, p P) (core.BrowserResult, error)) func(context.Context,
	*Browser, jsontext.Value) (core.BrowserResult, error) {
	return func(ctx context.Context, b *Browser, raw jsontext.Value) (core.BrowserResult, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return core.BrowserResult{}, err
		}
		t, err := b.current()
		if err != nil {
			return core.BrowserResult{}, err
		}
		return run(ctx, b, t, p)
	}
}

// actions are all acts, the nineteen tools first.
var actions = slices.Concat(tools, wireActions, paneActions)

var byName = func() map[string]action {
	m := make(map[string]action, len(actions))
	for _, a := range actions {
		m[a.name] = a
	}
	return m
}()

// AgentActions are the names of the acts that agents may ask for.
func AgentActions() []string { return names(false) }

// PaneActions are the names of the acts that are a person's alone.
func PaneActions() []string { return names(true) }

func names(pane bool) []string {
	var out []string
	for _, a := range actions {
		if a.pane == pane {
			out = append(out, a.name)
		}
	}
	return out
}

// decodeParams reads the parameters of an action strictly: unknown and missing fields,
// other types and anything after the object are refused, with a sentence. Fields that are
// not pointers and have no default are required.
func decodeParams(raw jsontext.Value, into any) error {
	invalid := func(cause string) error {
		return core.Fail(core.CodeInvalid, nil, cause, "Nothing was done; look at the tool's parameters.")
	}
	if len(raw) > maxParams {
		return invalid("The parameters are longer than 1 MiB.")
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = jsontext.Value("{}")
	}
	if raw[0] != '{' {
		return invalid("The parameters are not an object.")
	}
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		return invalid("The parameters cannot be read: " + paramTrouble(err) + ".")
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Tag.Get("needs") != "" && v.Field(i).IsZero() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return invalid("The parameter “" + name + "” is missing.")
		}
	}
	return nil
}

// paramTrouble says what is wrong with parameters, without words of Go.
func paramTrouble(err error) string {
	var where string
	if s, ok := errors.AsType[*json.SemanticError](err); ok {
		where = strings.TrimPrefix(string(s.JSONPointer), "/")
		if errors.Is(err, json.ErrUnknownName) {
			return "there is no parameter “" + clip(where, 60) + "”"
		}
		want := ""
		if s.GoType != nil {
			switch k := s.GoType.Kind(); {
			case k == reflect.String:
				want = "a string"
			case k == reflect.Bool:
				want = "true or false"
			case k == reflect.Slice:
				want = "a list"
			case k >= reflect.Int && k <= reflect.Float64:
				want = "a number"
			}
		}
		if want != "" && where != "" {
			return "“" + clip(where, 60) + "” has to be " + want
		}
	}
	return "they are not valid JSON (" + clip(err.Error(), 200) + ")"
}

// Do performs an action and says what came of it; failures are in its Error. It takes at
// most about 30 seconds, and as long again as askPatience where a person is asked whether a
// page may be opened. Actions wait for one another, but for those that end one.
func (b *Browser) Do(ctx context.Context, a core.BrowserAction) core.BrowserResult {
	act, ok := byName[a.Action]
	if !ok {
		return core.BrowserResult{Error: "There is no action “" + clip(a.Action, 60) + "”."}
	}
	whole, cancel := b.context(ctx)
	defer cancel()
	ctx, stop := context.WithTimeout(whole, doTimeout)
	defer stop()
	free := func() {}
	if !act.aside {
		select {
		case b.acts <- struct{}{}:
			free = sync.OnceFunc(func() {
				b.mu.Lock()
				b.acting = nil
				b.mu.Unlock()
				<-b.acts
			})
			defer free()
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errEnded) {
				return core.BrowserResult{Error: sentence(errEnded)}
			}
			return core.BrowserResult{Error: "Another action is still under way; try again in a moment."}
		}
	}
	select {
	case <-b.conn.ended:
		return core.BrowserResult{Error: sentence(errEnded)}
	default:
	}
	b.mu.Lock()
	before := b.active
	stood := before != nil && before.dialog != nil
	from := moment{b.opened, b.attaches}
	if !act.aside {
		b.acting, b.actSeq = &a, b.seq
	}
	returns := before != nil && before.flood.returns && !act.aside
	b.mu.Unlock()
	if returns {
		before.returned(ctx)
	}
	r, err := act.run(ctx, b, jsontext.Value(a.Params))
	if d, is := isDialog(err); is && act.acts && !stood {
		r.Result = strings.TrimSpace(r.Result + " " + d.Error())
		err = nil
	}
	if !act.pane && !a.ByPerson {
		r, err = b.answered(whole, from, r, err, free)
	}
	if err != nil {
		select {
		case <-b.conn.ended: // whatever that looked like from the page
			err = errEnded
		default:
		}
		r.Error = sentence(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if before != nil && !stood && before.dialog == nil && time.Since(before.asked) > betweenDialogs {
		before.inARow = 0
	}
	if !act.pane && len(b.notes) > 0 {
		notes := "Note: " + strings.Join(b.notes, "\nNote: ")
		b.notes = nil
		if r.Error != "" {
			r.Error += "\n" + notes
		} else {
			r.Result = strings.TrimSpace(r.Result + "\n" + notes)
		}
	}
	return r
}

func say(format string, args ...any) core.BrowserResult {
	return core.BrowserResult{Result: fmt.Sprintf(format, args...)}
}
