package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"loop/backend/core"
)

// Item is one thing for the timeline. Data is the payload struct of package
// core that belongs to Type, or json.RawMessage for core.EventRaw.
type Item struct {
	Type core.EventType
	Data any
	// Passing items tell what is going on at the moment; they are shown but not
	// stored: pieces of messages, “requesting”.
	Passing bool
	// Pictures of a tool's result, which Data can only refer to.
	Pictures []Picture
}

// Result is the CLI's final word.
type Result struct {
	Subtype        string
	IsError        bool
	APIErrorStatus int // HTTP status of the API's refusal, 0 if none
	Text           string
	Errors         []string
	SessionID      core.SessionID
	DurationMs     int64
	NumTurns       int
	StopReason     string
	TerminalReason string
	Model          string // the one that cost most, if the result says so
}

// Failed reports whether the CLI says that the run did not succeed.
func (r *Result) Failed() bool {
	return r.IsError || (r.Subtype != "" && r.Subtype != "success")
}

// Said is what the result says in words.
func (r *Result) Said() string { return cmp.Or(r.Text, strings.Join(r.Errors, "\n")) }

// Limit is where the account stands against a limit of its plan.
type Limit struct {
	Status   string    // allowed, allowed_warning, rejected
	Type     string    // five_hour, seven_day, …
	ResetsAt time.Time // zero when it is not said
}

// APIError is what the CLI prints as a message of its own when the API refused.
type APIError struct {
	Kind string // authentication_failed, rate_limit, overloaded, billing_error, …
	Text string
}

// Limits of what one item may hold; more is cut with a mark.
const (
	maxText   = 1 << 20  // one message or thought
	maxOutput = 8 << 10  // a tool's output, the original's limit
	maxInput  = 64 << 10 // a tool's input as JSON
	maxField  = 8 << 10  // one string in a shortened input
	maxPatch  = 32 << 10 // hunks of one changed file
	maxRaw    = 16 << 10 // a line of an unknown kind
	maxShort  = 1 << 10  // descriptions
)

func raw(line []byte) Item {
	if len(line) <= maxRaw && json.Valid(line) {
		return Item{Type: core.EventRaw, Data: json.RawMessage(bytes.Clone(line))}
	}
	return Item{Type: core.EventRaw, Data: truncated(line, maxRaw)}
}

// truncated stands for JSON of which only the beginning is kept.
func truncated(b []byte, keep int) json.RawMessage {
	head, _ := clip(string(repaired(b[:min(len(b), keep+utf8.UTFMax)])), keep)
	out, _ := json.Marshal(struct {
		Truncated bool   `json:"truncated"`
		Bytes     int    `json:"bytes"`
		Text      string `json:"text"`
	}{true, len(b), head}) // a struct of plain fields always encodes
	return out
}

func (w wireResult) result() *Result {
	r := &Result{
		Subtype: clipShort(w.Subtype), IsError: w.IsError, APIErrorStatus: w.APIErrorStatus, Text: clipMarked(w.Result, maxText),
		SessionID: core.SessionID(clipShort(w.SessionID)), DurationMs: int64(min(max(w.DurationMs, 0), 1e15)), NumTurns: w.NumTurns,
		StopReason: clipShort(w.StopReason), TerminalReason: clipShort(w.TerminalReason),
	}
	for _, e := range w.Errors[:min(len(w.Errors), 20)] {
		r.Errors = append(r.Errors, clipMarked(e, maxOutput))
	}
	if models, _ := modelUsage(w.ModelUsage); len(models) > 0 {
		r.Model = models[0].Model
	}
	return r
}

func (w wireRateLimit) limit() *Limit {
	l := &Limit{Status: clipShort(w.Info.Status), Type: clipShort(w.Info.Type)}
	if at := w.Info.ResetsAt; at > 0 && at < 1e11 { // seconds; a hostile number must not overflow
		l.ResetsAt = time.Unix(int64(at), 0)
	}
	return l
}
