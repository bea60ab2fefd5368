package pagememory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
)

func TestPageMemory(t *testing.T) {
	home := t.TempDir()
	open := func() *File {
		m, err := Open(home)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open()
	if got := m.All(); got == nil || len(got) != 0 {
		t.Fatalf("%v", got)
	}
	for _, bad := range []string{"", "A", "a/b", "../x", "a b", strings.Repeat("a", 81), "a\x00"} {
		if err := m.Keep(bad, "x"); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := m.Keep("a", strings.Repeat("x", maxMemoryValue+1)); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("too long: %v", err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := m.Keep(fmt.Sprintf("dock.%d", i), "layout"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := m.Keep("dock.0", ""); err != nil {
		t.Fatal(err)
	}
	if got := open().All(); len(got) != 19 || got["dock.1"] != "layout" {
		t.Errorf("%v", got)
	}
	if info, err := os.Stat(filepath.Join(home, fileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	m.All()["dock.1"] = "changed by a reader"
	if m.All()["dock.1"] != "layout" {
		t.Error("a reader changed what is kept")
	}
	for i := range maxMemoryKeys {
		m.kept[fmt.Sprintf("k%d", i)] = "x"
	}
	if err := m.Keep("more", "x"); core.AsFailure(err).Code != core.CodeTooMany || m.All()["more"] != "" {
		t.Errorf("too many: %v", err)
	}
}

// TestPageMemoryThatIsRubbish: Loop starts and keeps the entries that it can use.
func TestPageMemoryThatIsRubbish(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"a":1}`, "\x00\xff"} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, fileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(home)
		if err == nil || len(m.All()) != 0 {
			t.Errorf("%q: %v, %v", text, m.All(), err)
		}
		if err := m.Keep("a", "b"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, fileName), []byte(`{"a":"1","../b":"2"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Open(home); err != nil || len(m.All()) != 1 {
		t.Errorf("%v, %v", m.All(), err)
	}
}
