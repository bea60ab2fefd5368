package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"loop/backend/core"
)

// call is one bound method, served under Service.Method exactly as the window
// calls it.
type call struct {
	fn   reflect.Value
	args []reflect.Type
}

var errorType = reflect.TypeFor[error]()

// Calls are bound methods by the name the page calls them, Service.Method.
type Calls map[string]call

// Tabulate lists the exported methods of each service once. A method that does
// not fit (variadic, more than one result beside the error) is an error at
// start, not at the first call.
func Tabulate(services map[string]any) (Calls, error) {
	table := Calls{}
	for name, svc := range services {
		v := reflect.ValueOf(svc)
		for i := range v.NumMethod() {
			m, full := v.Method(i), name+"."+v.Type().Method(i).Name
			t := m.Type()
			if t.IsVariadic() || t.NumOut() > 2 || (t.NumOut() == 2 && t.Out(1) != errorType) {
				return nil, fmt.Errorf("%s cannot be called over HTTP", full)
			}
			c := call{fn: m}
			for j := range t.NumIn() {
				c.args = append(c.args, t.In(j))
			}
			table[full] = c
		}
	}
	return table, nil
}

// Call runs one method; args is a JSON array. Any goroutine may call it.
func (t Calls) Call(method string, args io.Reader) (any, error) {
	c, ok := t[method]
	if !ok {
		return nil, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("This version of Loop has no call %q.", method),
			"Reload the page: it may belong to another version.")
	}
	in, err := c.decode(args)
	if err != nil {
		return nil, err
	}
	return c.invoke(in)
}

// serveCall runs one method with the JSON array in the body as its arguments.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	if ct := r.Header.Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
		// A form or text/plain post needs no preflight in a browser; JSON does.
		writeJSON(w, http.StatusUnsupportedMediaType, core.Fail(core.CodeInvalid, nil, "Calls are JSON.", "Send Content-Type: application/json."))
		return
	}
	name := r.PathValue("method")
	out, err := s.opts.Calls.Call(name, http.MaxBytesReader(w, r.Body, maxCallBytes))
	if err != nil {
		s.opts.Log.Debug("call failed", "method", name, "err", err)
		writeFailure(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (c call) decode(body io.Reader) ([]reflect.Value, error) {
	var raw []json.RawMessage
	dec := json.NewDecoder(body)
	if err := dec.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		if tooBig, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, core.Fail(core.CodeInvalid, err, fmt.Sprintf("That is more than %d MiB in one call.", tooBig.Limit>>20),
				"Put long text into a file in the project and name the file in the prompt.")
		}
		return nil, core.Fail(core.CodeInvalid, err, "The call is not a JSON array of arguments.", "")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, core.Fail(core.CodeInvalid, err, "Something follows the JSON array of arguments.", "")
	}
	if len(raw) != len(c.args) {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The call takes %d arguments and got %d.", len(c.args), len(raw)), "")
	}
	in := make([]reflect.Value, len(raw))
	for i, t := range c.args {
		v := reflect.New(t)
		if err := json.Unmarshal(raw[i], v.Interface()); err != nil {
			return nil, core.Fail(core.CodeInvalid, err, fmt.Sprintf("Argument %d of the call has the wrong form.", i+1), "")
		}
		in[i] = v.Elem()
	}
	return in, nil
}

func (c call) invoke(in []reflect.Value) (result any, err error) {
	out := c.fn.Call(in)
	if n := len(out); n > 0 && c.fn.Type().Out(n-1) == errorType {
		if e, _ := out[n-1].Interface().(error); e != nil {
			return nil, e
		}
		out = out[:n-1]
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out[0].Interface(), nil
}

// statuses are those of HTTP for the codes of failures; others are internal.
var statuses = map[core.Code]int{
	core.CodeInvalid: http.StatusBadRequest, core.CodeDir: http.StatusBadRequest, core.CodeMount: http.StatusBadRequest,
	core.CodeConfig: http.StatusBadRequest, core.CodeForbidden: http.StatusForbidden, core.CodeNotFound: http.StatusNotFound,
	core.CodeConflict: http.StatusConflict, core.CodeTooMany: http.StatusTooManyRequests, "no_native_dialog": http.StatusNotImplemented,
	core.CodeNoEngine: http.StatusServiceUnavailable, core.CodeEngineDenied: http.StatusServiceUnavailable,
	core.CodeEngineLost: http.StatusServiceUnavailable, core.CodeNoImage: http.StatusServiceUnavailable,
}

func writeFailure(w http.ResponseWriter, err error) {
	f := core.AsFailure(err)
	writeJSON(w, cmp.Or(statuses[f.Code], http.StatusInternalServerError), f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the only failure is a client that left
}
