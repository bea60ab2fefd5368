//go:build unix

package filebridge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/wire"
)

// world is a channel with a project, a folder that may only be read, and a copy.
type world struct {
	dir        string
	mounts     []core.Mount
	containers []core.Container
	asked      []wire.FileRequest
	tmpfs      []core.Tmpfs
	answer     string
	code       int
	hangs      bool
}

func (w *world) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id != "ch" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id}, nil
}

func (w *world) Look(context.Context, provision.Want) (spec core.Spec, err error) {
	spec.Mounts, spec.Tmpfs, spec.WorkDir = w.mounts, w.tmpfs, w.dir+"/p"
	return spec, nil
}

func (w *world) Scopes(context.Context, core.Channel) ([]string, error) { return []string{"s"}, nil }

func (w *world) InScopes(...string) []core.Container { return w.containers }

func (w *world) Open(context.Context, core.Container) (core.Link, error) {
	return &filesLink{w: w}, nil
}

func (w *world) Policy(name string, _ core.Channel, _ core.Spec, _ core.SpawnID) ([]byte, error) {
	return []byte(name), nil
}

// filesLink plays “loop files” in a container.
type filesLink struct {
	core.Link
	w *world
}

func (l *filesLink) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	var r wire.FileRequest
	if err := json.Unmarshal(req.Stdin, &r); err != nil {
		return core.SpawnInfo{}, err
	}
	if string(req.Policy) != "system" {
		return core.SpawnInfo{}, errors.New("the program is not supervised")
	}
	l.w.asked = append(l.w.asked, r)
	return core.SpawnInfo{ID: req.ID}, nil
}

func (l *filesLink) ReadHeld(_ context.Context, _ core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	if l.w.hangs {
		r, _ := io.Pipe()
		return r, nil
	}
	if stream == "out" {
		return io.NopCloser(strings.NewReader(l.w.answer)), nil
	}
	return io.NopCloser(strings.NewReader("")), nil
}

func (l *filesLink) Wait(context.Context, core.SpawnID) (core.ExitStatus, error) {
	return core.ExitStatus{Code: l.w.code}, nil
}

func (l *filesLink) Kill(context.Context, core.SpawnID) error { return nil }
func (l *filesLink) Close() error                             { return nil }

func newWorld(t *testing.T) (*world, *Service) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"p/.loop", "p/.git/hooks", "p/sub/deep", "read", "copy", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{dir: dir, mounts: []core.Mount{
		{Source: dir + "/p", Target: dir + "/p"},
		{Source: dir + "/p/.loop", Target: dir + "/p/.loop", ReadOnly: true},
		{Source: dir + "/p/.git/hooks", Target: dir + "/p/.git/hooks", ReadOnly: true},
		{Source: dir + "/read", Target: "/agent", ReadOnly: true},
		{Source: dir + "/copy", Target: "/workspace"},
		{Source: dir + "/one.txt", Target: "/mnt/one.txt"},
		{Source: "vol", Target: "/vol", Volume: true},
	}}
	w.put(t, "p/a.txt", "one")
	w.put(t, "p/.loop/config.json", "{}")
	w.put(t, "read/r.txt", "r")
	w.put(t, "copy/c.txt", "c")
	w.put(t, "one.txt", "1")
	w.put(t, "outside/secret", "s3cret")
	return w, New(Options{Channels: w, Provision: w, Containers: w, Links: w, Policies: w})
}

