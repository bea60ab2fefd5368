package sessions

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"loop/backend/core"
)

// FuzzTranscript: reading any transcript ends, and the listed text is bounded.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(recording(f, recorded)))
	f.Add([]byte(say("user", "a", "b", "ring") + say("assistant", "b", "a", "ring")))
	f.Add([]byte(`{"type":"summary","summary":"\u202e"}` + "\n\n" + say("user", "1", "1", "self")))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"text","text":null},1]}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sum, err := sumUp(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		shownText(t, sum.title, titleLimit)
		shownText(t, sum.prompt, titleLimit)
		shownText(t, sum.model, 100)
		shownText(t, sum.branch, titleLimit)
		shownText(t, sum.dir, 4096)
		messages, err := conversation(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range messages {
			shownText(t, m.Text, textLimit)
			if !validID(m.UUID) || seen[m.UUID] || m.Role != "user" && m.Role != "assistant" {
				t.Errorf("%+v", m)
			}
			seen[m.UUID] = true
		}
	})
}

func shownText(t *testing.T, s string, limit int) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > limit+1 || strings.ContainsAny(s, "\x00\x1b\u202e\r") {
		t.Errorf("%q", s)
	}
}

// BenchmarkList reads transcripts of 8 MiB for the first time.
func BenchmarkList(b *testing.B) {
	r := &rig{home: b.TempDir()}
	line := say("assistant", "a", "b", strings.Repeat("words and more words ", 40))
	text := strings.Repeat(line, 8<<20/len(line))
	rt := &rig{T: &testing.T{}, home: r.home}
	rt.put("c", project, "s1", text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := New(Options{Home: r.home})
		if list, err := s.List(b.Context(), core.Channel{ID: "c"}); err != nil || len(list) != 1 {
			b.Fatal(err)
		}
	}
}
