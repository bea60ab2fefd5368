package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// How a script ends a stream before its time.
var (
	errCut   = errors.New("stream cut by the script")   // the handler drops the connection
	errEnded = errors.New("stream ended by the script") // the response ends as usual
)

// stream writes server-sent events, one flush each, and fails where its fault says.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	wait  func(context.Context, time.Duration) error
	fault *Fault
	sent  int
}

func (s *stream) event(ctx context.Context, name string, data any) error {
	if s.fault != nil && s.sent == s.fault.AfterEvents {
		f := s.fault
		s.fault = nil
		if err := s.fail(ctx, f); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode stream event: %w", err)
	}
	return s.write(name, string(raw))
}

func (s *stream) write(name, data string) error {
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return fmt.Errorf("write stream event: %w", err)
	}
	s.sent++
	if err := s.flush.Flush(); err != nil {
		return fmt.Errorf("write stream event: %w", err)
	}
	return nil
}

// fail does what the fault says; after a malformed event the stream goes on.
func (s *stream) fail(ctx context.Context, f *Fault) error {
	switch f.Kind {
	case FaultMalformed:
		return s.write("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_del`)
	case FaultHang:
		<-ctx.Done()
		return ctx.Err()
	case FaultEvent:
		body, err := json.Marshal(f.apiError())
		if err != nil {
			return fmt.Errorf("encode stream event: %w", err)
		}
		if err := s.write("error", string(body)); err != nil {
			return err
		}
		return errEnded
	}
	return errCut
}

// send streams a whole answer.
func (s *stream) send(ctx context.Context, a answer) error {
	if err := s.wait(ctx, a.delay); err != nil {
		return err
	}
	type obj = map[string]any
	if err := s.event(ctx, "message_start", obj{"type": "message_start", "message": a.opened()}); err != nil {
		return err
	}
	if err := s.event(ctx, "ping", obj{"type": "ping"}); err != nil {
		return err
	}
	for i, b := range a.blocks {
		if err := s.event(ctx, "content_block_start", obj{"type": "content_block_start", "index": i, "content_block": b.empty()}); err != nil {
			return err
		}
		for _, d := range b.deltas() {
			if err := s.wait(ctx, a.pace); err != nil {
				return err
			}
			if err := s.event(ctx, "content_block_delta", obj{"type": "content_block_delta", "index": i, "delta": d}); err != nil {
				return err
			}
		}
		if err := s.event(ctx, "content_block_stop", obj{"type": "content_block_stop", "index": i}); err != nil {
			return err
		}
	}
	m := a.message()
	if err := s.event(ctx, "message_delta", obj{
		"type":  "message_delta",
		"delta": obj{"stop_reason": m.StopReason, "stop_sequence": nil},
		"usage": m.Usage,
	}); err != nil {
		return err
	}
	return s.event(ctx, "message_stop", obj{"type": "message_stop"})
}

// empty is the block as it is before its first piece: the API sends the fields
// it will fill as empty, not absent.
func (b outBlock) empty() any {
	switch b.Type {
	case Thinking:
		return map[string]any{"type": b.Type, "thinking": "", "signature": ""}
	case ToolUse:
		return map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": struct{}{}}
	}
	return map[string]any{"type": b.Type, "text": ""}
}

// Sizes of one streamed piece, in bytes: about what the real API sends.
const (
	textPiece  = 14
	inputPiece = 48
)

func (b outBlock) deltas() []map[string]any {
	var out []map[string]any
	add := func(kind, field, value string) {
		out = append(out, map[string]any{"type": kind, field: value})
	}
	switch b.Type {
	case Text:
		for _, p := range pieces(b.Text, textPiece) {
			add("text_delta", "text", p)
		}
	case Thinking:
		for _, p := range pieces(b.Thinking, textPiece) {
			add("thinking_delta", "thinking", p)
		}
		add("signature_delta", "signature", b.Signature)
	case ToolUse:
		for _, p := range pieces(string(b.Input), inputPiece) {
			add("input_json_delta", "partial_json", p)
		}
	}
	return out
}

// pieces splits at characters, after a space where there is one.
func pieces(s string, size int) []string {
	var out []string
	for len(s) > size {
		cut := size
		if sp := strings.IndexAny(s[size:], " \n"); sp >= 0 && sp < size {
			cut = size + sp + 1
		}
		for cut < len(s) && s[cut]&0xC0 == 0x80 { // not in the middle of a UTF-8 character
			cut++
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
