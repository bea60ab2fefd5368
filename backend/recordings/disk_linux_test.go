package recordings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
)

// TestFullDisk: a half-written line is taken back, the person gets an error, and the
// recording so far can be played. A limit on the size of files plays the full disk.
func TestFullDisk(t *testing.T) {
	s := New(t.TempDir(), clock())
	tape, err := s.Begin(session("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tape.Output([]byte("fits")); err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(tape.size) + 50, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err = tape.Output([]byte(strings.Repeat("x", 200)))
	again := tape.Output([]byte("y"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if f := core.AsFailure(err); f.Code != core.CodeDir || again == nil {
		t.Fatal(err, again)
	}
	if err := tape.Output([]byte("z\xe2")); err == nil { // there is room again, but earlier output is missing
		t.Fatal("written after a hole")
	}
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, tape.Name()))
	if err != nil {
		t.Fatal(err)
	}
	if _, events := parse(t, text); len(events) != 1 || events[0].data != "fits" {
		t.Fatalf("%+v", events)
	}
}
