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

// TestAFileThatWasChangedIsNamed when the next is begun, and when a process begins.
func TestAFileThatWasChangedIsNamed(t *testing.T) {
	dir := written(t, noon, noon.Add(time.Second))
	file := filepath.Join(dir, "chan-2026-03-01.jsonl")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l := Open(dir)
	if err := l.Append(record(noon.Add(2*time.Second), "/untouched")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), `"allowed"`, `"denied"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Append(record(noon.Add(24*time.Hour), "/next day")); err != nil {
			t.Fatal(err)
		}
	}
	list, err := l.Read(Query{})
	if err != nil || len(list) != 5 || list[2].Kind != KindLog || list[2].Decision != "broken" || !strings.Contains(list[2].Target, "line 1") {
		t.Errorf("%+v %v", list, err)
	}
	checked, err := l.VerifyAll()
	if err != nil || len(checked) != 2 || checked[0].Err == nil || checked[0].Records == 0 {
		t.Errorf("%+v %v", checked, err)
	}
}

// TestALateRecord goes after those of the day that has begun since.
func TestALateRecord(t *testing.T) {
	dir := written(t, noon.Add(13*time.Hour), noon)
	checked, err := Open(dir).VerifyAll()
	if err != nil || len(checked) != 1 || checked[0].Err != nil || checked[0].Records != 2 || checked[0].Day != "2026-03-02" {
		t.Errorf("%+v %v", checked, err)
	}
}

// TestAMonthOfDays is one chain, of which the beginning goes.
func TestAMonthOfDays(t *testing.T) {
	var at []time.Time
	for i := range 40 {
		at = append(at, noon.Add(time.Duration(i)*24*time.Hour), noon.Add(time.Duration(i)*24*time.Hour+time.Minute))
	}
	dir := written(t, at...)
	l := Open(dir)
	checked, err := l.VerifyAll()
	if err != nil || len(checked) != 31 {
		t.Fatalf("%d files, %v", len(checked), err)
	}
	for _, c := range checked {
		if c.Err != nil || c.Records != 2 || c.Channel != "chan" {
			t.Errorf("%+v", c)
		}
	}
	if err := os.Remove(filepath.Join(dir, checked[5].File)); err != nil {
		t.Fatal(err)
	}
	if checked, err = l.VerifyAll(); err != nil || checked[4].Err != nil || checked[5].Err == nil {
		t.Errorf("a file that is gone: %+v", checked[5])
	}
}

func TestRead(t *testing.T) {
	dir := written(t, noon, noon.Add(24*time.Hour), noon.Add(25*time.Hour))
	l := Open(dir)
	r := record(noon.Add(26*time.Hour), "/other")
	r.Run, r.ID, r.Channel = "other", "abcdef", "chan2"
	if err := l.Append(r); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		q    Query
		want int
	}{
		{Query{}, 4}, {Query{Channel: "chan"}, 3}, {Query{Channel: "none"}, 0}, {Query{Run: "oth"}, 1}, {Query{ID: "abc"}, 1},
		{Query{ID: "x"}, 0}, {Query{Limit: 2}, 2}, {Query{Limit: 3, Channel: "chan"}, 3}, {Query{Limit: 1, Run: "run"}, 1},
	} {
		list, err := l.Read(tc.q)
		if err != nil || len(list) != tc.want {
			t.Errorf("%+v: %d records, %v", tc.q, len(list), err)
		}
		for i := 1; i < len(list); i++ {
			if list[i].At.Before(list[i-1].At) {
				t.Errorf("%+v: not in order", tc.q)
			}
		}
	}
	if list, err := Open(filepath.Join(dir, "none")).Read(Query{}); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
}
