package hostrun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// patience bounds every wait; a busy machine needs some seconds.
const patience = 2 * time.Minute

// Ids of the tests' programs, which find each other by them: two processes of these tests at
// once have other ones. A test's second process has those of the first.
var (
	idsVar = "HOSTRUN_TEST_IDS"
	own    = cmp.Or(os.Getenv(idsVar), core.NewID()[:8])
	s1     = core.SpawnID("s1-" + own)
	s2     = core.SpawnID("s2-" + own)
)

// rig is a Loop folder with a channel, and a link of its run.
type rig struct {
	t    *testing.T
	home string
	o    Options
	s    *Service
	l    *Link
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir()}
	r.o = Options{Home: r.home}
	r.open()
	t.Cleanup(func() { r.end() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.s, err = Open(r.o); err != nil {
		r.t.Fatal(err)
	}
	if r.l, err = r.s.Link("run", "c"); err != nil {
		r.t.Fatal(err)
	}
}

// end ends everything that the test started.
func (r *rig) end() {
	for _, sp := range r.s.those(func(*spawn) bool { return true }) {
		if err := sp.prog.End(context.Background()); err != nil {
			r.t.Error(err)
		}
	}
	r.s.Close()
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) spawn(id core.SpawnID, script string, change ...func(*core.SpawnRequest)) core.SpawnInfo {
	r.t.Helper()
	req := core.SpawnRequest{ID: id, Argv: []string{"sh", "-c", script}, Dir: r.home, Stdio: core.StdioPipes, Keep: core.KeepSpool}
	for _, c := range change {
		c(&req)
	}
	i, err := r.l.Spawn(r.ctx(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	return i
}

func (r *rig) read(id core.SpawnID, stream string, offset int64) string {
	r.t.Helper()
	rc, err := r.l.Read(r.ctx(), id, stream, offset)
	if err != nil {
		r.t.Fatal(err)
	}
	b, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r *rig) wait(id core.SpawnID) core.ExitStatus {
	r.t.Helper()
	st, err := r.l.Wait(r.ctx(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return st
}

// until waits for something to become true.
func (r *rig) until(what string, is func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := r.ctx(); !is(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.t.Fatalf("%s did not happen", what)
		}
	}
}

// alive reports whether a process runs that the script has written the number of into a file.
func (r *rig) alive(file string) bool {
	r.t.Helper()
	var pid int
	r.until(file, func() bool {
		b, _ := os.ReadFile(filepath.Join(r.home, file))
		n, err := fmt.Sscanf(string(b), "%d\n", &pid)
		return n == 1 && err == nil
	})
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z") // nobody may collect an orphan
}

// TestStreamsHaveOffsets: input comes from the request, both streams are read from any
// offset, also after the end, and nothing of one is in the other.
func TestStreamsHaveOffsets(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `read line; echo "got $line"; echo oops >&2; test "$X" = y && cat "$F"`, func(q *core.SpawnRequest) {
		q.Stdin, q.Files = []byte("hello\nmore"), []core.SpawnFile{{Name: "mcp.json", Data: []byte("{}\n")}}
		q.Env = []core.EnvVar{{Name: "X", Value: "y"}, {Name: "F", Value: filepath.Join(r.s.Folder(), string(s1), "mcp.json")}}
	})
	for offset, want := range map[int64]string{0: "got hello\n{}\n", 4: "hello\n{}\n", 13: "", 100: ""} {
		if got := r.read(s1, "out", offset); got != want {
			t.Errorf("from %d: %q", offset, got)
		}
	}
	if got := r.read(s1, "err", 0); got != "oops\n" {
		t.Errorf("stderr %q", got)
	}
	if st := r.wait(s1); st.Code != 0 || st.At.IsZero() {
		t.Errorf("%+v", st)
	}
	list, err := r.l.Spawns(t.Context())
	if err != nil || len(list) != 1 || list[0].OutEnd != 13 || list[0].ErrEnd != 5 || list[0].Exit == nil || list[0].Pid == 0 {
		t.Errorf("%+v, %v", list, err)
	}
	for _, stream := range []string{"", "in", "../out"} {
		if _, err := r.l.Read(t.Context(), s1, stream, 0); err == nil {
			t.Errorf("stream %q was read", stream)
		}
	}
	if _, err := r.l.Read(t.Context(), s1, "out", -1); err == nil {
		t.Error("a negative offset was read")
	}
}

// TestReaderFollows: what is written while somebody reads is read, an end of the context
// ends a Read that waits, and so does Close of the link.
func TestReaderFollows(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; sleep 1000`)
	ctx, cancel := context.WithCancel(r.ctx())
	rc, err := r.l.ReadHeld(ctx, s1, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	b := make([]byte, 8)
	if n, err := io.ReadFull(rc, b[:4]); err != nil || string(b[:n]) != "one\n" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if err := os.WriteFile(filepath.Join(r.home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := io.ReadFull(rc, b[:4]); err != nil || string(b[:n]) != "two\n" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	ended := make(chan error)
	go func() { _, err := rc.Read(b); ended <- err }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	other, err := r.l.Read(r.ctx(), s1, "out", 8)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() { _, err := other.Read(b); ended <- err }()
	if err := r.l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, core.ErrLinkDown) {
		t.Errorf("%v", err)
	}
}

// TestExits: codes and signals as a shell counts them.
func TestExits(t *testing.T) {
	r := newRig(t)
	for name, tc := range map[string]struct {
		script string
		want   core.ExitStatus
	}{
		"ok": {"true", core.ExitStatus{}}, "seven": {"exit 7", core.ExitStatus{Code: 7}},
		"term": {"kill -TERM $$", core.ExitStatus{Code: 143, Signal: "SIGTERM"}}, "kill": {"kill -KILL $$", core.ExitStatus{Code: 137, Signal: "SIGKILL"}},
	} {
		id := core.SpawnID(name + "-" + own)
		r.spawn(id, tc.script)
		got := r.wait(id)
		if got.Code != tc.want.Code || got.Signal != tc.want.Signal {
			t.Errorf("%s: %+v", id, got)
		}
		b, err := os.ReadFile(filepath.Join(r.home, "channels", "c", "spool", string(id)+wire.ExitSuffix))
		rec, perr := wire.ParseExitRecord(string(id), b)
		if err != nil || perr != nil || rec.Exit.Code != tc.want.Code {
			t.Errorf("%s: wrote down %+v, %v, %v", id, rec, err, perr)
		}
	}
}

// TestKillEndsTheTree: with children that ignore TERM, left the session, cleared their
// environment under a parent that lives, or are orphans.
func TestKillEndsTheTree(t *testing.T) {
	r := newRig(t)
	for name, script := range map[string]string{
		"child":    `sleep 1000 & echo $! >CHILD; wait`,
		"stubborn": `sh -c 'trap "" TERM HUP; echo $$ >CHILD; while :; do sleep 1; done' & wait`,
		"orphan":   `(sleep 1000 & echo $! >CHILD); sleep 1000`,
		"session":  `setsid sh -c 'echo $$ >CHILD; exec sleep 1000' & wait`,
		"stopped":  `sleep 1000 & echo $! >CHILD; kill -STOP $!; wait`,
		"left":     `setsid sh -c 'echo $$ >CHILD; exec sleep 1000' & while [ ! -s CHILD ]; do sleep 0.01; done; exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := core.SpawnID(name + "-" + own)
			r.spawn(id, strings.ReplaceAll(script, "CHILD", name+".pid"))
			if !r.alive(name + ".pid") {
				t.Fatal("the child does not run")
			}
			if name == "left" {
				r.wait(id)
				i, err := r.l.find(id)
				if err != nil {
					t.Fatal(err)
				}
				r.until("what was let go is listed", func() bool { return len(r.s.info(i).Detached) == 1 })
			}
			if err := r.l.Kill(r.ctx(), id); err != nil {
				t.Fatal(err)
			}
			if r.alive(name + ".pid") {
				t.Error("the child lives")
			}
			r.wait(id)
			if err := r.l.Kill(r.ctx(), id); err != nil { // once more is fine
				t.Error(err)
			}
		})
	}
}

