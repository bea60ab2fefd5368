//go:build docker

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loop/backend/core"
)

// patience bounds any single wait. A cold run takes a few seconds; a loaded
// two-core machine has been seen to take thirty times that.
const patience = 5 * time.Minute

// home is one Loop folder, with the binary that works on it.
type home struct {
	t   testing.TB
	bin string
	dir string // LOOP_HOME
	env []string
	in  string               // standard input of the commands that follow
	as  *syscall.SysProcAttr // runs the binary as another user; nil is this user
}

func newHome(t testing.TB, config string) *home {
	t.Helper()
	bin := os.Getenv("LOOP_BIN")
	if bin == "" {
		t.Fatal("LOOP_BIN does not name the built binary; run these tests with “make test”")
	}
	h := &home{t: t, bin: bin, dir: filepath.Join(t.TempDir(), "loop-home")}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// What waits for a next prompt is no leftover of a run; its own test has it on.
	if config = cmp.Or(config, "{}"); json.Valid([]byte(config)) && !strings.Contains(config, "claude_ahead") {
		at := strings.LastIndexByte(config, '}') // behind what there is, whose places the tests name
		config = strings.Replace(config[:at]+`,"claude_ahead":false}`, "{,", "{", 1)
	}
	if config != "" {
		if err := os.WriteFile(filepath.Join(h.dir, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The tests leave a person's own keyring alone.
	h.env = append(os.Environ(), "LOOP_HOME="+h.dir, "NO_COLOR=1", "LOOP_KEYRING=file")
	t.Cleanup(h.removeContainers)
	return h
}

// removeContainers removes the containers that this folder's runs kept for inspection.
func (h *home) removeContainers() {
	args := []string{"rm", "-f", "-v"}
	for _, c := range h.containers() {
		args = append(args, c.ID)
	}
	if len(args) == 3 {
		return
	}
	if out, err := docker(context.Background(), args...); err != nil {
		h.t.Logf("remove containers: %v %s", err, out)
	}
}

type result struct {
	code   int
	out    string
	err    string
	took   time.Duration
	events []core.Event
	last   map[string]any
}

// run executes one command and waits for its end.
func (h *home) run(args ...string) result {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.bin, args...)
	cmd.Env, cmd.SysProcAttr = h.env, h.as
	if h.in != "" {
		cmd.Stdin = strings.NewReader(h.in)
	}
	var out, errb bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errb
	began := time.Now()
	err := cmd.Run()
	r := result{out: out.String(), err: errb.String(), took: time.Since(began)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.code = exit.ExitCode()
	} else if err != nil {
		h.t.Fatalf("%v: %v", args, err)
	}
	return r
}

// runJSON is run with --json. It parses the output.
func (h *home) runJSON(args ...string) result {
	h.t.Helper()
	r := h.run(append([]string{"run", "--json"}, args...)...)
	sc := bufio.NewScanner(strings.NewReader(r.out))
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var m map[string]any
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			h.t.Fatalf("a line of --json is not JSON: %v: %.300s", err, sc.Text())
		}
		r.last = m
		var e core.Event
		if err := json.Unmarshal(sc.Bytes(), &e); err == nil && e.Seq > 0 {
			r.events = append(r.events, e)
		}
	}
	return r
}

// texts returns the contents of the agent's messages.
func texts(events []core.Event) string {
	var b strings.Builder
	for _, e := range events {
		var m core.MessageCreated
		if e.Type == core.EventMessageCreated && json.Unmarshal(e.Data, &m) == nil && m.IsBot {
			b.WriteString(m.Content + "\n")
		}
	}
	return b.String()
}

// server is a running “loop serve”.
type server struct {
	h     *home
	cmd   *exec.Cmd
	url   string
	token string
	log   *words
	done  chan error
}

// words is the output of a process, which may be read while the process writes.
type words struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// client makes a new connection for every request. The other side may close a kept
// connection just when a call is written to it, and calls are not repeated.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

var ready = regexp.MustCompile(`^Loop is ready: (http://127\.0\.0\.1:\d+/)#token=([0-9a-f]{64})$`)

func (h *home) serve(args ...string) *server {
	h.t.Helper()
	s := &server{h: h, log: &words{}, done: make(chan error, 1)}
	s.cmd = exec.Command(h.bin, append([]string{"serve"}, args...)...)
	s.cmd.Env, s.cmd.SysProcAttr = h.env, h.as
	s.cmd.Stderr = s.log
	pipe, err := s.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		sc := bufio.NewScanner(pipe)
		for sc.Scan() {
			select {
			case lines <- sc.Text():
			case <-h.t.Context().Done():
			}
		}
		close(lines)
		s.done <- s.cmd.Wait()
	}()
	h.t.Cleanup(func() { s.stop() })
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				h.t.Fatalf("loop serve ended: %s", s.log)
			}
			if m := ready.FindStringSubmatch(line); m != nil {
				s.url, s.token = m[1], m[2]
				go func() {
					for range lines {
					}
				}()
				return s
			}
		case <-timeout:
			h.t.Fatalf("loop serve did not get ready: %s", s.log)
		}
	}
}

