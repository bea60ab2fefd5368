package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLogIsBounded: an agent can make Loop log without end. The log does not fill the
// disk, however long Loop runs, and no line is cut or lost on the way.
func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loop.log")
	log, end, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 64<<10)
	const lines, writers = 200, 4
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range lines {
				log.Info("guest request refused", "err", text)
			}
		})
	}
	wg.Wait()
	log.Info("last")
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v %v", entries, err)
	}
	for _, name := range []string{path, path + ".old"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxLogBytes+(1<<20) {
			t.Errorf("%s has %d bytes", name, len(data))
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
			if !strings.HasPrefix(line, "time=") {
				t.Fatalf("%s has a line %.60q", name, line)
			}
		}
		if name == path && !strings.HasSuffix(string(data), "msg=last\n") {
			t.Error("the last line is not at the end of the log")
		}
	}
}

// TestLevelChanges: the log follows the new level at once.
func TestLevelChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loop.log")
	log, end, err := Open(Options{Path: path, Level: "warn"})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("one")
	end.SetLevel("debug")
	log.Debug("two")
	end.SetLevel("nonsense") // counts as info
	log.Debug("three")
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if text := string(data); err != nil || strings.Contains(text, "one") || !strings.Contains(text, "two") || strings.Contains(text, "three") {
		t.Errorf("%s %v", data, err)
	}
}