// TestForget takes a spawn's files, ends what it left, and refuses one that runs.
func TestForget(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `sleep 1000`)
	if err := r.l.Forget(r.ctx(), s1); !errors.Is(err, core.ErrConflict) {
		t.Errorf("one that runs: %v", err)
	}
	r.spawn(s2, `(sleep 1000 & echo $! >left.pid); echo secret; echo secret >&2`)
	r.wait(s2)
	if !r.alive("left.pid") {
		t.Fatal("nothing was left")
	}
	if err := r.l.Forget(r.ctx(), s2); err != nil {
		t.Fatal(err)
	}
	if r.alive("left.pid") {
		t.Error("what it left lives")
	}
	for _, path := range []string{"run/host/", "channels/c/spool/"} {
		if left, _ := filepath.Glob(filepath.Join(r.home, path+string(s2)+"*")); len(left) > 0 {
			t.Errorf("%s is still there", path)
		}
	}
	for name, do := range map[string]func() error{
		"forget": func() error { return r.l.Forget(r.ctx(), s2) }, "kill": func() error { return r.l.Kill(r.ctx(), s2) },
		"wait":   func() error { _, err := r.l.Wait(r.ctx(), s2); return err },
		"read":   func() error { _, err := r.l.Read(r.ctx(), s2, "out", 0); return err },
		"signal": func() error { return r.l.Signal(r.ctx(), s2, "SIGTERM") },
		"stdin":  func() error { _, err := r.l.Stdin(r.ctx(), s2); return err },
	} {
		if err := do(); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s of one that was forgotten: %v", name, err)
		}
	}
}

