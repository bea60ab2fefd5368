package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// shelf keeps pictures by name: “big” has half of what may go with a prompt.
type shelf struct{ gone bool }

func (s *shelf) Look(_ core.ChannelID, id, name string) (core.Attachment, error) {
	if id == "" {
		return core.Attachment{}, core.Fail(core.CodeInvalid, nil, "That is no attachment's id.", "")
	}
	size := int64(len(id))
	if strings.HasPrefix(id, "big") {
		size = core.MaxAttachmentsBytes / 2
	}
	return core.Attachment{ID: id, Name: name, Type: "image/png", Bytes: size, Width: 1, Height: 2}, nil
}

func (s *shelf) Add(_ context.Context, _ core.ChannelID, name string, data []byte) (core.Attachment, error) {
	if len(data) < 4 {
		return core.Attachment{}, core.Fail(core.CodeInvalid, nil, "This is no picture that the model takes.", "")
	}
	return core.Attachment{ID: string(data), Name: name, Type: "image/png", Bytes: int64(len(data)), Width: 1, Height: 2}, nil
}

func (s *shelf) Read(_ core.ChannelID, id string) ([]byte, error) {
	if s.gone {
		return nil, core.Fail(core.CodeNotFound, nil, "A picture of the prompt is not there any more.", "Attach it again.")
	}
	return []byte(id), nil
}

// TestPicturesGoAlong as blocks before the text, with a prompt that is tried again, too.
func TestPicturesGoAlong(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, fine)
		keeps := &shelf{}
		r.ports.Attachments = keeps
		r.start()
		defer r.quit()
		run, err := r.s.Prompt(t.Context(), core.Run{ChannelID: "c", Prompt: "look", Attachments: []core.Attachment{{ID: "one", Name: "1.png", Type: "text/html", Bytes: 1 << 40}}})
		if err != nil {
			t.Fatal(err)
		}
		if a := run.Attachments; len(a) != 1 || a[0].Type != "image/png" || a[0].Bytes != 3 || a[0].Name != "1.png" {
			t.Errorf("stored %+v", a)
		}
		if said := r.told(run.ID, core.EventMessageCreated); !strings.Contains(said[0], `"attachments":[{"id":"one"`) {
			t.Errorf("told %s", said)
		}
		r.ended(run.ID, time.Minute)
		again, err := r.s.Retry(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		r.ended(again.ID, time.Minute)
		want := `{"type":"user","message":{"role":"user","content":[{"source":{"type":"base64","media_type":"image/png","data":"b25l"},"type":"image"},{"text":"look","type":"text"}]}}` + "\n"
		for i, req := range cli.all() {
			if string(req.Stdin) != want {
				t.Errorf("%d: %s", i, req.Stdin)
			}
		}
		// One that is gone by then is the run's failure, and says so.
		keeps.gone = true
		run, err = r.s.Retry(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if run = r.ended(run.ID, time.Minute); run.State != core.RunFailed || run.Outcome.Failure.Remedy != "Attach it again." {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
	})
}

func TestPicturesRefused(t *testing.T) {
	r := newRig(t, fine)
	r.ports.Attachments = &shelf{}
	s := New(r.ports, r.opts)
	of := func(ids ...string) (out []core.Attachment) {
		for _, id := range ids {
			out = append(out, core.Attachment{ID: id})
		}
		return out
	}
	for name, list := range map[string][]core.Attachment{
		"too many": make([]core.Attachment, core.MaxAttachments+1), "too large": of("big1", "big2", "one"), "unknown": of(""),
	} {
		if _, err := s.Prompt(t.Context(), core.Run{ChannelID: "c", Prompt: "x", Attachments: list}); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.ports.Attachments = nil
	if _, err := New(r.ports, r.opts).Prompt(t.Context(), core.Run{ChannelID: "c", Prompt: "x", Attachments: of("a")}); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("without a shelf: %v", err)
	}
}

// FuzzMessage: whatever a prompt says, it is one line of JSON that says the same.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\"}\n{", "\u2028", "<script>", "\xff", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := message(text)
		if err != nil || strings.Count(string(b), "\n") != 1 {
			t.Fatalf("%q %v", b, err)
		}
		var m struct{ Message struct{ Content string } }
		if err := json.Unmarshal(b, &m); err != nil || fmt.Sprint([]rune(m.Message.Content)) != fmt.Sprint([]rune(text)) {
			t.Fatalf("%q of %q, %v", m.Message.Content, text, err)
		}
	})
}
