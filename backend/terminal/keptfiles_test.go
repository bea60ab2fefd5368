package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

func TestTerminalFiles(t *testing.T) {
	f := Files{filepath.Join(t.TempDir(), "terminals")}
	saved := func() []Saved {
		t.Helper()
		list, err := f.SavedTerminals()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if l := saved(); len(l) != 0 {
		t.Fatalf("%+v", l)
	}
	row := func(id core.TerminalID, age time.Duration) Saved {
		return Saved{Info: core.TerminalInfo{ID: id, ChannelID: "c", ContainerID: "box", Cols: 80, Rows: 24, Title: "t", CreatedAt: time.Now().Add(-age).Round(time.Millisecond), Plain: true}, Shift: 7, OpenMode: core.OpenFork}
	}
	young, old := row(core.TerminalID(core.NewID()), 0), row(core.TerminalID(core.NewID()), time.Hour)
	young.Info.Cmd = []string{"sh", "-c", strings.Repeat("\x01", 1<<20)} // the longest command that a message can carry
	for _, r := range []Saved{young, old} {
		if err := f.SaveTerminal(r); err != nil {
			t.Fatal(err)
		}
	}
	screen := []byte("first\nsecond\x00\xff")
	old.Screen, old.Offset, old.Info.Cols, old.Info.Rows = screen, 99, 100, 30
	for range 2 { // the second replaces the first
		if err := f.SaveTerminal(old); err != nil {
			t.Fatal(err)
		}
	}
	l := saved()
	if len(l) != 2 || l[0].Info.ID != old.Info.ID || l[1].Info.ID != young.Info.ID {
		t.Fatalf("%+v", l)
	}
	if g := l[0]; string(g.Screen) != string(screen) || g.Offset != 99 || g.Info.Cols != 100 || g.Info.Rows != 30 || !g.Info.Plain || g.Shift != 7 || g.OpenMode != core.OpenFork {
		t.Fatalf("%+v", g)
	}
	if g := l[1]; g.Screen != nil || g.Offset != 0 || g.Info.Cols != 80 {
		t.Fatalf("%+v", g)
	}
	for _, e := range must(os.ReadDir(f.Dir))(t) {
		if st, err := e.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), st.Mode(), err)
		}
	}

	// A damaged file costs only its own session, and is removed.
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := string(must(os.ReadFile(f.path(old.Info.ID)))(t))
	put(core.NewID()+keptSuffix, "{")
	put(core.NewID()+keptSuffix, `{"Info":{"session_id":"someone else's"}}`)
	put("notes.txt", "hello")
	put(string(young.Info.ID)+keptSuffix+".123", "torn")
	head, _, _ := strings.Cut(whole, "\n")
	put(string(old.Info.ID)+keptSuffix, head)
	if l = saved(); len(l) != 2 || l[0].Screen != nil || l[0].Offset != 0 {
		t.Fatalf("%+v", l)
	}
	put(string(old.Info.ID)+keptSuffix, strings.Replace(whole, `"Offset":99`, `"Offset":-4`, 1))
	if l = saved(); len(l) != 1 {
		t.Fatalf("%+v", l)
	}
	if n := len(must(os.ReadDir(f.Dir))(t)); n != 1 {
		t.Errorf("%d files are left", n)
	}
	for _, id := range []core.TerminalID{old.Info.ID, old.Info.ID, young.Info.ID, "../../etc/passwd"} {
		if err := f.DropTerminal(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveTerminal(Saved{Info: core.TerminalInfo{ID: "../x"}}); err == nil {
		t.Error("a path was taken for an id")
	}
	if n := len(must(os.ReadDir(f.Dir))(t)); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
