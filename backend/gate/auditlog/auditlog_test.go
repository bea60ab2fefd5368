package auditlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func record(at time.Time, target string) Record {
	return Record{At: at, Channel: "chan", Run: "run", Spawn: "spawn", Kind: "file", Operation: "write", Target: target,
		Decision: "allowed", By: "window", Calls: 1, Policy: "1"}
}

func written(t *testing.T, at ...time.Time) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "audit")
	l := Open(dir)
	for _, one := range at {
		if err := l.Append(record(one, "/x\n<y>\u2028")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRecordsFollowEachOther(t *testing.T) {
	dir := written(t, noon, noon.Add(time.Second))
	first := filepath.Join(dir, "chan-2026-03-01.jsonl")
	if err := Open(dir).Append(record(noon.Add(2*time.Second), "/after a restart")); err != nil {
		t.Fatal(err)
	}
	n, before, err := Verify(first)
	if n != 3 || before != "" || err != nil {
		t.Fatalf("%d records after %q: %v", n, before, err)
	}
	if info, err := os.Stat(first); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// The next day's file goes on with the chain, as one more process sees it.
	if err := Open(dir).Append(record(noon.Add(24*time.Hour), "/next day")); err != nil {
		t.Fatal(err)
	}
	if _, before, err = Verify(filepath.Join(dir, "chan-2026-03-02.jsonl")); before == "" || err != nil {
		t.Errorf("the next day begins anew: %v", err)
	}
}

func TestWhatWasChangedShows(t *testing.T) {
	dir := written(t, noon, noon.Add(time.Second), noon.Add(2*time.Second))
	file := filepath.Join(dir, "chan-2026-03-01.jsonl")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
	for name, text := range map[string]string{
		"a word":         strings.Replace(string(raw), `"allowed"`, `"denied"`, 1),
		"taken out":      lines[0] + lines[2] + "\n",
		"put in twice":   lines[0] + lines[0] + lines[1] + lines[2] + "\n",
		"other order":    lines[1] + lines[0] + lines[2] + "\n",
		"more white":     strings.Replace(string(raw), `{"ts"`, `{ "ts"`, 1),
		"a field more":   strings.Replace(string(raw), `{"ts"`, `{"x":1,"ts"`, 1),
		"no JSON":        lines[0] + "hello\n",
		"the end is cut": strings.TrimSuffix(string(raw), "}\n"),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Verify(file)
		if _, ok := errors.AsType[*BrokenError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAComputerThatWentDown left half a record, which nobody was told of.
func TestAComputerThatWentDown(t *testing.T) {
	dir := written(t, noon)
	file := filepath.Join(dir, "chan-2026-03-01.jsonl")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(raw, `{"ts":"2026`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Append(record(noon.Add(time.Second), "/x")); err != nil {
		t.Fatal(err)
	}
	if n, _, err := Verify(file); n != 2 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestOldFilesGo(t *testing.T) {
	dir := written(t, noon.Add(-Retention-25*time.Hour), noon.Add(-Retention+time.Hour))
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Append(record(noon, "/x")); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Open(filepath.Join(file, "audit")).Append(record(noon, "/x")); err == nil {
		t.Error("no error")
	}
	r := record(noon, "/x")
	r.Channel = "../../etc"
	if err := Open(t.TempDir()).Append(r); err == nil {
		t.Error("a channel became a path")
	}
}

func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	l := Open(dir)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := l.Append(record(noon, "/x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n, _, err := Verify(filepath.Join(dir, "chan-2026-03-01.jsonl")); n != 50 || err != nil {
		t.Errorf("%d records, %v", n, err)
	}
}
