//go:build !windows

package hostfacts

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
	"loop/backend/sandbox"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tempDir is a directory whose path has no links. On macOS the temporary directory is
// behind one.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func TestPaths(t *testing.T) {
	d := tempDir(t)
	must(t, os.MkdirAll(filepath.Join(d, "dir", "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(d, "file"), nil, 0o644))
	must(t, syscall.Mkfifo(filepath.Join(d, "pipe"), 0o600))
	must(t, os.Symlink("dir", filepath.Join(d, "link")))
	must(t, os.Symlink(filepath.Join(d, "nowhere"), filepath.Join(d, "dangling")))
	must(t, os.Symlink("loop", filepath.Join(d, "loop")))
	short, err := os.MkdirTemp("", "s")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	sock := filepath.Join(short, "s")
	l, err := net.Listen("unix", sock)
	must(t, err)
	defer l.Close()
	for _, c := range []struct {
		path   string
		kind   sandbox.PathKind
		target string
	}{
		{"dir", sandbox.PathDir, "dir"}, {"file", sandbox.PathFile, "file"}, {"pipe", sandbox.PathOther, "pipe"},
		{"link", sandbox.PathDir, "dir"}, {"link/sub", sandbox.PathDir, "dir/sub"}, {"link/new/er", sandbox.PathMissing, "dir/new/er"},
		{"gone", sandbox.PathMissing, "gone"}, {"dangling", sandbox.PathMissing, "nowhere"}, {"dangling/x", sandbox.PathMissing, "nowhere/x"},
		{"file/below", sandbox.PathMissing, "file/below"}, {"loop", sandbox.PathDenied, "loop"},
	} {
		p := filepath.Join(d, c.path)
		f := looker()(p)
		if f.Kind != c.kind || f.Target != filepath.Join(d, c.target) {
			t.Errorf("%s: %+v", c.path, f)
		}
	}
	if f := look(sock); f.Kind != sandbox.PathSocket {
		t.Errorf("socket: %+v", f)
	}
	if os.Getuid() != 0 {
		must(t, os.Chmod(filepath.Join(d, "dir"), 0))
		defer os.Chmod(filepath.Join(d, "dir"), 0o755)
		if f := look(filepath.Join(d, "dir", "sub")); f.Kind != sandbox.PathDenied || f.Error == "" {
			t.Errorf("locked: %+v", f)
		}
	}
}

func TestGather(t *testing.T) {
	home := tempDir(t)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig"))
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("https_proxy", "http://127.0.0.1:1")
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\texcludesFile = ~/my ignore\n"), 0o644))
	h, err := Computer{LoopHome: filepath.Join(home, ".loop")}.Host(t.Context(), core.EngineStatus{})
	must(t, err)
	if h.Home != home || h.LoopHome != home+"/.loop" || h.UID != os.Getuid() || h.User == "" || h.TimeZone != "Asia/Tokyo" || h.Env["https_proxy"] == "" {
		t.Errorf("%+v", h)
	}
	if h.GitExcludes != filepath.Join(home, "my ignore") {
		t.Errorf("git excludes %q", h.GitExcludes)
	}
	t.Setenv("HOME", "")
	if _, err := (Computer{LoopHome: "/x"}).Host(t.Context(), core.EngineStatus{}); err == nil {
		t.Error("no home directory is not an error")
	}
}

// resolved is a spec for a real temporary host.
func resolved(t *testing.T, mounts ...string) (core.Spec, sandbox.Host, string) {
	t.Helper()
	d := tempDir(t)
	home, project := filepath.Join(d, "home"), filepath.Join(d, "home", "code", "proj")
	must(t, os.MkdirAll(filepath.Join(project, ".git", "hooks"), 0o755))
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("x"), 0o644))
	h := sandbox.Host{OS: "linux", User: "mira", UID: os.Getuid(), GID: os.Getgid(), Home: home, LoopHome: filepath.Join(home, ".loop"), TimeZone: "UTC"}
	sub := sandbox.Subject{
		Type:    core.TypeAgent,
		Channel: core.Channel{ID: "chan1", Dir: project}, Image: "loop-agent:latest", ImageID: "sha256:1", GuestVolume: "loop-guest-test1",
		InstallID: "test", NameSuffix: "0a0b0c",
	}
	settings := sandbox.Settings{
		Access: sandbox.Setting[string]{Value: sandbox.AccessRW}, Network: sandbox.Setting[string]{Value: "bridge"},
		MemoryMB: sandbox.Setting[int]{Value: 2048}, CPUs: sandbox.Setting[float64]{Value: 1}, Pids: sandbox.Setting[int64]{Value: 1024},
	}
	for _, m := range mounts {
		settings.Mounts = append(settings.Mounts, sandbox.Setting[string]{Value: m})
	}
	h.Look = looker()
	spec, _, err := sandbox.Resolve(settings, sub, h)
	must(t, err)
	return spec, h, home
}

