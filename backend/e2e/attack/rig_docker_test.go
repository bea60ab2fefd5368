//go:build docker

package main_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// The rig makes a container as Loop does, with the docker command alone, and two more
// folders in it: the places of the attacks and the program.

const (
	rigImage = "loop-agent:latest"
	rigLabel = "loop-test=attack"
	patience = 3 * time.Minute
)

func docker(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := dockerTry(args...)
	if err != nil {
		tb.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func dockerTry(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	return string(out), err
}

// programs are the guest and the attack, built once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loop-attack")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the agent of the container reads it
		return dir, err
	}
	for name, pkg := range map[string]string{"loop": "loop/agentimage/guest", "attack": "loop/backend/e2e/attack"} {
		out := filepath.Join(dir, name)
		if built := os.Getenv("LOOP_GUEST_BIN"); name == "loop" && built != "" {
			if err := copyFile(built, out, 0o755); err != nil {
				return dir, err
			}
			continue
		}
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
		if text, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w: %s", pkg, err, text)
		}
	}
	return dir, nil
})

func copyFile(from, to string, mode os.FileMode) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, mode); err != nil {
		return err
	}
	return os.Chmod(to, mode)
}

// box is a container with an agent and the places of attacks.
type box struct {
	id     core.ContainerID
	agent  int
	places string // on this computer; /arena in the container
	link   *guestlink.Link
	conn   *cliConn
	crowd  *crowd
	made   int
	owner  testing.TB // links last as long as its test
}

// agents are the user ids to attack as: only root can prepare files of others.
func agents() []int {
	if uid := os.Getuid(); uid != 0 {
		return []int{uid}
	}
	return []int{1000, 0}
}

func newBox(tb testing.TB, agent int, more ...string) *box {
	tb.Helper()
	bin, err := programs()
	if err != nil {
		tb.Fatal(err)
	}
	b := &box{agent: agent, places: tb.TempDir(), owner: tb}
	spool := tb.TempDir()
	for _, dir := range []string{b.places, filepath.Dir(b.places)} {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the agent works there
			tb.Fatal(err)
		}
	}
	b.own(tb, b.places)
	uid := strconv.Itoa(agent)
	args := []string{
		"create", "--label", rigLabel, "--network", "none", "--read-only", "--user", "0:0",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "256",
		"--tmpfs", "/run/loop:size=64m,mode=0755", "--tmpfs", "/tmp:mode=1777",
		"-v", bin + ":/opt/loop/bin:ro", "-v", spool + ":/run/loop/private/spool", "-v", b.places + ":/arena",
		"-e", "LOOP_AGENT_UID=" + uid, "-e", "LOOP_AGENT_GID=" + uid, "-e", "LOOP_AGENT_USER=agent",
		"-e", "HOME=/tmp", "-e", "CHOWN_PATHS=", "--entrypoint", "/opt/loop/bin/loop",
	}
	for _, c := range []string{"SETUID", "SETGID", "SYS_PTRACE", "DAC_OVERRIDE", "KILL", "CHOWN"} {
		args = append(args, "--cap-add", c)
	}
	b.id = core.ContainerID(docker(tb, append(append(args, more...), rigImage, "init")...))
	tb.Cleanup(func() {
		if tb.Failed() {
			out, _ := dockerTry("logs", "--tail", "50", string(b.id))
			tb.Logf("container log:\n%s", out)
		}
		docker(tb, "rm", "-f", "-v", string(b.id))
	})
	docker(tb, "start", string(b.id))
	b.open(tb)
	b.run(tb, spawn{argv: []string{"sh", "-c", "mkdir /arena/programs && cp /usr/bin/touch /bin/true /arena/programs"}})
	return b
}

// own gives a file to the agent, where this test may.
func (b *box) own(tb testing.TB, path string) {
	tb.Helper()
	if os.Getuid() != 0 {
		return
	}
	if err := os.Lchown(path, b.agent, b.agent); err != nil {
		tb.Fatal(err)
	}
}

// open opens a link, and answers what comes over it.
func (b *box) open(tb testing.TB) {
	tb.Helper()
	tb = b.owner
	d := &cliDialer{}
	l, err := guestlink.Open(tb.Context(), d, b.id, guestlink.Options{HelloTimeout: patience})
	if err != nil {
		tb.Fatalf("open link: %v\n%s", err, core.AsFailure(err).Detail)
	}
	b.link, b.conn, b.crowd = l, d.last, newCrowd()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.Questions(context.Background(), b.crowd.answer)
	}()
	tb.Cleanup(func() { _ = l.Close(); <-done })
}