// kill ends the process as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGKILL)
	<-s.done
	s.done <- nil
}

// stop ends the process as a person does, and fails when it does not end.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.done:
		s.done <- err
	case <-time.After(patience):
		s.h.t.Errorf("loop serve did not end on SIGTERM: %s", s.log)
		s.kill()
	}
}

// call calls a bound method.
func (s *server) call(method string, out any, args ...any) error {
	if args == nil {
		args = []any{}
	}
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.h.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"api/call/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", method, res.StatusCode, b)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(b, out)
}

func (s *server) must(method string, out any, args ...any) {
	s.h.t.Helper()
	if err := s.call(method, out, args...); err != nil {
		s.h.t.Fatal(err)
	}
}

type timeline struct {
	Events []core.Event `json:"events"`
	Queue  []core.Run   `json:"queue"`
}

// until reads the timeline again and again until ok accepts it. A long timeline is read
// less often, because reading it takes much of the processor.
func (s *server) until(ch core.ChannelID, what string, ok func(timeline) bool) timeline {
	s.h.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		began := time.Now()
		var page timeline // new each time, because decoding keeps old values of fields that are left out
		s.must("Channels.Timeline", &page, ch, 0, 1000)
		if ok(page) {
			return page
		}
		tick.Reset(max(50*time.Millisecond, 4*time.Since(began)))
		select {
		case <-tick.C:
		case <-deadline.C:
			b, _ := json.MarshalIndent(page, "", " ")
			s.h.t.Fatalf("waited for %s in vain\n%s\n%s", what, b, s.log)
		}
	}
}

// statuses returns the states a run went through.
func statuses(p timeline, run core.RunID) (list []core.RunState) {
	for _, e := range p.Events {
		var st core.Status
		if e.Type == core.EventStatus && e.RunID == run && json.Unmarshal(e.Data, &st) == nil {
			if n := len(list); n == 0 || list[n-1] != st.State {
				list = append(list, st.State)
			}
		}
	}
	return list
}

func ended(p timeline, run core.RunID) bool {
	s := statuses(p, run)
	return len(s) > 0 && s[len(s)-1].Terminal()
}

func count(p timeline, typ core.EventType, run core.RunID) (n int) {
	for _, e := range p.Events {
		if e.Type == typ && e.RunID == run {
			n++
		}
	}
	return n
}

// container is the engine's description of a container.
type container struct {
	ID, Name string
	State    struct {
		Running   bool
		Pid       int
		ExitCode  int
		OOMKilled bool
	}
	Config struct {
		Labels map[string]string
		Env    []string
	}
	HostConfig struct {
		CapDrop, CapAdd, SecurityOpt []string
		ReadonlyRootfs, AutoRemove   bool
		NetworkMode                  string
	}
	Mounts []struct{ Source string }
}

// containers lists the containers of this folder's runs. The mount sources show the
// folder, since every container of a run mounts its channel's state.
func (h *home) containers() []container {
	h.t.Helper()
	out, err := docker(context.Background(), "ps", "-aq", "--no-trunc", "--filter", "label=app=loop-agent")
	if err != nil {
		h.t.Fatalf("list containers: %v %s", err, out)
	}
	ids := strings.Fields(out)
	if len(ids) == 0 {
		return nil
	}
	out, _ = docker(context.Background(), append([]string{"inspect"}, ids...)...) // one may be gone by now
	var all, mine []container
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		h.t.Fatalf("inspect: %v %.500s", err, out)
	}
	for _, c := range all {
		if slices.ContainsFunc(c.Mounts, func(m struct{ Source string }) bool { return strings.HasPrefix(m.Source, h.dir+"/") }) {
			mine = append(mine, c)
		}
	}
	return mine
}

// docker runs the first docker client that reaches the engine.
func docker(ctx context.Context, args ...string) (string, error) {
	bin := "docker"
	if _, err := os.Stat("/usr/bin/docker"); err == nil {
		bin = "/usr/bin/docker"
	}
	var out, errb bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Stdout, cmd.Stderr = &out, &errb
	err := cmd.Run()
	if err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, errb.String())
	}
	return out.String(), nil
}
