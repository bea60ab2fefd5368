package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxRequestBytes bounds one request: twice the real API's 32 MB.
const maxRequestBytes = 64 << 20

// maxCounted bounds the table of errors that repeat a limited number of times.
const maxCounted = 1024

// Instant as a Pace leaves out every wait.
const Instant = -1

// ModelPrefix before a script's name makes a model name that selects it.
const ModelPrefix = "demo-"

// Observation is one request that reached the model.
type Observation struct {
	At       time.Time // when its headers arrived
	Method   string
	Path     string
	Purpose  string // turn, background, summary, quota, count, other
	Model    string
	Script   string // turn only
	Step     int    // turn only, from 0
	Stream   bool
	Session  string // the CLI's session id
	Bytes    int    // of the body
	Messages int
}

// Options of New. The zero value serves the built-in scripts at their own pace.
type Options struct {
	Library *Library // nil: Builtin
	// Pace multiplies every wait; 0 means 1, Instant none at all.
	Pace float64
	// Observe is called before a request is answered, in the request's
	// goroutine; it must not block.
	Observe func(Observation)
	Clock   Clock // nil: the system's
}

type handler struct {
	lib     *Library
	opts    Options
	mu      sync.Mutex
	tries   map[string]int // see faultFor
	ordered []string       // keys of tries, oldest first
}

// New returns the model. It starts no goroutines and holds nothing open; a
// request that hangs by script ends when its client leaves or the server
// closes it. It drops connections with panic(http.ErrAbortHandler), which
// net/http's server understands. If the built-in scripts cannot be read (a
// test rules it out) every request is answered 500 with the reason.
func New(opts Options) http.Handler {
	h := &handler{lib: opts.Library, opts: opts, tries: map[string]int{}}
	if h.opts.Clock == nil {
		h.opts.Clock = systemClock{}
	}
	if h.lib == nil {
		lib, err := Builtin()
		if err != nil {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				writeError(w, http.StatusInternalServerError, "api_error", err.Error())
			})
		}
		h.lib = lib
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ob := Observation{At: h.opts.Clock.Now(), Method: r.Method, Path: r.URL.Path, Purpose: string(purposeOther),
		Session: r.Header.Get("X-Claude-Code-Session-Id")}
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case path == "/v1/messages" && r.Method == http.MethodPost:
		h.messages(w, r, ob)
		return
	case path == "/v1/messages/count_tokens" && r.Method == http.MethodPost:
		h.count(w, r, ob)
		return
	}
	h.observe(ob)
	switch {
	case (path == "" || path == "/api/hello") && (r.Method == http.MethodHead || r.Method == http.MethodGet):
		// The CLI opens its connection with one of these before the first prompt.
		writeJSON(w, http.StatusOK, map[string]any{"service": "loop demo model", "scripts": h.lib.Names()})
	case path == "/v1/models" && r.Method == http.MethodGet:
		writeJSON(w, http.StatusOK, h.models())
	case path == "/v1/messages" || path == "/v1/messages/count_tokens":
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, "invalid_request_error", "Method Not Allowed")
	default:
		writeError(w, http.StatusNotFound, "not_found_error", "Not found")
	}
}

func (h *handler) observe(o Observation) {
	if h.opts.Observe != nil {
		h.opts.Observe(o)
	}
}

func (h *handler) models() any {
	type model struct {
		ID          string `json:"id"`
		Type        string `json:"type"`
		DisplayName string `json:"display_name"`
		CreatedAt   string `json:"created_at"`
	}
	names := h.lib.Names()
	list := make([]model, 0, len(names))
	for _, n := range names {
		list = append(list, model{ModelPrefix + n, "model", h.lib.scripts[n].Title, "2025-01-01T00:00:00Z"})
	}
	return map[string]any{"data": list, "has_more": false, "first_id": list[0].ID, "last_id": list[len(list)-1].ID}
}

// decode reads a bounded body; on failure it has answered and returns false.
func decode(w http.ResponseWriter, r *http.Request, req *request) (size int, ok bool) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		if _, big := errors.AsType[*http.MaxBytesError](err); big {
			writeError(w, http.StatusRequestEntityTooLarge, "request_too_large", "Request exceeds the maximum size")
		} else {
			writeError(w, http.StatusBadRequest, "invalid_request_error", "The request body ended early")
		}
		return 0, false
	}
	if err := json.Unmarshal(data, req); err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", "The request body is not valid JSON: "+err.Error())
		return 0, false
	}
	return len(data), true
}

