package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
)

func newEditor(t *testing.T) (Editor, File) {
	t.Helper()
	home := t.TempDir()
	e := Editor{History: OpenHistory(filepath.Join(home, HistoryFolder)), Trust: OpenTrust(filepath.Join(home, TrustFileName))}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e.History.now = func() time.Time { at = at.Add(time.Second); return at }
	return e, GlobalFile(filepath.Join(home, FileName))
}

func sources(t *testing.T, h *History, f File) string {
	t.Helper()
	list, err := h.List(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		if r.Path != f.Path || r.At.IsZero() {
			t.Errorf("%+v", r)
		}
		out = append(out, fmt.Sprintf("%s+%d-%d", r.Source, r.Added, r.Removed))
	}
	return strings.Join(out, " ")
}

func TestHistory(t *testing.T) {
	e, f := newEditor(t)
	if err := e.History.Record(f, SourceExternal); err != nil || sources(t, e.History, f) != "" {
		t.Errorf("a file that is not there: %v", err)
	}
	write(t, f.Path, "{\n  \"anthropic_api_key\": \"sk-CANARY1\",\n  \"theme\": \"dark\"\n}\n")
	if err := e.Set(f, "claude_model", "opus"); err != nil {
		t.Fatal(err)
	}
	write(t, f.Path, "{\n  \"anthropic_api_key\": \"sk-CANARY2\",\n  \"theme\": \"light\"\n}\n")
	if err := e.History.Record(f, SourceExternal); err != nil {
		t.Fatal(err)
	}
	write(t, f.Path, "{\n  \"anthropic_api_key\": \"sk-CANARY3\",\n  \"theme\": \"light\"\n}\n") // only a hidden value changes
	write(t, f.Path, "{\n  \"theme\": ")
	for range 2 { // the text is half an edit
		if err := e.History.Record(f, SourceExternal); err != nil {
			t.Fatal(err)
		}
	}
	write(t, f.Path, "{\n  \"anthropic_api_key\": \"sk-CANARY3\",\n  \"theme\": \"light\"\n}\n")
	if err := e.History.Record(f, SourceExternal); err != nil {
		t.Fatal(err)
	}
	if got := sources(t, e.History, f); got != "external+1-2 settings+2-1 initial+4-0" {
		t.Errorf("%s", got)
	}
	list, _ := e.History.List(f)
	initial := list[len(list)-1]
	_, text, diff, err := e.History.Revision(list[0].ID)
	if err != nil || !strings.Contains(text, Hidden) || !strings.Contains(diff, "-  \"claude_model\": \"opus\"") {
		t.Errorf("%s %s %v", text, diff, err)
	}
	// The present key stays.
	restored, err := e.Restore(initial.ID, func(path string) (File, bool) { return GlobalFile(path), path == f.Path })
	if data, _ := os.ReadFile(f.Path); err != nil || restored.Path != f.Path || string(data) != "{\n  \"anthropic_api_key\": \"sk-CANARY3\",\n  \"theme\": \"dark\"\n}\n" {
		t.Errorf("%s %v", data, err)
	}
	if got := sources(t, e.History, f); !strings.HasPrefix(got, "restore:"+initial.ID+"+1-1 external") {
		t.Errorf("%s", got)
	}
	// A removed key does not come back.
	write(t, f.Path, "{}")
	if _, err := e.Restore(initial.ID, func(path string) (File, bool) { return GlobalFile(path), true }); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(f.Path); strings.Contains(string(data), "anthropic") || !strings.Contains(string(data), "dark") {
		t.Errorf("%s", data)
	}
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := e.History.Record(f, SourceExternal); err != nil || !strings.HasPrefix(sources(t, e.History, f), "external+0-") {
		t.Errorf("removal: %v %s", err, sources(t, e.History, f))
	}
	_ = filepath.WalkDir(filepath.Dir(f.Path), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, _ := os.ReadFile(path)
		if strings.Contains(string(data), "CANARY") {
			t.Errorf("%s has a credential", path)
		}
		if info, _ := d.Info(); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	for _, id := range []string{"", "x", "../x-1", initial.ID + "0", strings.Replace(initial.ID, "-", "/../", 1)} {
		if _, _, _, err := e.History.Revision(id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := e.Restore(initial.ID, func(string) (File, bool) { return File{}, false }); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("%v", err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	e, f := newEditor(t)
	if e.History.keep != 200 {
		t.Errorf("%d revisions", e.History.keep)
	}
	e.History.keep = 12
	for i := range 42 {
		write(t, f.Path, fmt.Sprintf("{\"claude_model\": \"m%d\"}", i))
		if err := e.History.Record(f, SourceExternal); err != nil {
			t.Fatal(err)
		}
	}
	list, err := e.History.List(f)
	if err != nil || len(list) != 12 {
		t.Fatalf("%d %v", len(list), err)
	}
	if _, text, _, err := e.History.Revision(list[len(list)-1].ID); err != nil || text != `{"claude_model": "m30"}` {
		t.Errorf("%s %v", text, err)
	}
	if _, text, _, err := e.History.Revision(list[0].ID); err != nil || text != fmt.Sprintf(`{"claude_model": "m%d"}`, 41) {
		t.Errorf("%s %v", text, err)
	}
	// A damaged file is moved aside, and the history begins anew.
	name := e.History.file(keyOf(f.Path))
	write(t, name, "{")
	if again, err := e.History.List(f); err != nil || len(again) != 0 {
		t.Errorf("%d %v", len(again), err)
	}
	if _, err := os.Stat(name + ".damaged"); err != nil {
		t.Error(err)
	}
	if err := e.Set(f, "claude_model", "next"); err != nil || sources(t, e.History, f) != "settings+1-1 initial+1-0" {
		t.Errorf("%v %s", err, sources(t, e.History, f))
	}
}

func TestHistoryOfManyAtOnce(t *testing.T) {
	e, f := newEditor(t)
	src := NewSource(f.Path)
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for n := range 10 {
				if err := e.Set(f, "claude_model", fmt.Sprintf("m%d-%d", i, n)); err != nil {
					t.Error(err)
				}
				src.Reload()
				if err := e.History.Record(f, SourceExternal); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if got := sources(t, e.History, f); strings.Count(got, "settings") != 40 || strings.Contains(got, "external") {
		t.Errorf("%s", got)
	}
}
