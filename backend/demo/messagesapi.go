package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"loop/backend/backoff"
)

// maxRequestBytes bounds one request: twice the real API's 32 MB.
const maxRequestBytes = 64 << 20

// maxCounted bounds the table of errors that repeat a limited number of times. A
// full one is emptied: some tries then fail once more.
const maxCounted = 1024

// Instant as a Pace leaves out every wait.
const Instant = -1

// ModelPrefix before a script's name makes a model name that selects it.
const ModelPrefix = "demo-"

// Observation is one request that reached the model.
type Observation struct {
	At      time.Time // when its headers arrived
	Method  string
	Path    string
	Purpose string // turn, background, summary, quota, count, other
	Model   string
	Script  string // turn only
	Step    int    // turn only, from 0
}

// Options of New. The zero value serves the built-in scripts at their own pace.
type Options struct {
	Library Library // nil: Builtin
	// Pace multiplies every wait; 0 means 1, Instant none at all.
	Pace float64
	// Observe is called before a request is answered, in the request's
	// goroutine; it must not block.
	Observe func(Observation)
}

type handler struct {
	opts  Options
	mu    sync.Mutex
	tries map[string]int // see faultFor
}

// New returns the model. It starts no goroutines and holds nothing open; a
// request that hangs by script ends when its client leaves or the server
// closes it. It drops connections with panic(http.ErrAbortHandler), which
// net/http's server understands.
func New(opts Options) http.Handler {
	h := &handler{opts: opts, tries: map[string]int{}}
	if h.opts.Library == nil {
		h.opts.Library = Builtin()
	}
	if h.opts.Observe == nil {
		h.opts.Observe = func(Observation) {}
	}
	h.opts.Pace = cmp.Or(h.opts.Pace, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", h.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", h.count)
	// The CLI opens its connection with one of these before the first prompt.
	for _, path := range []string{"/{$}", "/api/hello", "/v1/models"} {
		mux.HandleFunc("GET "+path, h.greet)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		h.opts.Observe(observe(r, purposeOther))
		writeError(w, http.StatusNotFound, "The demo model answers no "+r.Method+" here")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == RefusedKey || r.Header.Get("Authorization") == "Bearer "+RefusedKey {
			h.opts.Observe(observe(r, purposeOther))
			writeError(w, http.StatusUnauthorized, "invalid x-api-key")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// RefusedKey is the one key, or token, that the scripted model does not take.
const RefusedKey = "sk-ant-refused"

func observe(r *http.Request, purpose string) Observation {
	return Observation{At: time.Now(), Method: r.Method, Path: r.URL.Path, Purpose: purpose}
}

// greet says which models there are.
func (h *handler) greet(w http.ResponseWriter, r *http.Request) {
	h.opts.Observe(observe(r, purposeOther))
	list := []map[string]string{}
	for _, name := range h.opts.Library.Names() {
		list = append(list, map[string]string{"type": "model", "id": ModelPrefix + name, "display_name": h.opts.Library[name].Title})
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": list, "has_more": false})
}

// decode reads a bounded body; on failure it has answered and returns false.
func decode(w http.ResponseWriter, r *http.Request, req *request) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(req)
	if _, big := errors.AsType[*http.MaxBytesError](err); big {
		writeError(w, http.StatusRequestEntityTooLarge, "Request exceeds the maximum size")
	} else if err != nil {
		writeError(w, http.StatusBadRequest, "The request body is not valid JSON: "+err.Error())
	}
	return err == nil
}

func (h *handler) count(w http.ResponseWriter, r *http.Request) {
	ob := observe(r, purposeCount)
	var req request
	ok := decode(w, r, &req)
	ob.Model = req.Model
	h.opts.Observe(ob)
	if ok {
		writeJSON(w, http.StatusOK, map[string]int64{"input_tokens": 1 + max(r.ContentLength, 0)/bytesPerToken})
	}
}

func (h *handler) messages(w http.ResponseWriter, r *http.Request) {
	ob := observe(r, purposeOther)
	var req request
	ok := decode(w, r, &req)
	ob.Model = req.Model
	if !ok || req.Model == "" || len(req.Messages) == 0 {
		h.opts.Observe(ob)
		if ok {
			writeError(w, http.StatusBadRequest, "model and messages are required")
		}
		return
	}
	c := req.read()
	ob.Purpose = c.purpose
	var a answer
	if c.purpose == purposeTurn {
		s, err := h.choose(req.Model, c.script)
		if err != nil {
			h.opts.Observe(ob)
			writeError(w, http.StatusBadRequest, err.Error())
			return
		}
		a = s.pick(c, req.Thinking.Type != "" && req.Thinking.Type != "disabled")
		ob.Script, ob.Step = s.Name, a.step
		a.fault = h.faultFor(a, r.Header.Get("X-Claude-Code-Session-Id")+" "+s.Name+" "+c.toolID(a.step, 0))
	} else {
		a = req.side(c)
	}
	h.opts.Observe(ob)
	a.model, a.id = req.Model, "msg_demo_"+strings.TrimPrefix(c.toolID(a.step+1, 0), "toolu_demo_")
	h.answer(w, r, a, req.Stream)
}

// choose finds the script: a directive in the prompt, else the model's name,
// else the default.
func (h *handler) choose(model, directive string) (*Script, error) {
	name := directive
	if name == "" {
		// The CLI writes a model with a larger context as name[1m].
		base, _, _ := strings.Cut(model, "[")
		name, _ = strings.CutPrefix(base, ModelPrefix)
		if name == base {
			name = DefaultScript
		}
	}
	if s, ok := h.opts.Library[name]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("the demo model has no script %q; it has %s", name, strings.Join(h.opts.Library.Names(), ", "))
}

// faultFor returns the step's fault if this try shall fail. The conversation
// does not tell how often a request was tried (the CLI repeats it unchanged), so
// the tries are counted by place; after a restart of Loop the count begins again.
func (h *handler) faultFor(a answer, place string) *Fault {
	if a.fault == nil || a.fault.Times == 0 {
		return a.fault
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.tries) == maxCounted {
		clear(h.tries)
	}
	if h.tries[place]++; h.tries[place] > a.fault.Times {
		return nil
	}
	return a.fault
}

func (h *handler) wait(ctx context.Context, d time.Duration) error {
	if d = time.Duration(float64(d) * h.opts.Pace); d > 0 {
		backoff.Sleep(ctx, d)
	}
	return ctx.Err()
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, a answer, streamed bool) {
	w.Header().Set("Request-Id", "req_"+strings.TrimPrefix(a.id, "msg_"))
	f := a.fault
	if streamed && (f == nil || f.Kind != FaultStatus) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
		s := &stream{w: w, flush: http.NewResponseController(w), wait: h.wait, fault: f}
		s.send(r.Context(), a)
		if errors.Is(s.err, errCut) {
			panic(http.ErrAbortHandler)
		}
		return // any other error is the client leaving: there is nobody to tell
	}
	if h.wait(r.Context(), a.delay) != nil {
		return
	}
	if f == nil {
		writeJSON(w, http.StatusOK, a.whole())
		return
	}
	// The CLI falls back to this form after a broken stream, so faults of a stream
	// have a counterpart here.
	switch f.Kind {
	case FaultCut:
		panic(http.ErrAbortHandler)
	case FaultHang:
		<-r.Context().Done()
	case FaultMalformed:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","content":[{"type":"te`)
	default:
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		writeError(w, f.Status, f.Message)
	}
}

// errorTypes are the API's names for its codes; api_error stands for the others.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
}

func errorOf(status int, text string) fields {
	return fields{"type": "error", "error": fields{
		"type": cmp.Or(errorTypes[status], "api_error"), "message": cmp.Or(text, "The script says so"),
	}}
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, errorOf(status, text))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left is nobody to tell
}
