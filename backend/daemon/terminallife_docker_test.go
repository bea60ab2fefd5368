//go:build docker

package daemon

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/core"
)

// patience bounds every wait. It is far more than a loaded machine takes.
const patience = 3 * time.Minute

// screenText follows a viewer and waits until what it was given contains want.
type screenText struct {
	v    core.TerminalViewer
	seen bytes.Buffer
	size [2]uint16
	exit *core.TerminalExit
}

func (s *screenText) until(t *testing.T, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !strings.Contains(s.seen.String(), want) {
		f, err := s.v.Next(ctx)
		if err != nil {
			t.Fatalf("waited for %q: %v\n%q", want, err, s.seen.String())
		}
		switch f.Kind {
		case core.FrameSnapshot:
			s.seen.Reset()
			s.size = [2]uint16{f.Cols, f.Rows}
		case core.FrameResized:
			s.size = [2]uint16{f.Cols, f.Rows}
		case core.FrameEnded:
			s.exit = f.Exit
		}
		s.seen.Write(f.Data)
	}
}

// past waits as until does, and then drops the text up to want. Text after want stays.
func (s *screenText) past(t *testing.T, want string) {
	t.Helper()
	s.until(t, want)
	s.seen.Next(strings.Index(s.seen.String(), want) + len(want))
}

// ended reads to the end of the program.
func (s *screenText) ended(t *testing.T) *core.TerminalExit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for s.exit == nil {
		f, err := s.v.Next(ctx)
		if err != nil {
			t.Fatalf("waited for the end: %v\n%q", err, s.seen.String())
		}
		s.seen.Write(f.Data)
		s.exit = f.Exit
	}
	return s.exit
}