func (w *world) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func (w *world) link(t *testing.T, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(w.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) text(name string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func codeOf(err error) core.Code {
	if err == nil {
		return ""
	}
	return core.AsFailure(err).Code
}

func TestRead(t *testing.T) {
	w, s := newWorld(t)
	w.link(t, "p/to-a", "sub/../a.txt")
	w.link(t, "p/to-read", "/agent/r.txt")
	w.link(t, "p/sub/up", "..")
	w.link(t, "p/round", "round")
	w.link(t, "p/out", w.dir+"/outside/secret")
	w.link(t, "p/dots", "../outside/secret")
	if err := syscall.Mkfifo(w.dir+"/p/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path, text, seen string
		readOnly         bool
		code             core.Code
	}{
		{"a.txt", "one", w.dir + "/p/a.txt", false, ""},
		{w.dir + "/p/./sub/../a.txt", "one", w.dir + "/p/a.txt", false, ""},
		{"to-a", "one", w.dir + "/p/a.txt", false, ""},
		{"sub/up/sub/up/a.txt", "one", w.dir + "/p/a.txt", false, ""},
		{"to-read", "r", "/agent/r.txt", true, ""},
		{"/workspace/c.txt", "c", "/workspace/c.txt", false, ""},
		{w.dir + "/copy/c.txt", "c", "/workspace/c.txt", false, ""}, // this computer's path
		{w.dir + "/read/r.txt", "r", "/agent/r.txt", true, ""},
		{"/mnt/one.txt", "1", "/mnt/one.txt", false, ""},
		{".loop/config.json", "{}", w.dir + "/p/.loop/config.json", true, ""},
		{"gone", "", "", false, core.CodeNotFound},
		{"sub/gone/x", "", "", false, core.CodeNotFound},
		{"a.txt/x", "", "", false, core.CodeInvalid},
		{"/mnt/one.txt/x", "", "", false, core.CodeInvalid},
		{"sub", "", "", false, core.CodeInvalid},
		{"pipe", "", "", false, core.CodeInvalid},
		{"round", "", "", false, core.CodeInvalid},
		{".LOOP/config.json", "", "", false, core.CodeForbidden},
		{"a\nb", "", "", false, core.CodeInvalid},
		// No container runs, and only that could have these.
		{"out", "", "", false, core.CodeNotFound},
		{"dots", "", "", false, core.CodeNotFound},
		{"/etc/passwd", "", "", false, core.CodeNotFound},
		{"../../../../../../etc/passwd", "", "", false, core.CodeNotFound},
		{"/vol/x", "", "", false, core.CodeNotFound},
	} {
		got, err := s.Read(t.Context(), "ch", tc.path, 100)
		if codeOf(err) != tc.code || string(got.Data) != tc.text {
			t.Errorf("%s: %q %v, want %q %q", tc.path, got.Data, err, tc.text, tc.code)
		}
		if err == nil && (got.Path != tc.seen || got.ReadOnly != tc.readOnly || !got.Whole || got.Mark == "" || got.HostPath == "") {
			t.Errorf("%s: %+v", tc.path, got)
		}
	}
	if got, err := s.Read(t.Context(), "ch", "a.txt", 2); err != nil || string(got.Data) != "on" || got.Whole || got.Mark != "" || got.Bytes != 3 {
		t.Errorf("a part: %+v %v", got, err)
	}
	if _, err := s.Read(t.Context(), "gone", "a.txt", 2); codeOf(err) != core.CodeNotFound {
		t.Error(err)
	}
}

func TestWrite(t *testing.T) {
	w, s := newWorld(t)
	ctx := t.Context()
	w.link(t, "p/to-a", "a.txt")
	w.link(t, "p/cfg", ".loop")
	w.link(t, "p/fresh", "sub/fresh.txt")
	one := markOf([]byte("one"))
	for _, tc := range []struct {
		path, mark string
		code       core.Code
	}{
		{"a.txt", "", core.CodeConflict},
		{"a.txt", markOf([]byte("two")), core.CodeConflict},
		{"gone.txt", one, core.CodeNotFound},
		{".loop/config.json", markOf([]byte("{}")), core.CodeForbidden},
		{".loop/new", "", core.CodeForbidden},
		{"cfg/new", "", core.CodeForbidden},
		{"cfg/config.json", markOf([]byte("{}")), core.CodeForbidden},
		{".git/hooks/pre-commit", "", core.CodeForbidden},
		{"/agent/new", "", core.CodeForbidden},
		{"/mnt/one.txt", markOf([]byte("1")), core.CodeForbidden}, // its inode is what is mounted
		{"sub", one, core.CodeInvalid},
		{"to-a", one, ""},
		{"fresh", "", ""},
		{"sub/new.txt", "", ""},
	} {
		if err := s.Write(ctx, "ch", tc.path, []byte("new"), tc.mark); codeOf(err) != tc.code {
			t.Errorf("%s: %v, want %q", tc.path, err, tc.code)
		}
	}
	if w.text("p/a.txt") != "new" || w.text("p/sub/fresh.txt") != "new" || w.text("p/sub/new.txt") != "new" || w.text("p/.loop/config.json") != "{}" {
		t.Error("the contents are not those that were written")
	}
	if info, err := os.Stat(w.dir + "/p/a.txt"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v %v", info.Mode(), err)
	}
	if info, err := os.Lstat(w.dir + "/p/to-a"); err != nil || info.Mode().IsRegular() {
		t.Error("the link became a file")
	}
	if err := s.Write(ctx, "ch", "big", make([]byte, wire.MaxFileBytes+1), ""); codeOf(err) != core.CodeInvalid {
		t.Error(err)
	}
	if got, err := filepath.Glob(w.dir + "/p/*.tmp"); err != nil || len(got) > 0 {
		t.Errorf("left behind: %q %v", got, err)
	}
}

func TestFoldersAndNames(t *testing.T) {
	w, s := newWorld(t)
	ctx := t.Context()
	w.link(t, "p/l", "a.txt")
	for _, tc := range []struct {
		what string
		err  error
		code core.Code
	}{
		{"mkdir", s.Mkdir(ctx, "ch", "d"), ""},
		{"mkdir again", s.Mkdir(ctx, "ch", "d"), core.CodeConflict},
		{"mkdir below nothing", s.Mkdir(ctx, "ch", "x/y"), core.CodeNotFound},
		{"mkdir read-only", s.Mkdir(ctx, "ch", "/agent/d"), core.CodeForbidden},
		{"rename", s.Rename(ctx, "ch", "a.txt", "d/b.txt"), ""},
		{"rename in its folder", s.Rename(ctx, "ch", "d/b.txt", "d/c.txt"), ""},
		{"rename over", s.Rename(ctx, "ch", "l", "d/c.txt"), core.CodeConflict},
		{"rename nothing", s.Rename(ctx, "ch", "gone", "x"), core.CodeNotFound},
		{"rename into itself", s.Rename(ctx, "ch", "d", "d/d"), core.CodeInvalid},
		{"rename to another mount", s.Rename(ctx, "ch", "d/c.txt", "/workspace/x"), core.CodeInvalid},
		{"rename into the container", s.Rename(ctx, "ch", "d/c.txt", "/tmp/x"), core.CodeInvalid},
		{"rename to what is read", s.Rename(ctx, "ch", "d/c.txt", ".loop/x"), core.CodeForbidden},
		{"rename what holds a mount", s.Rename(ctx, "ch", ".git", "git"), core.CodeForbidden},
		{"rename a mount", s.Rename(ctx, "ch", w.dir+"/p", w.dir+"/q"), core.CodeInvalid},
		{"remove a full folder", s.Remove(ctx, "ch", "d", false), core.CodeConflict},
		{"remove a mount", s.Remove(ctx, "ch", "/workspace", true), core.CodeForbidden},
		{"remove what holds a mount", s.Remove(ctx, "ch", ".git", true), core.CodeForbidden},
		{"remove read-only", s.Remove(ctx, "ch", ".loop/config.json", true), core.CodeForbidden},
		{"remove a link", s.Remove(ctx, "ch", "l", false), ""},
		{"remove nothing", s.Remove(ctx, "ch", "l", true), core.CodeNotFound},
		{"remove all", s.Remove(ctx, "ch", "d", true), ""},
	} {
		if codeOf(tc.err) != tc.code {
			t.Errorf("%s: %v, want %q", tc.what, tc.err, tc.code)
		}
	}
}

func TestList(t *testing.T) {
	w, s := newWorld(t)
	w.link(t, "p/l", "a.txt")
	names := func(l core.FileListing) (out []string) {
		for _, f := range l.Files {
			out = append(out, f.Name+" "+string(f.Kind))
		}
		return out
	}
	got, err := s.List(t.Context(), "ch", "")
	if want := []string{".git folder", ".loop folder", "a.txt file", "l link", "sub folder"}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%q %v", names(got), err)
	}
	if got, err = s.List(t.Context(), "ch", "/"); err != nil || got.Left == "" || !slices.Contains(names(got), "agent folder") {
		t.Errorf("without a container: %q %q %v", names(got), got.Left, err)
	}
	if got, err = s.List(t.Context(), "ch", "/mnt"); err != nil || !slices.Equal(names(got), []string{"one.txt file"}) {
		t.Errorf("a mounted file: %q %v", names(got), err)
	}
	if _, err = s.List(t.Context(), "ch", "a.txt"); codeOf(err) != core.CodeInvalid {
		t.Error(err)
	}
	if _, err = s.List(t.Context(), "ch", "/etc"); codeOf(err) != core.CodeNotFound {
		t.Error(err)
	}
	if err := os.WriteFile(w.dir+"/p/sub/\xff", nil, 0o600); err == nil { // not every file system has such names
		if got, err = s.List(t.Context(), "ch", "sub"); err != nil || got.Left == "" || len(got.Files) != 1 {
			t.Errorf("odd names: %+v %v", got, err)
		}
	}
}

func TestContainersOwnFiles(t *testing.T) {
	w, s := newWorld(t)
	ctx := t.Context()
	w.containers = []core.Container{{ID: "x", Status: core.ContainerStatus("stopped")}, {ID: "c", Status: core.ContainerRunning}}
	say := func(r wire.FileReply) {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		w.answer = string(data)
	}
	say(wire.FileReply{Path: "/usr/lib/os-release", File: wire.FileInfo{Name: "os-release", Kind: "file", Bytes: 2}, Data: []byte("ID")})
	got, err := s.Read(ctx, "ch", "/etc/os-release", 10)
	if err != nil || string(got.Data) != "ID" || got.Path != "/usr/lib/os-release" || got.HostPath != "" || !got.Whole {
		t.Errorf("%+v %v", got, err)
	}
	say(wire.FileReply{Path: "/", Files: []wire.FileInfo{{Name: "etc", Kind: "folder"}, {Name: "agent", Kind: "folder"}, {Name: "\xff", Kind: "file"}, {Name: "x", Kind: "?"}}})
	list, err := s.List(ctx, "ch", "/")
	if err != nil || len(list.Files) != 3 || list.Left != "" && list.Left != oddNames { // JSON makes U+FFFD of the odd name
		t.Errorf("%+v %v", list, err)
	}
	say(wire.FileReply{})
	for _, err := range []error{
		s.Write(ctx, "ch", "/tmp/x", []byte("d"), ""), s.Mkdir(ctx, "ch", "/tmp/d"), s.Remove(ctx, "ch", "/vol/d", true), s.Rename(ctx, "ch", "/tmp/a", "/tmp/b"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	last := w.asked[len(w.asked)-1]
	if len(w.asked) != 6 || last.Op != wire.FileRename || last.Path != "/tmp/a" || last.To != "/tmp/b" || string(w.asked[2].Data) != "d" {
		t.Errorf("%+v", w.asked)
	}
	for fault := range guestFaults {
		say(wire.FileReply{Fault: fault, Detail: "in the kernel's words"})
		if err := s.Mkdir(ctx, "ch", "/tmp/d"); codeOf(err) == core.CodeInternal || err == nil {
			t.Errorf("%s: %v", fault, err)
		}
	}
	for _, odd := range []string{"", "{", `{"path":"rel","file":{"kind":"file"}}`, `{"file":{"kind":"?"}}`, `{"file":{"kind":"file","bytes":-1}}`} {
		if w.answer = odd; w.answer == "" {
			w.code = 1
		}
		if _, err := s.Read(ctx, "ch", "/etc/x", 10); err == nil {
			t.Errorf("%q was taken", odd)
		}
		w.code = 0
	}
}

// TestRenameOverWhatCameSince: an agent makes a file at the new name after Loop looked there.
func TestRenameOverWhatCameSince(t *testing.T) {
	w, _ := newWorld(t)
	table := core.NewMountTable(w.mounts, "linux")
	for _, to := range []string{"p/b.txt", "p/sub/b.txt"} {
		a, err := find(table, w.dir+"/p/a.txt", false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := find(table, w.dir+"/"+to, false)
		if err != nil {
			t.Fatal(err)
		}
		w.put(t, to, "of the agent")
		if err := a.rename(b); !errors.Is(err, os.ErrExist) || w.text("p/a.txt")+w.text(to) != "oneof the agent" {
			t.Errorf("%s: %v; now %q and %q", to, err, w.text("p/a.txt"), w.text(to))
		}
		if err := errors.Join(a.close(), b.close()); err != nil {
			t.Error(err)
		}
	}
}

// TestCoveredFolder: what a folder in memory hides from the container, no link shows.
func TestCoveredFolder(t *testing.T) {
	w, s := newWorld(t)
	w.tmpfs = []core.Tmpfs{{Target: w.dir + "/p/sub"}}
	w.put(t, "p/sub/hidden", "h")
	w.link(t, "p/to-hidden", "sub/hidden")
	for _, at := range []string{"sub/hidden", w.dir + "/p/sub/hidden", "to-hidden"} {
		if got, err := s.Read(t.Context(), "ch", at, 100); codeOf(err) != core.CodeNotFound {
			t.Errorf("%s: %q %v", at, got.Data, err)
		}
	}
	if mounts, err := s.Mounts(t.Context(), "ch"); err != nil || !core.NewMountTable(mounts, "linux").OnHost(w.dir) {
		t.Error(err)
	} else if at, err := core.NewMountTable(mounts, "linux").Inside(w.dir + "/p/sub/hidden"); err == nil {
		t.Errorf("it is said to be at %s", at)
	}
	if err := s.Remove(t.Context(), "ch", "sub", true); codeOf(err) != core.CodeNotFound || w.text("p/sub/hidden") != "h" {
		t.Errorf("it was removed: %v", err)
	}
}

// TestContainerThatLies names files that are elsewhere, and sends more than was asked for.
func TestContainerThatLies(t *testing.T) {
	w, s := newWorld(t)
	w.containers = []core.Container{{ID: "c", Status: core.ContainerRunning}}
	w.answer = `{"path":"/opt","file":{"name":"../x","kind":"folder"},"files":[{"name":"../p/a.txt","kind":"file"},{"name":"..","kind":"folder"},` +
		`{"name":".","kind":"folder"},{"name":"","kind":"file"},{"name":"fine","kind":"file"}]}`
	if l, err := s.List(t.Context(), "ch", "/opt"); err != nil || len(l.Files) != 1 || l.Files[0].Name != "fine" || l.Left == "" {
		t.Errorf("%+v %v", l, err)
	}
	if st, err := s.Stat(t.Context(), "ch", "/opt"); err != nil || st.Name != "opt" {
		t.Errorf("%+v %v", st, err)
	}
	w.answer = `{"path":"/proc/x","file":{"name":"x","kind":"file","bytes":0},"data":"YWJj"}`
	for most, whole := range map[int64]bool{3: false, 4: true} {
		if c, err := s.Read(t.Context(), "ch", "/proc/x", most); err != nil || c.Whole != whole || (c.Mark != "") != whole {
			t.Errorf("%d: %+v %v", most, c, err)
		}
	}
	w.answer = `{"path":"/opt/x","file":{"name":"x","kind":"file","bytes":3},"data":"YWJj"}`
	if c, err := s.Read(t.Context(), "ch", "/opt/x", 2); err == nil {
		t.Errorf("%+v", c)
	}
}

// TestContainerThatHangs: an agent stops the program that was asked.
func TestContainerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWorld(t)
		w.containers, w.hangs = []core.Container{{ID: "c", Status: core.ContainerRunning}}, true
		begun := time.Now()
		_, err := s.Read(t.Context(), "ch", "/opt/x", 2)
		if f := core.AsFailure(err); err == nil || !strings.Contains(f.Cause, "had not answered") || f.Remedy == "" || time.Since(begun) != askTime {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}

// TestWriteThatFails leaves no empty file, which the next try would find there.
func TestWriteThatFails(t *testing.T) {
	w, s := newWorld(t)
	long := strings.Repeat("n", 250) // the temporary file's name is too long
	if err := s.Write(t.Context(), "ch", long, []byte("x"), ""); err == nil {
		t.Fatal("it did not fail")
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "p", long)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

// TestMovedMount: an agent moves the folder above a mount and lays a link in its place.
func TestMovedMount(t *testing.T) {
	w, s := newWorld(t)
	if err := os.Rename(w.dir+"/p/.git", w.dir+"/p/git"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.dir+"/p/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	w.link(t, "p/.git/hooks", w.dir+"/outside")
	if got, err := s.Read(t.Context(), "ch", ".git/hooks/secret", 100); codeOf(err) != core.CodeForbidden {
		t.Errorf("%q %v", got.Data, err)
	}
	if got, err := s.List(t.Context(), "ch", ".git/hooks"); codeOf(err) != core.CodeForbidden {
		t.Errorf("%+v %v", got, err)
	}
}

// TestSwapper: while an agent swaps a folder and a link as fast as it can, nothing outside
// is read, and nothing is written past a mount that may only be read.
func TestSwapper(t *testing.T) {
	w, s := newWorld(t)
	ctx := t.Context()
	w.put(t, "p/sub/secret", "inside")
	w.link(t, "p/evil", "../outside")
	w.link(t, "p/bad", ".loop")
	var rounds atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, link := range []string{"evil", "bad"} {
				_ = os.Rename(w.dir+"/p/sub", w.dir+"/p/away")
				_ = os.Rename(w.dir+"/p/"+link, w.dir+"/p/sub")
				_ = os.Rename(w.dir+"/p/sub", w.dir+"/p/"+link)
				_ = os.Rename(w.dir+"/p/away", w.dir+"/p/sub")
			}
			rounds.Add(1)
		}
	}()
	var read, wrote int
	for i := 0; i < 2000 || rounds.Load() < 50; i++ {
		got, err := s.Read(ctx, "ch", "sub/secret", 100)
		if err == nil {
			read++
			if string(got.Data) != "inside" {
				t.Fatalf("read %q at %s", got.Data, got.Path)
			}
		}
		if err := s.Write(ctx, "ch", "sub/deep/../new", []byte("x"), ""); err == nil {
			wrote++
			_ = s.Remove(ctx, "ch", "sub/new", false)
		}
	}
	close(stop)
	<-done
	t.Logf("read %d times, wrote %d times", read, wrote)
	if got, err := s.Read(ctx, "ch", "sub/secret", 100); err != nil || string(got.Data) != "inside" {
		t.Errorf("in the end: %q %v", got.Data, err)
	}
	if err := s.Write(ctx, "ch", "sub/last", []byte("x"), ""); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"outside", "p/.loop"} {
		entries, err := os.ReadDir(filepath.Join(w.dir, dir))
		if err != nil || len(entries) != 1 {
			t.Errorf("%s has %d files: %v", dir, len(entries), err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"path":"/x","file":{"name":"a","kind":"file","bytes":1},"files":[{"name":"b","kind":"link","link":"c"}],"data":"YQ=="}`)
	f.Add(`{"fault":"missing","detail":"\u202e"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r wire.FileReply
		if err := decode(text, &r); err != nil {
			return
		}
		if len(r.Path) > maxPath || len(r.Files) > wire.MaxFileList {
			t.Fatal("beyond the bounds")
		}
		if st, err := statFrom("/x", r); err == nil && (st.Bytes < 0 || !filepath.IsAbs(st.Path)) {
			t.Fatalf("%+v", st)
		}
	})
}
