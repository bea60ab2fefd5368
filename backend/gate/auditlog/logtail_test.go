package auditlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A new process goes on after the last record, however long the file is, and after one
// that was cut off.
func TestTheChainGoesOnInALongFile(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := Record{At: now, Channel: "chan", Target: strings.Repeat("x", maxLine/2)}
	log := Open(dir)
	for range 6 {
		if err := log.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, nameOf("chan", now.Format(day)))
	raw, err := tail(name)
	if err != nil || len(raw) != 2*maxLine {
		t.Fatalf("%d bytes of the file are read, %v", len(raw), err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"ts":`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Append(r); err != nil {
		t.Fatal(err)
	}
	if n, _, err := Verify(name); err != nil || n != 7 {
		t.Errorf("%d records, %v", n, err)
	}
}
