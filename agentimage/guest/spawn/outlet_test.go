//go:build linux

package spawn

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestClosedOutletGivesWhatIsThere reads a cut outlet late, while somebody still has
// the pipe open. It gives everything that the pipe holds, but only a bounded part of
// what is written afterwards.
func TestClosedOutletGivesWhatIsThere(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	want := bytes.Repeat([]byte("last words\n"), 5000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	o := &outlet{file: r, rest: lastWords}
	o.cut()
	if got, err := io.ReadAll(o); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes of %d, %v", len(got), len(want), err)
	}
	o.rest = 1000
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(o); err != nil || len(got) != 1000 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}
