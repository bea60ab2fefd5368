//go:build docker

package guestlink_test

import (
	"bytes"
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

// The rig makes real containers, hardened as Loop's are, with the docker CLI alone.
// These tests must not depend on the engine adapter.

const (
	// The agent image exists wherever these tests run. Its base does not: some machines
	// pull it, others make it.
	rigImage = "loop-agent:latest"
	rigLabel = "loop-test=guestlink"
)

// sixCaps are the capabilities that a container of Loop gets.
var sixCaps = []string{"SETUID", "SETGID", "SYS_PTRACE", "DAC_OVERRIDE", "KILL", "CHOWN"}

func docker(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := dockerTry(args...)
	if err != nil {
		tb.Fatalf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// patience bounds every wait. It is far more than a loaded machine takes.
const patience = 3 * time.Minute

func dockerTry(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	return string(out), err
}

var guestVolume = sync.OnceValues(makeGuestVolume)

// makeGuestVolume builds the guest and fills a volume with it, as for a remote engine.
// The volume is removed at the end.
func makeGuestVolume() (string, error) {
	dir, err := os.MkdirTemp("", "loop-guest")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin := os.Getenv("LOOP_GUEST_BIN") // make test has built it; the user that runs the tests may have no Go caches
	if bin == "" {
		bin = filepath.Join(dir, "loop")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "loop/agentimage/guest")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build guest: %w: %s", err, out)
		}
	}
	name := "loop-test-" + core.NewID()[:12]
	for _, args := range [][]string{
		{"volume", "create", "--label", rigLabel, name},
		{"create", "--name", name, "--label", rigLabel, "-v", name + ":/opt/loop/bin", rigImage, "true"},
		{"cp", bin, name + ":/opt/loop/bin/loop"},
		{"rm", "-f", name},
	} {
		if out, err := dockerTry(args...); err != nil {
			return name, fmt.Errorf("docker %s: %w: %s", args[0], err, out)
		}
	}
	return name, nil
}

func init() {
	cleanup = func() {
		name, _ := guestVolume()
		if name == "" {
			return
		}
		_, _ = dockerTry("rm", "-f", name)
		if out, err := dockerTry("volume", "rm", "-f", name); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "remove volume:", err, out)
		}
	}
}

type box struct {
	id    core.ContainerID
	spool string // host path
	agent int
}

type boxOptions struct {
	agent int      // uid and gid
	caps  []string // nil: all six
	env   []string
	args  []string // more arguments of docker create
}

// newBox starts a container and removes it with the test.
func newBox(tb testing.TB, o boxOptions) *box {
	tb.Helper()
	vol, err := guestVolume()
	if err != nil {
		tb.Fatal(err)
	}
	if o.caps == nil {
		o.caps = sixCaps
	}
	b := &box{agent: o.agent, spool: tb.TempDir()}
	if err := os.Chmod(b.spool, 0o700); err != nil {
		tb.Fatal(err)
	}
	if os.Getuid() == 0 {
		// The directory belongs to another user, as on an ordinary host. Only
		// DAC_OVERRIDE opens it.
		if err := os.Chown(b.spool, 1234, 1234); err != nil {
			tb.Fatal(err)
		}
	}
	uid := strconv.Itoa(o.agent)
	args := []string{
		"create", "--label", rigLabel, "--network", "none", "--read-only", "--user", "0:0",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", "256",
		"--tmpfs", "/run/loop:size=64m,mode=0755", "--tmpfs", "/tmp:mode=1777",
		"-v", vol + ":/opt/loop/bin:ro", "-v", b.spool + ":/run/loop/private/spool",
		"-e", "LOOP_AGENT_UID=" + uid, "-e", "LOOP_AGENT_GID=" + uid, "-e", "LOOP_AGENT_USER=agent",
		"-e", "HOME=/tmp", "-e", "CHOWN_PATHS=", "--entrypoint", "/opt/loop/bin/loop",
	}
	for _, c := range o.caps {
		args = append(args, "--cap-add", c)
	}
	for _, e := range o.env {
		args = append(args, "-e", e)
	}
	args = append(append(args, o.args...), rigImage, "init")
	b.id = core.ContainerID(docker(tb, args...))
	tb.Cleanup(func() {
		if tb.Failed() {
			out, _ := dockerTry("logs", "--tail", "50", string(b.id))
			tb.Logf("container log:\n%s", out)
		}
		docker(tb, "rm", "-f", "-v", string(b.id))
	})
	docker(tb, "start", string(b.id))
	return b
}

// sh runs a command in the container through docker exec, as uid:gid.
func (b *box) sh(tb testing.TB, user, script string) (string, error) {
	tb.Helper()
	return dockerTry("exec", "-u", user, string(b.id), "sh", "-c", script)
}

// cliDialer is a Dialer made of `docker exec -i`.
type cliDialer struct {
	mu   sync.Mutex
	last *cliConn
}

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
	c := &cliConn{cmd: cmd, in: in, out: out}
	cmd.Stderr = &c.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.last = c
	d.mu.Unlock()
	return c, nil
}

type cliConn struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr lockedBuffer
	once   sync.Once
}

func (c *cliConn) Read(p []byte) (int, error)  { return c.out.Read(p) }
func (c *cliConn) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *cliConn) Stderr() string              { return c.stderr.String() }

// kill ends this side of the link, as a SIGKILL of the app does.
func (c *cliConn) kill() { _ = c.cmd.Process.Kill() }

func (c *cliConn) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		c.kill()
		_ = c.cmd.Wait()
	})
	return nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// link opens a link to the box and closes it with the test.
func (b *box) link(tb testing.TB, opts guestlink.Options) (*guestlink.Link, *cliConn) {
	tb.Helper()
	d := &cliDialer{}
	opts.HelloTimeout = patience
	l, err := guestlink.Open(tb.Context(), d, b.id, opts)
	if err != nil {
		f := core.AsFailure(err)
		tb.Fatalf("open link: %v\n%s", err, f.Detail)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l, d.last
}

// run spawns a script as the agent. It returns the script's output and exit.
func run(tb testing.TB, l *guestlink.Link, script string) (string, core.ExitStatus) {
	tb.Helper()
	return runSpawn(tb, l, core.SpawnID(core.NewID()), script)
}

func runSpawn(tb testing.TB, l *guestlink.Link, id core.SpawnID, script string) (string, core.ExitStatus) {
	tb.Helper()
	if _, err := l.Spawn(tb.Context(), core.SpawnRequest{
		ID: id, Argv: []string{"sh", "-c", "exec 2>&1\n" + script}, Dir: "/tmp", Stdio: core.StdioPipes,
	}); err != nil {
		tb.Fatalf("spawn: %v", err)
	}
	out := readAll(tb, l, id, "out", 0)
	exit, err := l.Wait(tb.Context(), id)
	if err != nil {
		tb.Fatalf("wait: %v", err)
	}
	if err := l.Forget(tb.Context(), id); err != nil {
		tb.Fatalf("forget: %v", err)
	}
	return string(out), exit
}

func readAll(tb testing.TB, l *guestlink.Link, id core.SpawnID, stream string, off int64) []byte {
	tb.Helper()
	r, err := l.Read(tb.Context(), id, stream, off)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(r)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	return data
}

// eventually repeats ok until it is true, and fails at the deadline.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			tb.Fatalf("%s: did not happen", what)
		}
	}
}