func TestPrepare(t *testing.T) {
	spec, h, _ := resolved(t, "loop-npm:~/.npm", "~/.gitconfig:~/.gitconfig:ro")
	for range 2 {
		notices, err := Computer{}.Prepare(spec, h)
		must(t, err)
		if len(notices) > 0 {
			t.Error(notices)
		}
	}
	state := filepath.Join(h.LoopHome, "channels", "chan1")
	for path, dir := range map[string]bool{
		"home": true, "claude": true, "spool": true, "home/.claude": false, "home/.npm": true, "home/code/proj": true, "home/.gitconfig": false, "claude/.claude.json": false,
	} {
		info, err := os.Lstat(filepath.Join(state, path))
		if err != nil || info.IsDir() != dir {
			t.Errorf("%s: %v", path, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(h.LoopHome, "run", "etc", "passwd")); err != nil || !strings.Contains(string(b), spec.Agent.Name+":x:") {
		t.Errorf("%s %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(state, "claude", ".claude.json")); err != nil || !strings.Contains(string(b), `"hasTrustDialogAccepted":true`) {
		t.Errorf("%s %v", b, err)
	}

	// An agent could leave these behind.
	cj := filepath.Join(state, "claude", ".claude.json")
	must(t, os.WriteFile(cj, []byte("garbage"), 0o600))
	if notices, err := (Computer{}).Prepare(spec, h); err != nil || len(notices) != 1 || !strings.Contains(notices[0], "damaged") {
		t.Error(notices, err)
	}
	victim := filepath.Join(h.Home, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	for _, plant := range []func() error{
		func() error { return os.Symlink(victim, cj) },
		func() error { return syscall.Mkfifo(cj, 0o600) },
		func() error { return os.MkdirAll(filepath.Join(cj, "x"), 0o755) },
	} {
		must(t, os.RemoveAll(cj))
		must(t, plant())
		if notices, err := (Computer{}).Prepare(spec, h); err != nil || len(notices) != 1 {
			t.Error(notices, err)
		}
		if info, err := os.Lstat(cj); err != nil || !info.Mode().IsRegular() {
			t.Error(info, err)
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "mine" {
		t.Errorf("a file outside was written: %q %v", b, err)
	}

	// A renamed parent plants a link where the project is to be mounted.
	work := filepath.Join(state, "home", "code")
	must(t, os.Rename(work, work+"2"))
	must(t, os.Symlink("/opt", work))
	_, err := Computer{}.Prepare(spec, h)
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != core.CodeMount || !strings.Contains(f.Cause, "link") {
		t.Error(err)
	}
	must(t, os.Remove(work))
	must(t, os.WriteFile(work, nil, 0o600))
	if _, err := (Computer{}).Prepare(spec, h); err == nil {
		t.Error("a file in the way was accepted")
	}
}

// TestMemoryMoves: earlier, the CLI kept its files in the home. They are moved to the
// folder beside it, from whichever step an interrupted move ended at.
func TestMemoryMoves(t *testing.T) {
	spec, h, _ := resolved(t)
	home := filepath.Join(h.LoopHome, "channels", "chan1", "home")
	claude := filepath.Join(h.LoopHome, "channels", "chan1", "claude", ".claude.json")
	link := filepath.Join(home, ".claude")
	prepare := func() {
		t.Helper()
		if notices, err := (Computer{}).Prepare(spec, h); err != nil || len(notices) > 0 {
			t.Fatal(notices, err)
		}
	}
	for round, ended := range []func(){
		func() {}, // as it was at that time
		func() { must(t, os.Remove(claude)) },
		func() {}, // the old one was not yet removed
		func() { must(t, os.Remove(filepath.Join(home, claudeJSON))) },
	} {
		must(t, os.RemoveAll(link))
		must(t, os.MkdirAll(link, 0o700))
		must(t, os.WriteFile(filepath.Join(home, claudeJSON), []byte(`{"userID":"mira"}`), 0o600))
		ended()
		prepare()
		if b, err := os.ReadFile(claude); err != nil || !strings.Contains(string(b), `"userID":"mira"`) || !strings.Contains(string(b), `"hasTrustDialogAccepted":true`) {
			t.Errorf("round %d: %s %v", round, b, err)
		}
		if _, err := os.Lstat(filepath.Join(home, claudeJSON)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("round %d: the old one is there: %v", round, err)
		}
		if to, err := os.Readlink(link); err != nil || to != sandbox.ClaudeDir {
			t.Errorf("round %d: the link leads to %q: %v", round, to, err)
		}
	}
	must(t, os.Remove(link))
	must(t, os.MkdirAll(filepath.Join(link, "x"), 0o700))
	prepare()
	if _, err := os.Lstat(filepath.Join(link, "x")); err != nil {
		t.Error("a folder that holds something went")
	}
}

// TestRepointedLink: Loop never follows the link in the home, wherever the agent makes
// it lead.
func TestRepointedLink(t *testing.T) {
	spec, h, state := copied(t, map[string]string{".claude/CLAUDE.md": "memory"})
	outside := tempDir(t)
	link := filepath.Join(state, "home", ".claude")
	must(t, os.MkdirAll(filepath.Dir(link), 0o700))
	for _, plant := range []func() error{
		func() error { return os.Symlink(outside, link) },
		func() error { return os.WriteFile(link, []byte("x"), 0o600) },
		func() error { return syscall.Mkfifo(link, 0o600) },
	} {
		must(t, os.RemoveAll(link))
		must(t, os.RemoveAll(filepath.Join(state, "claude")))
		must(t, plant())
		before, err := os.Lstat(link)
		must(t, err)
		if notices, err := (Computer{}).Prepare(spec, h); err != nil || len(notices) > 0 {
			t.Error(notices, err)
		}
		if b, err := os.ReadFile(filepath.Join(state, "claude", "CLAUDE.md")); err != nil || string(b) != "memory" {
			t.Errorf("%q %v", b, err)
		}
		if after, err := os.Lstat(link); err != nil || !os.SameFile(before, after) {
			t.Error("the agent's own was replaced")
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Error(left, err)
		}
	}
}

func TestFileSystems(t *testing.T) {
	list := filepath.Join(t.TempDir(), "mountinfo")
	text := `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
36 22 0:31 / /home/mira/my\040disk rw - tmpfs tmpfs rw
37 22 0:32 /x /odd\134name\011\012 rw - tmpfs tmpfs rw
38 36 0:33 / /home/mira/my\040disk rw - tmpfs tmpfs rw
cut off
`
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := fileSystems(list), []string{"/", "/home/mira/my disk", "/odd\\name\t\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := fileSystems(list + "-none"); got != nil {
		t.Errorf("%q where nothing is known", got)
	}
}
