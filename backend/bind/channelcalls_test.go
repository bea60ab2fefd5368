package bind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// TestTimelineOfTheNewestPage: the live message is read before the stored events. A
// message that is completed in between is then not lost.
func TestTimelineOfTheNewestPage(t *testing.T) {
	for _, before := range []int64{0, -1} {
		f := &fake{live: &core.LiveMessage{MsgID: "m", Blocks: []core.LiveBlock{}}}
		p, err := newChannels(f).Timeline("c", before, 0)
		if err != nil {
			t.Fatal(err)
		}
		if f.did() != "get live timeline queue" || f.id != "c" {
			t.Errorf("before %d: asked %q of %q", before, f.did(), f.id)
		}
		if p.Live == nil || !p.HasMore {
			t.Errorf("%+v", p)
		}
		noNull(t, p, "events", "queue")
	}
}

func TestTimelineOfAnOlderPage(t *testing.T) {
	f := &fake{live: &core.LiveMessage{}}
	p, err := newChannels(f).Timeline("c", 40, 10)
	if err != nil {
		t.Fatal(err)
	}
	// The live message and the queue belong to the newest page only.
	if f.did() != "get timeline" || f.beforeID != 40 || f.limit != 10 || p.Live != nil {
		t.Errorf("asked %q before %d, limit %d: %+v", f.did(), f.beforeID, f.limit, p)
	}
	noNull(t, p, "events", "queue")
}

func TestLimitsAreBounded(t *testing.T) {
	for _, tc := range []struct{ asked, page, history int }{
		{-5, 200, 1}, {0, 200, 1}, {1, 1, 1}, {150, 150, 150}, {999, 999, 200}, {1 << 40, 1000, 200},
	} {
		f := &fake{}
		c := newChannels(f)
		if _, err := c.Timeline("c", 0, tc.asked); err != nil || f.limit != tc.page {
			t.Errorf("timeline of %d asks the store for %d, %v", tc.asked, f.limit, err)
		}
		if _, err := c.History("c", "", tc.asked); err != nil || f.limit != tc.history {
			t.Errorf("history of %d asks the store for %d, %v", tc.asked, f.limit, err)
		}
	}
}

// TestNothingIsReadOfAChannelThatIsGone: the store would answer an empty
// timeline for any id.
func TestNothingIsReadOfAChannelThatIsGone(t *testing.T) {
	f := &fake{err: core.Fail(core.CodeNotFound, nil, "That channel is gone.", "Reload.")}
	p, err := newChannels(f).Timeline("gone", 0, 10)
	wantCode(t, err, core.CodeNotFound)
	if f.did() != "get" || p.Events != nil {
		t.Errorf("asked %q, answered %+v", f.did(), p)
	}
}

func TestChannelListsAreNeverNull(t *testing.T) {
	c := newChannels(&fake{})
	list, err := c.List()
	if data, _ := json.Marshal(list); err != nil || string(data) != "[]" {
		t.Errorf("%s, %v", data, err)
	}
	history, err := c.History("c", "", 10)
	if data, _ := json.Marshal(history); err != nil || string(data) != "[]" {
		t.Errorf("%s, %v", data, err)
	}
}

// TestErrorsComeThrough: every call passes a failure to the page unchanged.
func TestErrorsComeThrough(t *testing.T) {
	want := core.Fail(core.CodeDatabase, errors.New("disk"), "The database cannot be read.", "Free some space.")
	f := &fake{err: fmt.Errorf("list: %w", want)}
	c, r, s := newChannels(f), &bind.Runs{Ctx: t.Context(), Service: fakeRuns{fake: f}}, newSystem(f)
	for name, call := range map[string]func() error{
		"Channels.List":     func() error { _, err := c.List(); return err },
		"Channels.Add":      func() error { _, err := c.Add("/d", "n"); return err },
		"Channels.Demo":     func() error { _, err := c.Demo(); return err },
		"Channels.Rename":   func() error { return c.Rename("c", "n") },
		"Channels.Remove":   func() error { return c.Remove("c") },
		"Channels.History":  func() error { _, err := c.History("c", "", 1); return err },
		"Runs.Prompt":       func() error { _, err := r.Prompt(bind.PromptRequest{}); return err },
		"Runs.Cancel":       func() error { return r.Cancel("r") },
		"Runs.Remove":       func() error { return r.Remove("r") },
		"Runs.Retry":        func() error { _, err := r.Retry("r"); return err },
		"System.Snapshot":   func() error { _, err := s.Snapshot(); return err },
		"System.BuildImage": s.BuildImage,
	} {
		if got := core.AsFailure(call()); got != want {
			t.Errorf("%s answers %v", name, got)
		}
	}
}

func TestPickFolder(t *testing.T) {
	c := newChannels(&fake{})
	_, err := c.PickFolder()
	wantCode(t, err, "no_native_dialog")
	for _, picked := range []string{"/somewhere", ""} { // an empty path means that the person closed the dialog
		c.Window = fakeWindow{fake: &fake{picked: picked}}
		if got, err := c.PickFolder(); err != nil || got != picked {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"beta", ".hidden", "alpha", "Alpha"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"linked": "alpha", "dangling": "nowhere", "tofile": "file", "loop": "loop"} {
		if err := os.Symlink(filepath.Join(dir, target), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	c := newChannels(&fake{})
	for _, path := range []string{dir, dir + "/", filepath.Join(dir, "beta", "..")} {
		list, err := c.Folders(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list.Entries {
			names = append(names, e.Name)
			if e.Path != filepath.Join(dir, e.Name) {
				t.Errorf("%q is at %q", e.Name, e.Path)
			}
		}
		if want := []string{"Alpha", "alpha", "beta", "linked", ".hidden"}; !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
		if list.Path != dir || list.Parent != filepath.Dir(dir) {
			t.Errorf("%q in %q", list.Path, list.Parent)
		}
	}
	empty, err := c.Folders(filepath.Join(dir, "alpha"))
	if err != nil {
		t.Fatal(err)
	}
	noNull(t, empty, "entries")
}

func TestFoldersThatCannotBeShown(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "gone"), file, "a\x00b"} {
		_, err := newChannels(&fake{}).Folders(path)
		wantCode(t, err, core.CodeDir)
	}
}

// TestFoldersStartAtHome, or at the root when no home is found.
func TestFoldersStartAtHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	list, err := newChannels(&fake{}).Folders("")
	if err != nil || list.Path != home {
		t.Errorf("%q, %v", list.Path, err)
	}
}

// TestFoldersAreBounded: when there are too many folders, hidden ones are left out
// first.
func TestFoldersAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 1500 {
		for _, name := range []string{".h", "v"} {
			if err := os.Mkdir(filepath.Join(dir, fmt.Sprintf("%s%04d", name, i)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := newChannels(&fake{}).Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list.Entries); n != 2000 || list.Entries[0].Name != "v0000" || list.Entries[1499].Name != "v1499" || list.Entries[1500].Name != ".h0000" {
		t.Errorf("%d folders, the first is %v", n, list.Entries[0])
	}
}
