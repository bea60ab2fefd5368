package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

func (w wireResult) result() *Result {
	r := &Result{
		Subtype: clipShort(w.Subtype), IsError: w.IsError, APIErrorStatus: w.APIErrorStatus, Text: clipMarked(w.Result, maxText),
		SessionID: core.SessionID(clipShort(w.SessionID)), DurationMs: int64(min(max(w.DurationMs, 0), 1e15)), NumTurns: w.NumTurns,
		StopReason: clipShort(w.StopReason), TerminalReason: clipShort(w.TerminalReason), Denials: len(w.Denials),
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

// salvageResult reads what a cut or broken result line still says: the members
// in front of the break, the text up to it, and, of an over-long line, the
// members that follow the text. It reports false when the line does not get as
// far as saying whether the run succeeded. Newer versions of the CLI (2.1.330) say
// the type behind the text; of a line without one only a result has a total cost.
func (p *Parser) salvageResult(typ string, head, tail []byte) bool {
	var w wireResult
	dec := jsontext.NewDecoder(bytes.NewReader(head), lenient)
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '{' {
		return false
	}
	priced := typ == "result"
	known := false // whether the line says how it ended: subtype alone does not
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			break
		}
		key := name.String()
		at := dec.InputOffset()
		val, err := dec.ReadValue()
		if err != nil {
			if key == "result" {
				w.Result = brokenString(head[at:])
			}
			break
		}
		known = setMember(&w, key, val) && key == "is_error" || known
		priced = priced || key == "total_cost_usd"
	}
	for _, key := range []string{"stop_reason", "session_id", "total_cost_usd", "terminal_reason", "api_error_status", "is_error", "num_turns",
		"modelUsage", "model_usage_since_last_result"} {
		if v := lastMember(tail, key); v != nil {
			known = setMember(&w, key, v) && key == "is_error" || known
		}
	}
	if !priced || !known && !strings.HasPrefix(w.Subtype, "error") {
		return false
	}
	r, _ := p.take(w)
	r.Cut = true
	return true
}

func setMember(w *wireResult, key string, v []byte) bool {
	one, err := json.Marshal(map[string]json.RawMessage{key: v})
	if err != nil {
		return false
	}
	return decode(one, w) == nil
}

// brokenString decodes a JSON string that lacks its end.
func brokenString(b []byte) string {
	i := bytes.IndexByte(b, '"')
	if i < 0 {
		return ""
	}
	b = b[i+1:]
	if len(b) > maxText {
		b = b[:maxText]
	}
	// Drop what could be half an escape, longest first, until it decodes.
	quoted := make([]byte, 0, len(b)+2)
	for cut := 0; cut <= 12 && cut <= len(b); cut++ {
		quoted = append(append(append(quoted[:0], '"'), b[:len(b)-cut]...), '"')
		var s string
		if decode(quoted, &s) == nil {
			return s
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// lastMember finds the last plain member of that name in the end of an object.
func lastMember(tail []byte, key string) []byte {
	i := bytes.LastIndex(tail, []byte(`,"`+key+`":`))
	if i < 0 {
		return nil
	}
	v, err := jsontext.NewDecoder(bytes.NewReader(tail[i+len(key)+4:]), lenient).ReadValue()
	if err != nil {
		return nil
	}
	return v
}
