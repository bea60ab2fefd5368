package sidecar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"loop/backend/core"
	"loop/backend/provision"
)

// localLink runs programs on this computer, below a folder that stands for a container's
// own files.
type localLink struct {
	core.Link
	root string

	mu      sync.Mutex
	spawns  map[core.SpawnID]*localSpawn
	reqs    []core.SpawnRequest
	admits  []core.Identity
	forgets int
}

type localSpawn struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err io.ReadCloser
	waited   func() error
	lives    *os.File // at its end when nothing of the program's tree runs
}

// kill ends the program with its tree, as a container's guest does.
func (s *localSpawn) kill() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

func newLocalLink(root string) *localLink {
	return &localLink{root: root, spawns: map[core.SpawnID]*localSpawn{}}
}

func (l *localLink) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	argv := append([]string{}, req.Argv...)
	for i, a := range argv {
		if strings.HasPrefix(a, "/profile") {
			argv[i] = l.root + a
		}
	}
	s := &localSpawn{cmd: exec.CommandContext(context.Background(), argv[0], argv[1:]...)}
	s.cmd.Dir, s.cmd.SysProcAttr = req.Dir, &syscall.SysProcAttr{Setpgid: true}
	var errs [3]error
	if req.OpenStdin {
		s.in, errs[0] = s.cmd.StdinPipe()
	}
	outR, outW, err := os.Pipe()
	errR, errW, err2 := os.Pipe()
	lives, livesW, err3 := os.Pipe()
	s.lives, s.cmd.ExtraFiles = lives, []*os.File{livesW}
	s.out, s.err, s.cmd.Stdout, s.cmd.Stderr = outR, errR, outW, errW
	if err := errors.Join(errs[0], err, err2, err3, s.cmd.Start()); err != nil {
		return core.SpawnInfo{}, err
	}
	_, _, _ = outW.Close(), errW.Close(), livesW.Close()
	s.waited = sync.OnceValue(s.cmd.Wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spawns[req.ID] = s
	l.reqs = append(l.reqs, req)
	return core.SpawnInfo{ID: req.ID}, nil
}

func (l *localLink) spawn(id core.SpawnID) *localSpawn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spawns[id]
}

func (l *localLink) Stdin(_ context.Context, id core.SpawnID) (io.WriteCloser, error) {
	return l.spawn(id).in, nil
}

func (l *localLink) ReadHeld(_ context.Context, id core.SpawnID, stream string, _ int64) (io.ReadCloser, error) {
	if s := l.spawn(id); stream == "out" {
		return s.out, nil
	} else {
		return s.err, nil
	}
}

func (l *localLink) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	s := l.spawn(id)
	stop := context.AfterFunc(ctx, s.kill)
	defer stop()
	err := s.waited()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return core.ExitStatus{Code: exit.ExitCode()}, nil
	}
	return core.ExitStatus{}, errors.Join(err, ctx.Err())
}

func (l *localLink) Kill(_ context.Context, id core.SpawnID) error {
	s := l.spawn(id)
	s.kill()
	_ = s.waited()
	_, err := io.Copy(io.Discard, s.lives)
	return err
}

func (l *localLink) Forget(context.Context, core.SpawnID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgets++
	return nil
}
func (l *localLink) Admit(_ core.SpawnID, who core.Identity) { l.admits = append(l.admits, who) }
func (l *localLink) Close() error                            { return nil }

// fileStage is a browser whose container, and whose agent's, are folders.
type fileStage struct {
	*Sidecar
	car, agent *localLink
	workspace  string
	containers []core.Container
	policy     []byte
}

func (f *fileStage) Ensure(context.Context, provision.Want) (*provision.Lease, error) {
	return nil, errors.ErrUnsupported
}
func (f *fileStage) Resolve(context.Context, provision.Want) (provision.Resolved, error) {
	return provision.Resolved{Spec: core.Spec{
		WorkDir: f.workspace, Agent: core.AgentUser{Home: "/home/x"},
		Mounts: []core.Mount{{Kind: core.MountState, Source: filepath.Join(f.workspace, "..", "home"), Target: "/home/x"}},
	}}, nil
}
func (f *fileStage) List() []core.Container                         { return f.containers }
func (f *fileStage) Remove(context.Context, core.ContainerID) error { return errors.ErrUnsupported }
func (f *fileStage) Limit(context.Context, core.ContainerID, core.Holder, core.Limits) error {
	return errors.ErrUnsupported
}
func (f *fileStage) Open(_ context.Context, c core.Container) (core.Link, error) {
	if c.ID != "agent" {
		return nil, errors.New("it does not answer")
	}
	return f.agent, nil
}
func (f *fileStage) Policy(string, core.Channel, core.Spec, core.SpawnID) ([]byte, error) {
	return f.policy, nil
}

