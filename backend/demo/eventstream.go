package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// How a script ends a stream before its time.
var (
	errCut   = errors.New("stream cut by the script")   // the handler drops the connection
	errEnded = errors.New("stream ended by the script") // the response ends as usual
)

// stream writes server-sent events, one flush each, and fails where its fault says.
// After err it writes nothing more.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	wait  func(context.Context, time.Duration) error
	fault *Fault
	sent  int
	err   error
}

type fields = map[string]any

// event sends what the API calls data, which names its own type.
func (s *stream) event(ctx context.Context, data fields) {
	if f := s.fault; f != nil && s.sent == f.AfterEvents {
		s.fault = nil
		s.fail(ctx, f)
	}
	raw, err := json.Marshal(data)
	if s.err == nil {
		s.err = err
	}
	name, _ := data["type"].(string)
	s.write(name, string(raw))
}

func (s *stream) write(name, data string) {
	if s.err != nil {
		return
	}
	_, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	s.sent++
	s.err = errors.Join(err, s.flush.Flush())
}

// fail does what the fault says; after a malformed event the stream goes on.
func (s *stream) fail(ctx context.Context, f *Fault) {
	switch f.Kind {
	case FaultMalformed:
		s.write("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_del`)
	case FaultHang:
		<-ctx.Done()
		s.err = ctx.Err()
	case FaultEvent:
		body, _ := json.Marshal(errorOf(f.Status, f.Message)) // strings always encode
		s.write("error", string(body))
		s.err = errEnded
	default:
		s.err = errCut
	}
}

// pause waits, if the stream still goes on.
func (s *stream) pause(ctx context.Context, d time.Duration) {
	if s.err == nil {
		s.err = s.wait(ctx, d)
	}
}

// send streams a whole answer.
func (s *stream) send(ctx context.Context, a answer) {
	s.pause(ctx, a.delay)
	s.event(ctx, fields{"type": "message_start", "message": a.message()})
	s.event(ctx, fields{"type": "ping"})
	for i, b := range a.blocks {
		empty, deltas := b.deltas()
		s.event(ctx, fields{"type": "content_block_start", "index": i, "content_block": empty})
		for _, d := range deltas {
			s.pause(ctx, a.pace)
			s.event(ctx, fields{"type": "content_block_delta", "index": i, "delta": d})
		}
		s.event(ctx, fields{"type": "content_block_stop", "index": i})
	}
	m := a.whole()
	s.event(ctx, fields{"type": "message_delta", "delta": fields{"stop_reason": m["stop_reason"], "stop_sequence": nil}, "usage": m["usage"]})
	s.event(ctx, fields{"type": "message_stop"})
}

// One streamed piece, of about the size that the real API sends: of text up to the
// end of a word.
var (
	textPiece  = regexp.MustCompile(`(?s).{1,8}\S{0,12}\s?`)
	inputPiece = regexp.MustCompile(`(?s).{1,48}`)
)

// deltas are the block before its first piece, and its pieces. The API sends the
// fields that it will fill as empty, not absent.
func (b outBlock) deltas() (empty fields, out []fields) {
	in := func(kind, field, text string, piece *regexp.Regexp) {
		for _, p := range piece.FindAllString(text, -1) {
			out = append(out, fields{"type": kind, field: p})
		}
	}
	switch b.Type {
	case Thinking:
		in("thinking_delta", "thinking", b.Thinking, textPiece)
		in("signature_delta", "signature", b.Signature, inputPiece)
		return fields{"type": b.Type, "thinking": "", "signature": ""}, out
	case ToolUse:
		in("input_json_delta", "partial_json", string(b.Input), inputPiece)
		return fields{"type": b.Type, "id": b.ID, "name": b.Name, "input": struct{}{}}, out
	}
	in("text_delta", "text", b.Text, textPiece)
	return fields{"type": b.Type, "text": ""}, out
}
