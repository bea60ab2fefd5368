package recordings

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// clock goes on by 100 ms with every call.
func clock() func() time.Time {
	at := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(100 * time.Millisecond); return at }
}

func session(n string) core.TerminalInfo {
	return core.TerminalInfo{ID: core.TerminalID(strings.Repeat(n, 32)), ChannelID: "ch", Title: "vim \x1b[31mred", Cols: 100, Rows: 30}
}

type castEvent struct {
	at         float64
	kind, data string
}

func parse(t *testing.T, text []byte) (h header, events []castEvent) {
	t.Helper()
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if i == 0 {
			if err := json.Unmarshal(line, &h); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			continue
		}
		var e []any
		if err := json.Unmarshal(line, &e); err != nil || len(e) != 3 {
			t.Fatalf("%s: %v", line, err)
		}
		at, _ := e[0].(float64)
		kind, _ := e[1].(string)
		data, _ := e[2].(string)
		if n := len(events); n > 0 && at < events[n-1].at {
			t.Fatalf("time goes back at %s", line)
		}
		events = append(events, castEvent{at, kind, data})
	}
	return h, events
}

func TestRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recordings")
	s := New(dir, clock())
	if list, err := s.Recordings(t.Context()); err != nil || list == nil || len(list) != 0 {
		t.Fatalf("%v %v", list, err)
	}
	tape, err := s.Begin(session("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{
		tape.Output([]byte("\x1b[1mhé\xe7\x95")), tape.Output([]byte("\x8c\r\n\"\\\x7f\u0085\u2028\xff")),
		tape.Resize(120, 40), tape.Output(nil), tape.Output([]byte("end\xf0\x9f")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := s.DeleteRecording(t.Context(), tape.Name()); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("deleted while it is written: %v", err)
	}
	f, _, err := s.OpenRecording(tape.Name())
	if err != nil {
		t.Fatal(err)
	}
	early, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close(), tape.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, tape.Name()))
	if err != nil || !bytes.HasPrefix(text, early) || len(early) < 100 {
		t.Fatalf("%d of %d bytes, %v", len(early), len(text), err)
	}
	h, events := parse(t, text)
	if h.Version != 2 || h.Width != 100 || h.Height != 30 || h.Title != "vim [31mred" || h.Session != session("a").ID || h.Channel != "ch" {
		t.Errorf("%+v", h)
	}
	var said []string
	for _, e := range events {
		said = append(said, e.kind+" "+e.data)
	}
	if got, want := strings.Join(said, "|"), "o \x1b[1mhé|o 界\r\n\"\\\x7f\u0085\u2028\uFFFD|r 120x40|o end|o \uFFFD\uFFFD"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if bytes.ContainsAny(bytes.ReplaceAll(text, []byte("\n"), nil), "\x1b\x7f\r") || bytes.Contains(text, []byte("\u2028")) {
		t.Error("a control character stands in the file as it is")
	}
	if info, err := os.Stat(filepath.Join(dir, tape.Name())); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}

	second, err := s.Begin(session("b"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	list, err := s.Recordings(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != second.Name() || list[1].Name != tape.Name() {
		t.Fatalf("%+v %v", list, err)
	}
	last := events[len(events)-1].at
	if r := list[1]; r.SessionID != session("a").ID || r.ChannelID != "ch" || r.Title != "vim [31mred" || r.Cols != 100 || r.Rows != 30 || r.Bytes != int64(len(text)) || r.DurationMs != int64(last*1000) || r.StartedAt.Year() != 2026 {
		t.Errorf("%+v", r)
	}
	if list[0].DurationMs != 0 {
		t.Errorf("%+v", list[0])
	}
	if err := s.DeleteRecording(t.Context(), tape.Name()); err != nil {
		t.Error(err)
	}
	if err := s.DeleteRecording(t.Context(), tape.Name()); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
}

// TestOnlyRecordings: a name finds only recordings in the folder.
func TestOnlyRecordings(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "recordings")
	s := New(dir, clock())
	tape, err := s.Begin(session("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	link := "20260101T000000.000Z-aaaaaaaa.cast"
	for name, text := range map[string]string{
		"20260102T000000.000Z-aaaaaaaa.cast": "",
		"20260103T000000.000Z-aaaaaaaa.cast": "{\"version\":1}\n",
		"20260104T000000.000Z-aaaaaaaa.cast": strings.Repeat("{", 100<<10),
		"20260105T000000.000Z-aaaaaaaa.cast": "{\"version\":2}\n[1e300,\"o\",\"\"]\n[2,\"o\",\"x\"]\n[3,\"o\",\"cut",
		"notes.txt":                          "{\"version\":2}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("{\"version\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", filepath.Join(dir, link)); err != nil {
		t.Fatal(err)
	}
	list, err := s.Recordings(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != tape.Name() || list[1].DurationMs != 2000 {
		t.Errorf("%+v %v", list, err)
	}
	for _, name := range []string{"", ".", "..", "../secret", "notes.txt", link, tape.Name() + "/x", "20260101T000000.000Z-zzzzzzzz.cast", strings.ToUpper(tape.Name())} {
		if f, _, err := s.OpenRecording(name); err == nil {
			f.Close()
			t.Errorf("%q was opened", name)
		} else if core.AsFailure(err).Code != core.CodeNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Begin(core.TerminalInfo{ID: "../../../x"}); err == nil {
		t.Error("a name was made of an id that is none")
	}
}

// TestFull ends a recording that has become too long. It can still be read.
func TestFull(t *testing.T) {
	s := New(t.TempDir(), clock())
	tape, err := s.Begin(session("a"))
	if err != nil {
		t.Fatal(err)
	}
	tape.size = maxBytes - 100
	if err := tape.Output([]byte("fits")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := tape.Output(bytes.Repeat([]byte("x"), 100)); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
	if err := tape.Output([]byte("y")); !errors.Is(err, ErrFull) { // this would fit, but earlier output did not
		t.Fatal(err)
	}
	if err := tape.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Recordings(t.Context()); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, tape.Name()))
	if err != nil {
		t.Fatal(err)
	}
	if _, events := parse(t, text); len(events) != 2 || events[1].kind != "m" {
		t.Fatalf("%+v", events)
	}
}

// FuzzLook: the beginning and the end of a file decide how it is listed, whatever they
// are.
func FuzzLook(f *testing.F) {
	f.Add([]byte("{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1,\"title\":\"\x1b\"}\n[1.5, \"o\", \"x\"]\n"))
	f.Add([]byte("{\"version\":2}\n[1e300, \"o\", \"x\"]\n[-1, \"o\", \"\"]\n[[[["))
	f.Add([]byte("{\"version\":2,\"timestamp\":9223372036854775807,\"width\":65536}\n"))
	f.Add([]byte("{\"version\":2,\"timestamp\":9223372036854775807}\n"))
	f.Add([]byte("\n"))
	dir := f.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = root.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "x"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := look(root, "x")
		if err != nil {
			return
		}
		if r.DurationMs < 0 || r.Bytes != int64(len(text)) || r.Title != core.CleanTitle(r.Title) {
			t.Fatalf("%+v", r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzTape: whatever a program prints, in whatever pieces, each line is one JSON event.
// Together the events hold the output, with invalid text replaced.
func FuzzTape(f *testing.F) {
	f.Add([]byte("\x1b[31mh\xc3"), []byte("\xa9\xff\xf0\x9f\x98"))
	f.Add([]byte("\u2028\"\\\n\x00"), []byte("\xed\xa0\x80"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		tape := &Tape{file: file, now: clock(), ended: func() {}}
		if err := errors.Join(tape.begin(session("a")), tape.Output(a), tape.Output(b), tape.Close()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		_, events := parse(t, text)
		var got strings.Builder
		for _, e := range events {
			got.WriteString(e.data)
		}
		if want := string([]rune(string(append(append([]byte{}, a...), b...)))); got.String() != want {
			t.Fatalf("%q, want %q", got.String(), want)
		}
	})
}

func BenchmarkOutput(b *testing.B) {
	s := New(b.TempDir(), time.Now)
	tape, err := s.Begin(session("a"))
	if err != nil {
		b.Fatal(err)
	}
	defer tape.Close()
	p := bytes.Repeat([]byte("\x1b[32mdrwxr-xr-x\x1b[m 2 user user 4096 file name\r\n"), 1400)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		tape.size = 0
		if _, err := tape.file.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		if err := tape.Output(p); err != nil {
			b.Fatal(err)
		}
	}
}