func newFileStage(t *testing.T) *fileStage {
	t.Helper()
	dir := t.TempDir()
	f := &fileStage{car: newLocalLink(filepath.Join(dir, "car")), agent: newLocalLink(""), workspace: filepath.Join(dir, "workspace")}
	for _, d := range []string{f.workspace, f.car.root + uploadsDir, f.car.root + downloadsDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.containers = []core.Container{
		{ID: "agent", ChannelID: "c", Status: core.ContainerRunning, Type: core.TypeAgent},
		{ID: "stopped", ChannelID: "c", Status: core.ContainerStopped, Type: core.TypeAgent},
		{ID: "other", ChannelID: "d", Status: core.ContainerRunning, Type: core.TypeAgent},
		{ID: "chrome", ChannelID: "c", Status: core.ContainerRunning, Type: core.TypeChrome},
		{ID: "silent", ChannelID: "c", Status: core.ContainerRunning, Type: core.TypeShell},
	}
	s := New(Options{Provision: f, Containers: f, Links: f, Policies: f, Log: slog.New(slog.DiscardHandler)})
	f.Sidecar = &Sidecar{s: s, channel: core.Channel{ID: "c"}, lease: &provision.Lease{Link: f.car}}
	return f
}

func (f *fileStage) write(t *testing.T, name, text string) string {
	t.Helper()
	at := filepath.Join(f.workspace, name)
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// inside are the files of Chromium's container below a folder of it.
func (f *fileStage) inside(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(f.car.root+dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(p, f.car.root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestUploadOfAgentsFiles(t *testing.T) {
	f := newFileStage(t)
	full := f.write(t, "a b'$(x).txt", "of the agent")
	for _, at := range []string{full, "a b'$(x).txt", "./a b'$(x).txt"} {
		inside, err := f.Upload(t.Context(), at)
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		got, err := os.ReadFile(f.car.root + inside)
		if err != nil || string(got) != "of the agent" || filepath.Base(inside) != "a b'$(x).txt" || !f.Given(inside) {
			t.Errorf("%s: %q %v", inside, got, err)
		}
	}
	if f.Given("/etc/passwd") || f.Given("") {
		t.Error("a file is said to be given that is not")
	}
	if err := os.Symlink(full, filepath.Join(f.workspace, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Upload(t.Context(), "link"); err != nil { // the agent could read it, too
		t.Errorf("a link: %v", err)
	}
	before := len(f.inside(t, uploadsDir))
	if err := syscall.Mkfifo(filepath.Join(f.workspace, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{
		"missing": "There is no file", "": "is no path", "a\x00b": "is no path", strings.Repeat("x", 5000): "is no path",
		f.workspace: "no ordinary file", "pipe": "no ordinary file", "/dev/zero": "no ordinary file", "-f": "There is no file", "( -e": "There is no file",
	} {
		if inside, err := f.Upload(t.Context(), at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %s %v", at, inside, err)
		}
	}
	if after := f.inside(t, uploadsDir); len(after) != before {
		t.Errorf("a refused file has left something: %v", after)
	}
	if n, m := len(f.agent.reqs), f.agent.forgets; n != m {
		t.Errorf("%d programs were started, and %d forgotten", n, m)
	}
	if len(f.agent.admits) != 0 {
		t.Error("a program without rules may ask Loop for something")
	}

	f.policy = []byte("{}")
	if _, err := f.Upload(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	last := f.agent.reqs[len(f.agent.reqs)-1]
	if string(last.Policy) != "{}" || last.PolicyVersion != 1 || len(f.agent.admits) != 1 || !f.agent.admits[0].Unattended || f.agent.admits[0].ChannelID != "c" {
		t.Errorf("%+v %+v", last, f.agent.admits)
	}
	f.containers = f.containers[1:]
	if _, err := f.Upload(t.Context(), full); err == nil {
		t.Error("read a file without a container of the agent that answers")
	}
	f.containers = nil
	if _, err := f.Upload(t.Context(), full); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("%v", err)
	}
}

func TestUploadsAreBounded(t *testing.T) {
	f := newFileStage(t)
	large := f.write(t, "large", "")
	if err := os.Truncate(large, core.MaxBrowserFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Upload(t.Context(), large); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("%v", err)
	}
	broken := errors.New("the sender has gone")
	if _, err := f.PutFile(t.Context(), "x", io.MultiReader(strings.NewReader("part"), &source{r: failing{broken}})); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if left := f.inside(t, uploadsDir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
	first, err := f.PutFile(t.Context(), "../../first\n.txt", strings.NewReader("1"))
	if err != nil || filepath.Base(first) != "first .txt" {
		t.Fatalf("%s %v", first, err)
	}
	f.uploads.all[0].size = maxUploads - core.MaxBrowserFile + 1 // so large that it has to go
	second, err := f.PutFile(t.Context(), "second", strings.NewReader("2"))
	if err != nil {
		t.Fatal(err)
	}
	if left := f.inside(t, uploadsDir); len(left) != 1 || left[0] != second || f.Given(first) || !f.Given(second) {
		t.Errorf("left %v", left)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestUploadNames(t *testing.T) {
	for given, want := range map[string]string{
		"/w/.gitignore": ".gitignore", "../../mine.txt": "mine.txt", "-x": "-x", "a:b": "a:b", "..": "download", "": "download", "/": "download",
		"a\nb": "a b", "\xff.txt": "txt", strings.Repeat("x", 256): strings.Repeat("x", 200),
	} {
		if got := uploadName(given); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}

// TestOneActsUploads: twenty of the largest files, and none pushes out another one.
func TestOneActsUploads(t *testing.T) {
	var table uploadTable
	for i := range 20 {
		at := fmt.Sprintf("/profile/uploads/%d/x", i)
		if gone := table.begin(at); len(gone) > 0 {
			t.Fatalf("%d pushed out %v", i, gone)
		}
		table.end(at, core.MaxBrowserFile)
	}
	for i := range 20 { // of the next act
		at := fmt.Sprintf("/profile/uploads/next%d/x", i)
		table.begin(at)
		table.end(at, core.MaxBrowserFile)
	}
	for i := range 20 {
		if at := fmt.Sprintf("/profile/uploads/next%d/x", i); !table.has(at) {
			t.Errorf("%s is gone", at)
		}
	}
	if len(table.all) > 21 {
		t.Errorf("%d files", len(table.all))
	}
}

func TestDownloadsGoToTheAgent(t *testing.T) {
	f := newFileStage(t)
	put := func(id, text string) {
		t.Helper()
		if err := os.WriteFile(f.car.root+downloadsDir+"/"+id, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := f.Downloads()
	text := strings.Repeat("0123456789", 100_000)
	put("one", text)
	at, err := d.Keep(t.Context(), "one", "report.pdf", int64(len(text)))
	if err != nil || at != "/home/x/.loop-browser/report.pdf" {
		t.Fatalf("%s %v", at, err)
	}
	home := filepath.Join(f.workspace, "..", "home", ".loop-browser")
	if got, err := os.ReadFile(filepath.Join(home, "report.pdf")); err != nil || !bytes.Equal(got, []byte(text)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	put("two", "x")
	if at, err := d.Keep(t.Context(), "two", "report.pdf", 1); err != nil || at != "/home/x/.loop-browser/report (2).pdf" {
		t.Errorf("%s %v", at, err)
	}
	put("long", "more than was said")
	for id, size := range map[string]int64{"missing": 1, "long": 3, "../uploads": 1} {
		if at, err := d.Keep(t.Context(), id, "bad", size); core.AsFailure(err).Code != core.CodeDir {
			t.Errorf("%s: %s %v", id, at, err)
		}
	}
	if left := f.inside(t, downloadsDir); len(left) != 1 {
		t.Errorf("left %v", left)
	}
	for given, want := range map[string]string{"a": "/a", "../../x": "/x", "..": "/", "": "/", "a/b": "/b"} {
		if got := inDownloads(given); got != strings.TrimSuffix(downloadsDir+want, "/") {
			t.Errorf("%q: %s", given, got)
		}
	}
	if at, err := f.s.keep(t.Context(), f.channel, "screenshot-1.png", 3, strings.NewReader("png")); err != nil || at != "/home/x/.loop-browser/screenshot-1.png" {
		t.Errorf("%s %v", at, err)
	}
}
