//go:build docker

package main_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// kills is how often each part is killed: 200 times in full.
func kills() int {
	if soaktest.Whole() {
		return 200
	}
	return 3
}

// TestKills ends parts of the gate while a call is held: whatever dies, the call is
// refused, and nothing of what was closed changes.
func TestKills(t *testing.T) {
	b := newBox(t, agents()[0])
	t.Run("B5", func(t *testing.T) { each(t, killSupervisor) })
	t.Run("B6", func(t *testing.T) { stopSupervisor(t, b) })
	t.Run("B7", func(t *testing.T) {
		each(t, func(t *testing.T) {
			cutLink(t, b, func() {
				if out, err := dockerTry("exec", "-u", "0:0", string(b.id), "pkill", "-KILL", "-f", "^/opt/loop/bin/loop link"); err != nil {
					t.Fatal(err, out)
				}
			})
		})
	})
	t.Run("app", func(t *testing.T) { each(t, func(t *testing.T) { cutLink(t, b, func() { b.conn.kill() }) }) })
	t.Run("init", func(t *testing.T) { each(t, killInit) })
}

// each repeats a kill, which may use up a container.
func each(t *testing.T, do func(*testing.T)) {
	t.Helper()
	for i := range kills() {
		t.Run(fmt.Sprint(i+1), do)
	}
}

// asking starts a program whose call is held until the test is over. The channel is
// closed when nobody waits for the answer any more.
func asking(t *testing.T, b *box, id string, p *place) (core.SpawnID, <-chan struct{}) {
	t.Helper()
	begun, ended := make(chan struct{}), make(chan struct{})
	spawned := b.start(t, spawn{argv: []string{"/opt/loop/bin/attack", id, p.inside}, policy: rules(t, true),
		person: func(ctx context.Context, _ core.HeldCall) core.Verdict {
			select {
			case <-begun: // a program that asks again
				return core.Verdict{}
			default:
			}
			close(begun)
			<-ctx.Done()
			close(ended)
			return core.Verdict{Allow: true}
		}})
	select {
	case <-begun:
	case <-time.After(patience):
		t.Fatal("nobody was asked")
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

func signal(t *testing.T, b *box, name, pid string) {
	t.Helper()
	if out, err := dockerTry("exec", "-u", "0:0", string(b.id), "kill", "-"+name, pid); err != nil {
		t.Fatal(err, out)
	}
}

// killSupervisor: a container whose gate has died does not go on.
func killSupervisor(t *testing.T) {
	b := newBox(t, agents()[0])
	p := b.place(t)
	id, ended := asking(t, b, "B6", p)
	sup := keeper(t, b, id)
	if sup == "1" {
		t.Fatal("the program's parent is init: there is no supervisor")
	}
	began := time.Now()
	signal(t, b, "KILL", sup)
	b.gone(t, p, began)
	<-ended
}

// gone: the container ends in time, and nothing closed has changed.
func (b *box) gone(t *testing.T, p *place, began time.Time) {
	t.Helper()
	docker(t, "wait", string(b.id))
	if d := time.Since(began); d > deadline {
		t.Errorf("the container was gone after %v", d)
	}
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Error(broken)
	}
}

// stopSupervisor: while the supervisor stands still, so do the calls.
func stopSupervisor(t *testing.T, b *box) {
	p := b.place(t)
	id, _ := asking(t, b, "B6", p)
	sup := keeper(t, b, id)
	signal(t, b, "STOP", sup)
	select {
	case <-time.After(500 * time.Millisecond):
	case <-t.Context().Done():
	}
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Errorf("while the supervisor was stopped: %v", broken)
	}
	signal(t, b, "CONT", sup)
	b.kill(t, id)
	if broken := p.broken(t, ""); len(broken) > 0 {
		t.Errorf("after it went on: %v", broken)
	}
}

// cutLink: a call that waits for an answer from a link that is gone is refused, and a
// new link finds the program as it is.
func cutLink(t *testing.T, b *box, cut func()) {
	p := b.place(t)
	id, ended := asking(t, b, "ask", p)
	began := time.Now()
	cut()
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Error("the question outlives the link")
	}
	<-b.link.Done()
	_ = b.link.Close()
	b.open(t)
	text, _ := b.finish(t, id)
	o, _ := parse(text)
	if d := time.Duration(o.Count["ms"]) * time.Millisecond; o.Count["refused"] != 1 || d > time.Since(began)+deadline {
		t.Errorf("the held call: %s", text)
	}
	if broken := p.broken(t, text); len(broken) > 0 {
		t.Error(broken)
	}
}

// killInit: without loop init there is no container.
func killInit(t *testing.T) {
	b := newBox(t, agents()[0])
	p := b.place(t)
	_, _ = asking(t, b, "B6", p)
	began := time.Now()
	docker(t, "kill", "-s", "KILL", string(b.id))
	b.gone(t, p, began)
}
