package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// child writes files of a project's own image.
func child(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, ProjectFolder, ImageFolder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
	}
	return dir
}

const twoLines = "FROM loop-agent\nCOPY tool /usr/bin/tool\n"

// TestImageWaits: the image counts once it was approved, and no more once a byte of what is
// sent to the builder changed.
func TestImageWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), TrustFileName)
	g, trust := global(t, `{}`), OpenTrust(path)
	dir := child(t, t.TempDir(), map[string]string{"Dockerfile": twoLines, "tool": "#!/bin/sh\n", "more/bin": "\x00\xff"})
	e := ForDir(g, trust, dir, "")
	if e.Err != nil || e.Child != nil || len(e.Pending) != 1 || len(e.Approved) != 0 {
		t.Fatalf("%+v", e)
	}
	p := e.Pending[0]
	if p.Path != ImagePath(dir) || len(p.Fields) != 1 || p.Fields[0] != "image" {
		t.Errorf("%+v", p)
	}
	for _, want := range []string{"+FROM loop-agent\n", "+#!/bin/sh\n", `+=== "more/bin": 2 bytes that are not text, SHA-256 `} {
		if !strings.Contains(p.Diff, want) {
			t.Errorf("%q is not in\n%s", want, p.Diff)
		}
	}
	if w := strings.Join(e.Waiting(false), "\n"); !strings.Contains(w, "goes without its image") || !strings.Contains(w, "loop config trust") {
		t.Errorf("notice %q", w)
	}
	file := ProjectFile(dir).Toolchains()[0]
	if err := trust.Approve(file, strings.Repeat("0", 64)); !errors.Is(err, core.ErrConflict) {
		t.Errorf("another sum: %v", err)
	}
	if err := trust.Approve(file, p.SHA256); err != nil {
		t.Fatal(err)
	}
	trust = OpenTrust(path)
	e = ForDir(g, trust, dir, "")
	if e.Child == nil || len(e.Pending) != 0 || len(e.Approved) != 1 || e.Approved[0] != ImagePath(dir) {
		t.Fatalf("approved: %+v", e)
	}
	if c := e.Child; c.Sum != p.SHA256 || c.Base != "loop-agent:latest" || c.Dir != dir || c.Layer != core.LayerProject ||
		string(c.Files["more/bin"]) != "\x00\xff" || len(c.Files) != 3 {
		t.Errorf("%+v", c)
	}
	shared := global(t, `{"container_scope": "shared"}`)
	if e := ForDir(shared, trust, dir, ""); e.Config.ContainerScope != sandbox.ScopeSession || !strings.Contains(strings.Join(e.Notices, ""), "says another image") {
		t.Errorf("the container of all has the project's image: %+v", e.Notices)
	}
	// It is an approval of this, and not of the project's settings.
	project(t, dir, `{"container_image": "mine:1"}`)
	if e = ForDir(g, trust, dir, ""); len(e.Pending) != 1 || e.Pending[0].Path != ProjectPath(dir) || e.Child == nil {
		t.Errorf("settings beside it: %+v", e.Pending)
	}
	for name, text := range map[string]string{"tool": "#!/bin/bash\n", "new": "", "more/bin": "\x00\xfe"} {
		child(t, dir, map[string]string{name: text})
		e = ForDir(g, trust, dir, "")
		if e.Child != nil || len(e.Pending) != 2 || strings.Contains(e.Pending[1].Diff, "+FROM") {
			t.Errorf("%s changed: %+v", name, e)
		}
	}
	if err := trust.Revoke(file); err != nil || OpenTrust(path).approved(file.key(), p.SHA256) {
		t.Errorf("revoked: %v", err)
	}
}

// TestImageText: what is approved as one is no other's.
func TestImageText(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range []map[string][]byte{
		{"Dockerfile": []byte("a")}, {"Dockerfile": []byte("a\n")}, {"Dockerfile": nil, "a": nil}, {"Dockerfile": nil, "b": nil},
		{"Dockerfile": []byte("\n=== \"a\": 0 bytes\n")}, {"Dockerfile": []byte("\x00")}, {"Dockerfile": []byte("\xff")},
		{"Dockerfile": nil, "a\nb": nil}, {"Dockerfile": nil, "x": []byte("a"), "y": []byte("b")}, {"Dockerfile": nil, "x": []byte("b"), "y": []byte("a")},
	} {
		text := string(imageText(files))
		if seen[text] {
			t.Errorf("%v reads like another: %q", files, text)
		}
		seen[text] = true
	}
}

// TestImageOfWorktree: what was approved for the project is for its worktrees; what differs
// there waits, and the project's goes on.
func TestImageOfWorktree(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	dir := child(t, t.TempDir(), map[string]string{"Dockerfile": "FROM loop-agent\n"})
	tree := child(t, filepath.Join(dir, ".worktrees", "fix"), map[string]string{"Dockerfile": "FROM loop-agent\n"})
	e := ForDir(g, trust, tree, dir)
	if len(e.Pending) != 1 || e.Pending[0].Path != ImagePath(dir) {
		t.Fatalf("one text is asked for once: %+v", e.Pending)
	}
	if err := trust.Approve(ProjectFile(dir).Toolchains()[0], e.Pending[0].SHA256); err != nil {
		t.Fatal(err)
	}
	if e = ForDir(g, trust, tree, dir); e.Child == nil || e.Child.Dir != dir || len(e.Pending) != 0 {
		t.Fatalf("%+v", e)
	}
	child(t, tree, map[string]string{"Dockerfile": "FROM loop-agent\nRUN evil\n"})
	e = ForDir(g, trust, tree, dir)
	if e.Child == nil || e.Child.Dir != dir || len(e.Pending) != 1 || e.Pending[0].Path != ImagePath(tree) {
		t.Fatalf("%+v", e)
	}
	if err := trust.Approve(WorktreeFile(tree, dir).Toolchains()[0], e.Pending[0].SHA256); err != nil {
		t.Fatal(err)
	}
	if e = ForDir(g, trust, tree, dir); e.Child == nil || e.Child.Dir != tree || e.Child.Layer != core.LayerWorktree {
		t.Errorf("%+v", e.Child)
	}
}