// crowd answers the questions of all spawns: each by its own person, or with no.
type crowd struct {
	mu      sync.Mutex
	persons map[core.SpawnID]person
}

type person func(context.Context, core.HeldCall) core.Verdict

func newCrowd() *crowd { return &crowd{persons: make(map[core.SpawnID]person)} }

func (c *crowd) answer(ctx context.Context, h core.HeldCall) core.Verdict {
	c.mu.Lock()
	p := c.persons[h.Spawn]
	c.mu.Unlock()
	if p == nil {
		return core.Verdict{}
	}
	return p(ctx, h)
}

func (c *crowd) set(id core.SpawnID, p person) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.persons[id] = p
}

// spawn is a program to start as the agent.
type spawn struct {
	argv    []string
	env     []core.EnvVar
	policy  []byte
	version int64
	tty     bool
	person  person
}

// start starts it; the caller waits and forgets.
func (b *box) start(tb testing.TB, s spawn) core.SpawnID {
	tb.Helper()
	id := core.SpawnID(core.NewID())
	if s.person != nil {
		b.crowd.set(id, s.person)
	}
	req := core.SpawnRequest{ID: id, Argv: s.argv, Env: s.env, Dir: "/tmp", Stdio: core.StdioPipes, Policy: s.policy}
	if s.policy != nil {
		req.PolicyVersion = max(s.version, 1)
	}
	if s.tty {
		req.Stdio, req.Cols, req.Rows = core.StdioPTY, 80, 24
	}
	if _, err := b.link.Spawn(tb.Context(), req); err != nil {
		tb.Fatalf("spawn %v: %v\n%s", s.argv, err, core.AsFailure(err).Detail)
	}
	return id
}

// finish returns what a program printed when it has ended.
func (b *box) finish(tb testing.TB, id core.SpawnID) (string, core.ExitStatus) {
	tb.Helper()
	r, err := b.link.Read(tb.Context(), id, "out", 0)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	exit, err := b.link.Wait(tb.Context(), id)
	if err != nil {
		tb.Fatalf("wait: %v", err)
	}
	b.forget(tb, id)
	return string(data), exit
}

func (b *box) forget(tb testing.TB, id core.SpawnID) {
	tb.Helper()
	if err := b.link.Forget(tb.Context(), id); err != nil {
		tb.Fatalf("forget: %v", err)
	}
	b.crowd.set(id, nil)
}

func (b *box) run(tb testing.TB, s spawn) (string, core.ExitStatus) {
	tb.Helper()
	return b.finish(tb, b.start(tb, s))
}

// kill ends a program that waits.
func (b *box) kill(tb testing.TB, id core.SpawnID) {
	tb.Helper()
	if err := b.link.Kill(tb.Context(), id); err != nil {
		tb.Errorf("kill: %v", err)
		return
	}
	b.forget(tb, id)
}

// report says for people what a test has shown: in its log, and in the folder of
// LOOP_ATTACK_REPORT.
func report(t *testing.T, id, text string) {
	t.Helper()
	t.Log(id, text)
	dir := os.Getenv("LOOP_ATTACK_REPORT")
	if dir == "" {
		return
	}
	top, _, _ := strings.Cut(t.Name(), "/")
	f, err := os.OpenFile(filepath.Join(dir, top+".txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = f.Close() }()
	if _, err := fmt.Fprintf(f, "%-10s %s\n", id, text); err != nil {
		t.Error(err)
	}
}

// eventually repeats ok until it is true, and fails at the deadline.
func eventually(tb testing.TB, what string, within time.Duration, ok func() bool) {
	tb.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("%s: not within %v", what, within)
		}
	}
}

// cliDialer is a Dialer made of `docker exec -i`.
type cliDialer struct{ last *cliConn }

func (d *cliDialer) DialExec(_ context.Context, id core.ContainerID, user string, argv []string) (io.ReadWriteCloser, error) {
	cmd := exec.Command("docker", append([]string{"exec", "-i", "-u", user, string(id)}, argv...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.last = &cliConn{cmd: cmd, Reader: out, WriteCloser: in}
	return d.last, cmd.Start()
}

type cliConn struct {
	io.Reader
	io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

// kill ends this side of the link, as a SIGKILL of the app does.
func (c *cliConn) kill() { _ = c.cmd.Process.Kill() }

func (c *cliConn) Close() error {
	c.once.Do(func() {
		_ = c.WriteCloser.Close()
		c.kill()
		_ = c.cmd.Wait()
	})
	return nil
}
