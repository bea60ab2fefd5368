//go:build docker

package main_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
	"loop/backend/wire"
)

// kills is how often each part is killed: 200 times in full.
func kills() int {
	if soaktest.Whole() {
		return 200
	}
	return 3
}

// TestKills ends parts of the gate while calls are held: whatever dies, each call is
// refused, nothing of what was closed changes, and nothing is left.
func TestKills(t *testing.T) {
	b := newBox(t, agents()[0])
	t.Run("B5", func(t *testing.T) { each(t, "the supervisor is killed", killSupervisor) })
	t.Run("B6", func(t *testing.T) { stopSupervisor(t, b) })
	t.Run("B7", func(t *testing.T) {
		each(t, "the link is killed", func(t *testing.T) time.Duration {
			return cutLink(t, b, func() time.Time { return b.timed(t, "pkill -KILL -f '^/opt/loop/bin/loop link'") })
		})
	})
	t.Run("app", func(t *testing.T) {
		each(t, "the app is killed", func(t *testing.T) time.Duration {
			return cutLink(t, b, func() time.Time { b.conn.kill(); return time.Now() })
		})
	})
	t.Run("init", func(t *testing.T) { each(t, "loop init is killed", killInit) })
}

// each repeats a kill, which may use up a container, and reports how long it took until
// all was closed.
func each(t *testing.T, what string, do func(*testing.T) time.Duration) {
	t.Helper()
	var took []time.Duration
	for i := range kills() {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) { took = append(took, do(t)) })
	}
	slices.Sort(took)
	if n := len(took); n > 0 && !t.Failed() {
		report(t, path.Base(t.Name()), fmt.Sprintf("%s with %d calls held: %d times, all were refused and nothing was left; closed within %v, half of them within %v",
			what, pending, n, took[n-1].Round(time.Millisecond), took[n/2].Round(time.Millisecond)))
	}
}

// pending is how many calls of a program are held when something is killed.
const pending = 5

// asking starts a program of which calls are held until the test is over. The channel is
// closed when nobody waits for any of their answers any more.
func asking(t *testing.T, b *box, id string, calls int32, p *place) (core.SpawnID, <-chan struct{}) {
	t.Helper()
	var asked, over atomic.Int32
	begun, ended := make(chan struct{}), make(chan struct{})
	spawned := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", id, p.inside}, policy: rules(t, true),
		env: []core.EnvVar{{Name: "ROUNDS", Value: fmt.Sprint(calls)}},
		person: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			n := asked.Add(1)
			if n > calls { // a program that asks again
				return core.Verdict{}
			}
			if n == calls {
				close(begun)
			}
			<-ctx.Done()
			if over.Add(1) == calls {
				close(ended)
			}
			return core.Verdict{Allow: true}
		}})
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatalf("%d of %d calls were asked about", asked.Load(), calls)
	}
	return spawned, ended
}

// keeper finds the supervisor of a spawn: it is the parent of its program.
func keeper(t *testing.T, b *box, id core.SpawnID) string {
	t.Helper()
	infos, err := b.link.Spawns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.ID == id {
			pid := fmt.Sprint(i.Pid)
			out, err := dockerTry("exec", "-u", "0:0", string(b.id), "ps", "-o", "ppid=", "-p", pid)
			if err != nil {
				t.Fatal(err, out)
			}
			return strings.TrimSpace(out)
		}
	}
	t.Fatal("the spawn is not listed")
	return ""
}

// timed does something to the container's processes, and says when: the command that does
// it takes a while to start, and to end.
func (b *box) timed(t *testing.T, command string) time.Time {
	t.Helper()
	out, err := dockerTry("exec", "-u", "0:0", string(b.id), "sh", "-c", "date +%s%N; "+command)
	at, perr := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if perr != nil { // the end of the container may be an error of the command
		t.Fatal(err, out)
	}
	return time.Unix(0, at)
}