// TestTerminalInAContainer uses shells in the demo channel's container. The app ends
// under one of them and takes it up again.
func TestTerminalInAContainer(t *testing.T) {
	t.Setenv("LOOP_HOME", t.TempDir())
	open := func() *Daemon {
		d, err := New(t.Context(), Options{Version: "test", Frontend: fstest.MapFS{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Start(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		removeAll(ctx, t, d)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	ch := project(t, d)
	create := func(spec core.TerminalSpec) core.TerminalInfo {
		t.Helper()
		spec.ChannelID = ch.ID
		start := time.Now()
		i, err := d.terminals.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("created in %v", time.Since(start))
		return i
	}
	attach := func(id core.TerminalID) *screenText {
		t.Helper()
		v, err := d.terminals.Attach(t.Context(), id, core.TerminalAttach{})
		if err != nil {
			t.Fatal(err)
		}
		return &screenText{v: v}
	}
	say := func(id core.TerminalID, line string) {
		t.Helper()
		if err := d.terminals.Input(t.Context(), id, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}

	sh := create(core.TerminalSpec{Plain: true, Cols: 100, Rows: 30})
	a := attach(sh.ID)
	say(sh.ID, "echo he''llo; stty size; pwd; echo $TERM $LANG\r")
	a.until(t, "hello")
	a.until(t, "30 100")
	a.until(t, ch.Dir)
	a.until(t, "xterm-256color C.UTF-8")
	if err := d.terminals.Resize(t.Context(), sh.ID, 61, 17); err != nil {
		t.Fatal(err)
	}
	say(sh.ID, "stty size\r")
	a.until(t, "17 61")

	// A second one shares the container and is quick.
	one := create(core.TerminalSpec{Cmd: []string{"/bin/sh", "-c", "echo only; exit 3"}})
	if one.ContainerID != sh.ContainerID {
		t.Error("another container")
	}
	b := attach(one.ID)
	if e := b.ended(t); e.Code != 3 || !strings.Contains(b.seen.String(), "only") {
		t.Errorf("%+v %q", e, b.seen.String())
	}
	if _, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cmd: []string{"/no/such/shell"}}); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("a shell that does not exist: %v", err)
	}

	// The app ends. The shell and its program go on.
	say(sh.ID, "n=0; while sleep 0.2; do n=$((n+1)); echo tick-$n-; done\r")
	a.until(t, "tick-2-")
	a.v.Close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open()
	list := d.terminals.List(ch.ID)
	if len(list) != 1 || list[0].ID != sh.ID {
		t.Fatalf("%+v", list)
	}
	c := attach(sh.ID)
	c.until(t, "tick-12-")
	for _, n := range []string{"tick-1-", "tick-2-", "tick-3-", "tick-5-", "tick-8-"} {
		if got := strings.Count(c.seen.String(), n); got != 1 {
			t.Errorf("%s is there %d times", n, got)
		}
	}
	if c.size != [2]uint16{61, 17} {
		t.Errorf("size %v", c.size)
	}
	if err := d.terminals.CloseSession(t.Context(), sh.ID); err != nil {
		t.Fatal(err)
	}

	// Loop did not make this container. A terminal in it runs through the engine and is
	// in the channel's list. Loop never removes the container.
	foreign := foreignContainer(t)
	ex := create(core.TerminalSpec{ContainerID: foreign, Cmd: []string{"/bin/sh"}, Cols: 70, Rows: 20})
	e := attach(ex.ID)
	say(ex.ID, "stty size; echo $((40+2))\r")
	e.until(t, "20 70")
	e.until(t, "42")
	if err := d.terminals.Stop(t.Context(), ex.ID); err != nil {
		t.Fatal(err)
	}
	if facts, err := d.engine.Inspect(t.Context(), foreign); err != nil || !facts.Running {
		t.Errorf("a container of somebody else's was ended: %+v %v", facts, err)
	}

	// The channel goes, and with it its container and its shell on this computer.
	host := create(core.TerminalSpec{Target: core.TargetHost, Cmd: []string{"/bin/sh"}})
	hv := attach(host.ID)
	say(host.ID, "pwd; echo tty-$(tty)\r")
	hv.until(t, ch.Dir)
	hv.until(t, "tty-/dev/pts/")
	if err := d.bound.channels.Remove(string(ch.ID)); err != nil {
		t.Fatal(err)
	}
	if l := d.terminals.List(""); len(l) != 0 {
		t.Errorf("%+v", l)
	}
	if err := d.terminals.Kill(t.Context(), ch.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := d.engine.Inspect(t.Context(), sh.ContainerID); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("the container is still there: %v", err)
	}
}

// TestAgentTerminalAfterARestart: the agent's command is typed into the shell. After a
// restart of the container it is typed again, and resumes the conversation.
func TestAgentTerminalAfterARestart(t *testing.T) {
	t.Setenv("LOOP_HOME", t.TempDir())
	d, err := New(t.Context(), Options{Version: "test", Frontend: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	ch, err := d.bound.channels.Demo()
	if err != nil {
		t.Fatal(err)
	}
	i, err := d.terminals.Create(t.Context(), core.TerminalSpec{ChannelID: ch.ID, Cols: 160, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.terminals.Kill(context.WithoutCancel(t.Context()), ch.ID); err != nil {
			t.Error(err)
		}
	}()
	v, err := d.terminals.Attach(t.Context(), i.ID, core.TerminalAttach{})
	if err != nil {
		t.Fatal(err)
	}
	s := &screenText{v: v}
	s.until(t, "Claude Code") // the CLI's title shows without a question before it
	s.until(t, "for agents")
	if err := d.terminals.Input(t.Context(), i.ID, []byte("hello\r")); err != nil {
		t.Fatal(err)
	}
	s.until(t, "real") // the scripted model's answer
	await(t, "conversation to go on with", func() bool {
		list, err := transcripts(d.home, nil).List(t.Context(), ch.Channel)
		return err == nil && len(list) == 1
	})
	if out, err := exec.Command("docker", "restart", "-t", "1", string(i.ContainerID)).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	s.past(t, "--continue")
	s.until(t, "for agents")
	onlyRuns(t, d, ch.ID, i.ID)
}

// onlyRuns waits until one session of the channel is left and its program runs.
func onlyRuns(t *testing.T, d *Daemon, ch core.ChannelID, id core.TerminalID) {
	t.Helper()
	await(t, "one session that runs", func() bool {
		l := d.terminals.List(ch)
		return len(l) == 1 && l[0].ID == id && l[0].State == core.TerminalRunning
	})
}

// await waits until ok is true.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// foreignContainer is a container that Loop did not make.
func foreignContainer(t *testing.T) core.ContainerID {
	t.Helper()
	out, err := exec.Command("docker", "run", "-d", "--network", "none", "--entrypoint", "sleep", "loop-agent:latest", "6000").Output()
	if err != nil {
		t.Fatalf("make a container: %v", err)
	}
	id := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "rm", "-f", id).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	return core.ContainerID(id)
}