// TestImageRefused: what cannot be used does not stop the project's runs before anybody approved
// it; afterwards it does, because the person wants it.
func TestImageRefused(t *testing.T) {
	many := map[string]string{"Dockerfile": "FROM loop-agent\n"}
	for i := range MaxImageFiles {
		many["f"+strconv.Itoa(i)] = ""
	}
	for want, files := range map[string]map[string]string{
		"“debian”":               {"Dockerfile": "FROM debian"},
		"more than 64 files":     many,
		"larger than 1 MiB":      {"Dockerfile": "FROM loop-agent\n", "big": strings.Repeat("x", MaxImageBytes)},
		"nested more than 8":     {"Dockerfile": "FROM loop-agent\n", "1/2/3/4/5/6/7/8/9/10/x": ""},
		"Dockerfile is not a fi": {"Dockerfile/x": ""},
	} {
		e := ForDir(global(t, `{}`), new(Trust), child(t, t.TempDir(), files), "")
		if e.Err != nil || e.Child != nil || len(e.Pending) != 0 || len(e.Problems) != 1 || !e.Problems[0].Warning ||
			!strings.Contains(e.Problems[0].Message, want) || !strings.Contains(strings.Join(e.Waiting(false), ""), want) {
			t.Errorf("%s: %v %+v", want, e.Err, e.Problems)
		}
	}
	trust := OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	dir := child(t, t.TempDir(), map[string]string{"Dockerfile": "FROM mine:1"})
	e := ForDir(global(t, `{"container_image": "mine:1"}`), trust, dir, "")
	if err := trust.Approve(ProjectFile(dir).Toolchains()[0], e.Pending[0].SHA256); err != nil {
		t.Fatal(err)
	}
	e = ForDir(global(t, `{"container_image": "other:1"}`), trust, dir, "")
	if f := core.AsFailure(e.Err); e.Err == nil || f.Code != core.CodeConfig || !strings.Contains(f.Cause, "“mine:1”") || e.Child != nil {
		t.Errorf("%v", e.Err)
	}
}

// TestImageThatIsWrittenMeanwhile: files that come and go while their folder is read never make
// the project one without an image of its own.
func TestImageThatIsWrittenMeanwhile(t *testing.T) {
	dir := child(t, t.TempDir(), map[string]string{"Dockerfile": "FROM loop-agent\n", "a": "x", "sub/b": "x"})
	folder := filepath.Join(dir, ProjectFolder, ImageFolder)
	end, ended := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-end:
				ended <- nil
				return
			default:
			}
			for _, name := range []string{"a", "sub"} {
				from, to := filepath.Join(folder, name), filepath.Join(folder, name+"2")
				if err := errors.Join(os.Rename(from, to), os.Rename(to, from)); err != nil {
					<-end
					ended <- err
					return
				}
			}
		}
	}()
	g, trust := global(t, `{}`), new(Trust)
	for range 500 {
		if e := ForDir(g, trust, dir, ""); e.Undecided == "" && e.Err == nil {
			t.Errorf("a run goes without it: %+v", e.Problems)
			break
		}
	}
	close(end)
	if err := <-ended; err != nil && runtime.GOOS != "windows" { // where what is open cannot be renamed
		t.Fatal(err)
	}
}

// TestSettled: what changed is read again, and not without end.
func TestSettled(t *testing.T) {
	for changes, want := range map[int]error{0: nil, 1: nil, 4: nil, 5: errSwapped, 100: errSwapped} {
		n := 0
		_, err := settled(func() (recipe, error) {
			if n++; n <= changes {
				return recipe{}, fmt.Errorf("%w: x", errSwapped)
			}
			return recipe{}, nil
		})
		if !errors.Is(err, want) || n > 5 {
			t.Errorf("%d changes: %v after %d", changes, err, n)
		}
	}
}

// TestImageFollowsNoLink: an agent could have a link send files of the person's to the builder.
func TestImageFollowsNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // where making one needs a right
	}
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, "CANARY")
	for name, at := range map[string]string{"file": "x", "dockerfile": "Dockerfile", "folder": "sub"} {
		dir := child(t, t.TempDir(), map[string]string{"Dockerfile": "FROM loop-agent\n"})
		path, to := filepath.Join(dir, ProjectFolder, ImageFolder, at), secret
		if name == "folder" {
			to = filepath.Dir(secret)
		}
		_ = os.Remove(path) // the Dockerfile, where it is the link
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		e := ForDir(global(t, `{}`), new(Trust), dir, "")
		if e.Child != nil || len(e.Pending) != 0 || len(e.Problems) != 1 || !strings.Contains(e.Problems[0].Message, "Links are not followed") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	dir := t.TempDir()
	other := child(t, t.TempDir(), map[string]string{"Dockerfile": "FROM loop-agent\n"})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ProjectFolder), 0o755),
		os.Symlink(filepath.Join(other, ProjectFolder, ImageFolder), filepath.Join(dir, ProjectFolder, ImageFolder))); err != nil {
		t.Fatal(err)
	}
	if e := ForDir(global(t, `{}`), new(Trust), dir, ""); len(e.Problems) != 1 || !strings.Contains(e.Problems[0].Message, "is a link") {
		t.Errorf("%+v", e)
	}
}