// killSupervisor: a container whose gate has died does not go on.
func killSupervisor(t *testing.T) time.Duration {
	b := newBox(t, agents()[0])
	p := b.place(t)
	id, ended := asking(t, b, "ask-many", pending, p)
	sup := keeper(t, b, id)
	if sup == "1" {
		t.Fatal("the program's parent is init: there is no supervisor")
	}
	took := b.gone(t, p, b.timed(t, "kill -KILL "+sup))
	<-ended
	return took
}

// gone: the container ends in time, and nothing closed has changed.
func (b *box) gone(t *testing.T, p *place, began time.Time) time.Duration {
	t.Helper()
	docker(t, "wait", string(b.id))
	at := docker(t, "inspect", "-f", "{{.State.FinishedAt}}", string(b.id))
	end, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		t.Fatal(err)
	}
	took := end.Sub(began)
	if took > deadline {
		t.Errorf("the container was gone after %v", took)
	}
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Error(broken)
	}
	return took
}

// stopSupervisor: while the supervisor stands still, so do the calls.
func stopSupervisor(t *testing.T, b *box) {
	p := b.place(t)
	id, _ := asking(t, b, "B6", 1, p)
	sup := keeper(t, b, id)
	b.timed(t, "kill -STOP "+sup)
	select {
	case <-time.After(500 * time.Millisecond):
	case <-t.Context().Done():
	}
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Errorf("while the supervisor was stopped: %v", broken)
	}
	b.timed(t, "kill -CONT "+sup)
	b.kill(t, id)
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Errorf("after it went on: %v", broken)
	}
}

// TestStoppedSupervisorEndsTheContainer: a supervisor that stays stopped is ended, and with
// it the container, in which nothing could be held any more.
func TestStoppedSupervisorEndsTheContainer(t *testing.T) {
	b := newBox(t, agents()[0])
	p := b.place(t)
	id, ended := asking(t, b, "B6", 1, p)
	b.timed(t, "kill -STOP "+keeper(t, b, id))
	if code := docker(t, "wait", string(b.id)); code != fmt.Sprint(wire.ExitUnsupervised) {
		t.Errorf("the container ended with %s", code)
	}
	<-ended
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Error(broken)
	}
}

// cutLink: calls that wait for answers from a link that is gone are refused, and a new
// link finds the program as it is. Afterwards the container has the processes that it had.
func cutLink(t *testing.T, b *box, cut func() time.Time) time.Duration {
	before := b.processes(t)
	p := b.place(t)
	id, ended := asking(t, b, "ask-many", pending, p)
	began := cut()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the questions outlive the link")
	}
	took := time.Since(began)
	if took > deadline {
		t.Errorf("the questions ended after %v", took)
	}
	<-b.link.Done()
	_ = b.link.Close()
	b.open(t)
	text, _ := b.finish(t, id)
	o, _ := parse(text)
	if d := time.Duration(o.Count["ms"]) * time.Millisecond; o.Count["refused"] != pending || d > time.Since(began)+deadline {
		t.Errorf("the held calls: %s", text)
	}
	if broken := p.broken(t, text); len(broken) > 0 {
		t.Error(broken)
	}
	var left string
	defer func() {
		if t.Failed() {
			t.Logf("the container has\n%s", left)
		}
	}()
	eventually(t, "the container has the processes it had, which are\n"+before, patience, func() bool {
		left = b.processes(t)
		return left == before
	})
	return took
}

// processes lists the programs in the container.
func (b *box) processes(t *testing.T) string {
	t.Helper()
	out, err := dockerTry("top", string(b.id), "-eo", "pid,uid,args")
	if err != nil {
		t.Fatal(err, out)
	}
	var list []string
	for line := range strings.Lines(out) {
		list = append(list, strings.Join(strings.Fields(line)[1:], " "))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// killInit: without loop init there is no container.
func killInit(t *testing.T) time.Duration {
	b := newBox(t, agents()[0])
	p := b.place(t)
	_, _ = asking(t, b, "ask-many", pending, p)
	began := time.Now()
	docker(t, "kill", "-s", "KILL", string(b.id))
	return b.gone(t, p, began)
}
