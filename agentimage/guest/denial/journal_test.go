//go:build linux

package denial

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func journal(t *testing.T) (*Journal, string) {
	path := filepath.Join(t.TempDir(), "a.denied")
	j := Open(path, slog.New(slog.DiscardHandler))
	t.Cleanup(j.Close)
	return j, path
}

func read(t *testing.T, path string) []Denial {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > MaxJournal {
		t.Fatalf("the journal has %d bytes", len(data))
	}
	list := parse(data)
	if len(list) != strings.Count(string(data), "\n") {
		t.Fatalf("not every line is one: %q", data)
	}
	return list
}

func TestJournalIsThereBeforeTheCallerKnows(t *testing.T) {
	j, path := journal(t)
	if _, err := os.Stat(path); err == nil {
		t.Error("a journal without denials has a file")
	}
	j.Add(Denial{At: 7, Call: "renameat2", Operation: "write", Target: "/a\xff\n", By: "person", PID: 9})
	list := read(t, path)
	if want := (Denial{Number: 1, At: 7, Call: "renameat2", Operation: "write", Target: "/a\ufffd\n", By: "person", PID: 9}); len(list) != 1 || list[0] != want {
		t.Fatalf("%+v", list)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", st.Mode(), err)
	}
}

// TestJournalKeepsTheLatest: it is bounded, loses nothing of what is new, and a reader of
// any moment finds whole lines.
func TestJournalKeepsTheLatest(t *testing.T) {
	j, path := journal(t)
	long := strings.Repeat("\x01", 3*maxField) // six bytes each in JSON
	var adding sync.WaitGroup
	for range 4 {
		adding.Go(func() {
			for range 100 {
				j.Add(Denial{Target: long, Why: long})
			}
		})
	}
	for range 50 {
		if _, err := os.Stat(path); err == nil {
			read(t, path)
		}
	}
	adding.Wait()
	list := read(t, path)
	if len(list) == 0 || list[len(list)-1].Number != 400 {
		t.Fatalf("%d lines", len(list))
	}
	for i, d := range list[1:] {
		if d.Number != list[i].Number+1 {
			t.Errorf("%d after %d", d.Number, list[i].Number)
		}
	}
	if _, err := os.Stat(path + TempSuffix); err == nil {
		t.Error("the temporary file is left")
	}
}

// TestJournalThatCannotBeWritten holds nobody up, and nor does one that is closed.
func TestJournalThatCannotBeWritten(t *testing.T) {
	j := Open(filepath.Join(t.TempDir(), "none", "a.denied"), slog.New(slog.DiscardHandler))
	j.Add(Denial{})
	j.Add(Denial{})
	j.Close()
	j.Add(Denial{})
	j.Close()
}

// TestJournalFollowsNoLink: what the folder's owner did not make is not written to.
func TestJournalFollowsNoLink(t *testing.T) {
	j, path := journal(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, path); err != nil {
		t.Fatal(err)
	}
	j.Add(Denial{})
	if _, err := os.Stat(other); err == nil {
		t.Error("a link was followed")
	}
}
