package runner

import (
	"math/rand/v2"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/redact"
	"loop/backend/runner/transcript"
)

// TestPiecesHideSecrets cuts a message into pieces at random. The shown pieces join
// without a gap and hold neither a secret nor its beginning. At the end they lack only
// text that the next piece could complete to a secret.
func TestPiecesHideSecrets(t *testing.T) {
	h := newSecrets(Launch{APIKey: "sk-ant-sk-ant-CANARY", OAuthToken: "•ünicode•token"})
	texts := []string{
		"it is sk-ant-sk-ant-CANARY, says s", "sk-ant-sk-ant-sk-ant-CANARYsk-ant-sk-ant-CANARY", "sk-ant-sk-ant-", "no secret",
		"a •ünicode•tokem and •ünicode•token•",
	}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var p pieces
		for block, text := range texts {
			want, shown := h.Text(text), ""
			for at := 0; at < len(text); {
				n := 1 + rng.IntN(min(9, len(text)-at))
				for at+n < len(text) && text[at+n]&0xc0 == 0x80 {
					n++ // pieces end between characters
				}
				items := p.hidden(h, []transcript.Item{{Type: core.EventMessageStreaming, Passing: true, Data: core.MessageStreaming{
					MsgID: "m", Block: block, Kind: "text", Offset: at, Delta: text[at : at+n],
				}}})
				at += n
				for _, it := range items {
					d := it.Data.(core.MessageStreaming)
					if d.Offset != len(shown) || d.Delta == "" {
						t.Fatalf("%q: a piece at %d after %d bytes", text, d.Offset, len(shown))
					}
					shown += d.Delta
				}
			}
			if !strings.HasPrefix(want, shown) {
				t.Fatalf("seed %d: %q was shown of %q", seed, shown, text)
			}
			if left := want[len(shown):]; len(left) != h.Begun(want) {
				t.Fatalf("seed %d: %q was held of %q", seed, left, text)
			}
		}
	}
}

// TestPiecesOfOthersPass: only pieces of messages are changed, and only when there is a
// secret to hide.
func TestPiecesOfOthersPass(t *testing.T) {
	var p pieces
	items := []transcript.Item{{Type: core.EventThinking, Data: core.Thinking{Text: "sk-ant-CAN"}}}
	if got := p.hidden(newSecrets(Launch{APIKey: "sk-ant-CANARY"}), items); len(got) != 1 || got[0].Data != items[0].Data {
		t.Errorf("%+v", got)
	}
	items[0].Data = core.MessageStreaming{MsgID: "m", Delta: "s"}
	if got := p.hidden(redact.Secrets{}, items); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestHiddenWhereALineIsCut: an over-long line may be cut in the middle of a secret.
func TestHiddenWhereALineIsCut(t *testing.T) {
	h := newSecrets(Launch{APIKey: "sk-ant-CANARY"})
	l := hiddenLine(h, transcript.Line{Data: []byte("the key sk-ant-CAN"), Cut: 13})
	if string(l.Data) != "the key " {
		t.Errorf("%q", l.Data)
	}
}