// TestLinkThatIsClosed fails every call, and the programs go on.
func TestLinkThatIsClosed(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `echo $$ >own.pid; exec sleep 1000`)
	if _, err := r.l.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	_ = r.l.Close()
	_ = r.l.Close()
	<-r.l.Done()
	for name, do := range map[string]func() error{
		"spawn": func() error {
			_, err := r.l.Spawn(r.ctx(), core.SpawnRequest{ID: s2, Argv: []string{"true"}})
			return err
		},
		"list": func() error { _, err := r.l.Spawns(r.ctx()); return err }, "kill": func() error { return r.l.Kill(r.ctx(), s1) },
		"wait": func() error { _, err := r.l.Wait(r.ctx(), s1); return err }, "forget": func() error { return r.l.Forget(r.ctx(), s1) },
		"read": func() error { _, err := r.l.Read(r.ctx(), s1, "out", 0); return err }, "ping": func() error { _, err := r.l.Ping(r.ctx()); return err },
		"ports": func() error { _, err := r.l.Ports(r.ctx()); return err }, "dial": func() error { _, err := r.l.Dial(r.ctx(), 80); return err },
	} {
		if err := do(); !errors.Is(err, core.ErrLinkDown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !r.alive("own.pid") {
		t.Error("the program ended with its link")
	}
}

// TestOtherRunsAreNotSeen: a link shows the programs of its run alone.
func TestOtherRunsAreNotSeen(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `sleep 1000`)
	other, err := r.s.Link("another", "c")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := other.Spawns(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if err := other.Kill(r.ctx(), s1); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestRefusals: what is not possible is said, and leaves nothing behind.
func TestRefusals(t *testing.T) {
	r := newRig(t)
	good := core.SpawnRequest{ID: s1, Argv: []string{"true"}, Dir: r.home, Stdio: core.StdioPipes, Keep: core.KeepSpool}
	for name, tc := range map[string]struct {
		change func(*core.SpawnRequest)
		code   core.Code
	}{
		"terminal": {func(q *core.SpawnRequest) { q.Stdio = core.StdioPTY }, core.CodeInvalid},
		"policy":   {func(q *core.SpawnRequest) { q.Policy = []byte("{}") }, core.CodeForbidden},
		"pipes":    {func(q *core.SpawnRequest) { q.Pipes = []core.SpawnPipe{{FD: 3}} }, core.CodeInvalid},
		"pause":    {func(q *core.SpawnRequest) { q.Keep = core.KeepPause }, core.CodeInvalid},
		"input":    {func(q *core.SpawnRequest) { q.OpenStdin = true }, core.CodeInvalid},
		"id":       {func(q *core.SpawnRequest) { q.ID = "../x" }, core.CodeInvalid},
		"no argv":  {func(q *core.SpawnRequest) { q.Argv = nil }, core.CodeInvalid},
		"file":     {func(q *core.SpawnRequest) { q.Files = []core.SpawnFile{{Name: "../x"}} }, core.CodeInvalid},
		"record":   {func(q *core.SpawnRequest) { q.Files = []core.SpawnFile{{Name: recordFile}} }, core.CodeInvalid},
		"program":  {func(q *core.SpawnRequest) { q.Argv = []string{"no-such-agent"} }, core.CodeNotFound},
		"path":     {func(q *core.SpawnRequest) { q.Argv = []string{"/no/such/agent"} }, core.CodeNotFound},
		"folder":   {func(q *core.SpawnRequest) { q.Dir = "/no/such/folder" }, core.CodeDir},
	} {
		q := good
		tc.change(&q)
		_, err := r.l.Spawn(r.ctx(), q)
		if f := core.AsFailure(err); err == nil || f.Code != tc.code {
			t.Errorf("%s: %v", name, err)
		}
		if name == "program" && !strings.Contains(core.AsFailure(err).Remedy, "npm install -g @anthropic-ai/claude-code") {
			t.Errorf("%s: %v", name, core.AsFailure(err).Remedy)
		}
	}
	left, _ := os.ReadDir(r.s.Folder())
	spooled, _ := os.ReadDir(filepath.Join(r.home, "channels", "c", "spool"))
	if len(left)+len(spooled) > 0 {
		t.Errorf("left %v, %v", left, spooled)
	}
	r.spawn(s1, "true")
	if _, err := r.l.Spawn(r.ctx(), good); !errors.Is(err, core.ErrConflict) {
		t.Errorf("the same id again: %v", err)
	}
}

// TestEnvironment is the person's own, less what decides about the model.
func TestEnvironment(t *testing.T) {
	r := newRig(t)
	r.s.o.Environ = func() []string {
		return []string{"PATH=" + os.Getenv("PATH"), "EDITOR=vi", "NODE_OPTIONS=--mine", "LOOP_TOKEN=x", "ANTHROPIC_BASE_URL=http://elsewhere",
			"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "LOOP_TERMINAL=outer", "X=person"}
	}
	r.spawn(s1, `env | sort | grep -v "^PATH=\|^PWD=\|^_=\|^SHLVL=\|^OLDPWD="`, func(q *core.SpawnRequest) {
		q.Env = []core.EnvVar{{Name: "X", Value: "spawn"}, {Name: "ANTHROPIC_API_KEY", Value: "k"}}
	})
	if got, want := r.read(s1, "out", 0), "ANTHROPIC_API_KEY=k\nEDITOR=vi\nLOOP_TERMINAL="+string(s1)+"\nNODE_OPTIONS=--mine\nX=spawn\n"; got != want {
		t.Errorf("%s", got)
	}
}

// TestFilesAreThePersons: what a spawn is given is read by nobody else.
func TestFilesAreThePersons(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, "sleep 1000", func(q *core.SpawnRequest) {
		q.Stdin, q.Files = []byte("prompt"), []core.SpawnFile{{Name: "mcp.json", Data: []byte("token")}}
	})
	id := string(s1)
	for path, want := range map[string]os.FileMode{
		"run/host": 0o700, "run/host/" + id: 0o700, "run/host/" + id + "/mcp.json": 0o600, "run/host/" + id + "/stdin": 0o600, "run/host/" + id + "/spawn.json": 0o600,
		"channels/c/spool": 0o700, "channels/c/spool/" + id + ".out": 0o600,
	} {
		if st, err := os.Lstat(filepath.Join(r.home, path)); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, st, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(r.home, "run/host/"+id+"/spawn.json"))
	if err != nil || bytes.Contains(b, []byte("prompt")) || bytes.Contains(b, []byte("token")) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestOutputHasACap: past it a program is held up and said to be; at twice that it is ended.
func TestOutputHasACap(t *testing.T) {
	r := newRig(t)
	r.s.o.SpoolMax = 1000
	r.spawn(s1, `head -c 1500 /dev/zero; while :; do sleep 0.01; done`)
	r.until("the pause", func() bool {
		list, err := r.l.Spawns(t.Context())
		return err == nil && list[0].Paused == wire.PausedSpool
	})
	if err := r.l.Kill(r.ctx(), s1); err != nil {
		t.Fatal(err)
	}
	r.spawn(s2, `while :; do head -c 10000 /dev/zero; done`)
	if st := r.wait(s2); st.Code == 0 {
		t.Errorf("%+v", st)
	}
}
