package engine

import (
	"strings"
	"testing"
	"time"
)

// TestLinesAfter: the engine's times are taken off, and what was seen is not seen again.
func TestLinesAfter(t *testing.T) {
	raw := "e of a line that was cut\n2026-01-02T03:04:05.000000001Z one\n2026-01-02T03:04:05.000000002Z two words\n2026-01-02T03:04:06Z \n" +
		"2026-01-02T03:04:07Z without an end"
	all, last := linesAfter(raw, time.Time{})
	if all != "one\ntwo words\n\nwithout an end" || last.Second() != 7 {
		t.Errorf("%q until %v", all, last)
	}
	rest, last := linesAfter(raw, time.Date(2026, 1, 2, 3, 4, 5, 2, time.UTC))
	if rest != "\nwithout an end" || last.Second() != 7 {
		t.Errorf("%q until %v", rest, last)
	}
	if text, again := linesAfter(raw, last); text != "" || !again.Equal(last) {
		t.Errorf("%q until %v", text, again)
	}
}

func FuzzLinesAfter(f *testing.F) {
	f.Add("2026-01-02T03:04:05Z a\nb\n", int64(0))
	f.Add("\n\n \n2026-01-02T03:04:05Z", int64(1767323045))
	f.Fuzz(func(t *testing.T, raw string, sec int64) {
		since := time.Unix(sec, 0)
		text, last := linesAfter(raw, since)
		if len(text) > len(raw) || last.Before(since) || strings.Count(text, "\n") > strings.Count(raw, "\n") {
			t.Errorf("%q until %v of %q", text, last, raw)
		}
	})
}