func (h *handler) count(w http.ResponseWriter, r *http.Request, ob Observation) {
	var req request
	size, ok := decode(w, r, &req)
	ob.Purpose, ob.Model, ob.Bytes, ob.Messages = string(purposeCount), req.Model, size, len(req.Messages)
	h.observe(ob)
	if ok {
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": 1 + size/bytesPerToken})
	}
}

func (h *handler) messages(w http.ResponseWriter, r *http.Request, ob Observation) {
	var req request
	size, ok := decode(w, r, &req)
	ob.Model, ob.Stream, ob.Bytes, ob.Messages = req.Model, req.Stream, size, len(req.Messages)
	if !ok {
		h.observe(ob)
		return
	}
	if req.Model == "" || len(req.Messages) == 0 {
		h.observe(ob)
		writeError(w, http.StatusBadRequest, "invalid_request_error", "model and messages are required")
		return
	}
	c := req.read()
	ob.Purpose = string(c.purpose)
	var a answer
	if c.purpose == purposeTurn {
		s, err := h.choose(req.Model, c.script)
		if err == nil {
			ob.Script = s.Name
			a, err = s.pick(c, req.Thinking.Type != "" && req.Thinking.Type != "disabled")
			ob.Step = a.step
		}
		if err != nil {
			h.observe(ob)
			writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
			return
		}
		a.fault = h.faultFor(a, ob, c)
	} else {
		a = req.side(c)
	}
	h.observe(ob)
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
	if s, ok := h.lib.Script(name); ok {
		return s, nil
	}
	return nil, fmt.Errorf("the demo model has no script %q; it has %s", name, strings.Join(h.lib.Names(), ", "))
}

// faultFor returns the step's fault if this try shall fail. The conversation
// does not tell how often a request was tried (the CLI repeats it unchanged),
// so this is counted; after a restart of Loop the count begins again.
func (h *handler) faultFor(a answer, ob Observation, c conversation) *Fault {
	if a.fault == nil || a.fault.Times == 0 {
		return a.fault
	}
	key := ob.Session + " " + ob.Script + " " + c.toolID(a.step, 0)
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.tries[key]; !known {
		if len(h.ordered) == maxCounted {
			delete(h.tries, h.ordered[0])
			h.ordered = slices.Delete(h.ordered, 0, 1)
		}
		h.ordered = append(h.ordered, key)
	}
	h.tries[key]++
	if h.tries[key] > a.fault.Times {
		return nil
	}
	return a.fault
}

func (h *handler) wait(ctx context.Context, d time.Duration) error {
	pace := h.opts.Pace
	if pace == 0 {
		pace = 1
	}
	if d = time.Duration(float64(d) * pace); d <= 0 {
		return ctx.Err()
	}
	return h.opts.Clock.Sleep(ctx, d)
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, a answer, streamed bool) {
	w.Header().Set("Request-Id", "req_"+strings.TrimPrefix(a.id, "msg_"))
	f := a.fault
	if f != nil && f.Kind == FaultStatus {
		if err := h.wait(r.Context(), a.delay); err == nil {
			f.refuse(w)
		}
		return
	}
	if !streamed {
		h.answerWhole(w, r, a)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, flush: http.NewResponseController(w), wait: h.wait, fault: f}
	err := s.send(r.Context(), a)
	if errors.Is(err, errCut) {
		panic(http.ErrAbortHandler)
	}
	// Any other error is the client leaving: there is nobody to tell.
}

// answerWhole is the form without streaming. The CLI falls back to it after a
// broken stream, so faults of a stream have a counterpart here.
func (h *handler) answerWhole(w http.ResponseWriter, r *http.Request, a answer) {
	if h.wait(r.Context(), a.delay) != nil {
		return
	}
	if a.fault != nil {
		switch a.fault.Kind {
		case FaultCut:
			panic(http.ErrAbortHandler)
		case FaultHang:
			<-r.Context().Done()
		case FaultEvent:
			e := a.fault.apiError()
			writeError(w, statusOf(e.Error.Type), e.Error.Type, e.Error.Message)
		case FaultMalformed:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"type":"message","content":[{"type":"te`)
		}
		return
	}
	writeJSON(w, http.StatusOK, a.message())
}
