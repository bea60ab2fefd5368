package runner

import (
	"encoding/json"
	"fmt"

	"loop/backend/core"
)

// picture is one as the Messages API takes it.
type picture struct {
	Kind  string `json:"type"` // base64
	Media string `json:"media_type"`
	Data  []byte `json:"data"`
}

// message is a prompt as the CLI reads it from its stdin: pictures first, as the Messages API
// recommends.
func message(prompt string, pictures ...picture) ([]byte, error) {
	type said struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a text, or blocks
	}
	m := said{"user", prompt}
	if len(pictures) > 0 {
		var blocks []any
		for _, p := range pictures {
			blocks = append(blocks, map[string]any{"type": "image", "source": p})
		}
		m.Content = append(blocks, map[string]string{"type": "text", "text": prompt})
	}
	b, err := json.Marshal(struct {
		Type    string `json:"type"`
		Message said   `json:"message"`
	}{"user", m})
	if err != nil {
		return nil, fmt.Errorf("encode the prompt: %w", err)
	}
	return append(b, '\n'), nil
}

// said is the prompt of the present try as its CLI reads it.
func (w *work) said() ([]byte, error) {
	if w.run.Attempt.Kind == core.AttemptCompact {
		return message(compactPrompt)
	}
	var pictures []picture
	for _, a := range w.run.Attachments {
		data, err := w.s.p.Attachments.Read(w.run.ChannelID, a.ID)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, picture{"base64", a.Type, data})
	}
	return message(w.run.Prompt, pictures...)
}

// attached are the pictures of a prompt as they are kept: of what a caller says of them, the
// id and the name count.
func (s *Service) attached(req core.Run) (out []core.Attachment, err error) {
	if len(req.Attachments) > core.MaxAttachments {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The prompt has %d pictures, and %d may go with one.",
			len(req.Attachments), core.MaxAttachments), "Take some out, or send two prompts.")
	}
	var sum int64
	for _, a := range req.Attachments {
		kept, err := s.p.Attachments.Look(req.ChannelID, a.ID, a.Name)
		if err != nil {
			return nil, err
		}
		if sum += kept.Bytes; sum > core.MaxAttachmentsBytes {
			return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The pictures have more than %.0f MB together.",
				core.MaxAttachmentsBytes/1e6), "Take some out, or send two prompts.")
		}
		out = append(out, kept)
	}
	return out, nil
}
