//go:build linux

package spawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"loop/backend/wire"
)

// Asker takes a question to the host and waits for the answer, which denies where there
// is no host. Its methods may be called from any goroutine.
type Asker interface {
	Ask(ctx context.Context, q wire.Question) wire.Answer
	// Tell passes on what wants no answer. It does not wait; false says that there is no
	// room for it.
	Tell(q wire.Question) bool
}

// keeperEnd is loop init's end of a running keeper. One goroutine hears it until the
// keeper has ended; the other methods may be called from any.
type keeperEnd struct {
	p       *proc
	line    line
	ended   <-chan syscall.WaitStatus // from the reaper, once
	started chan report               // how the start went; closed without one when the keeper ended first
	heard   chan struct{}             // closed when nothing comes any more

	ctx    context.Context // of the questions
	cancel context.CancelFunc

	mu       sync.Mutex
	asked    map[uint64]*asked          // by the keeper's id
	policies map[int64]chan *wire.Error // who waits for a version to be in force
}

// asked is a question that waits.
type asked struct{ withdraw context.CancelFunc }

func newKeeperEnd(p *proc, l line) *keeperEnd {
	k := &keeperEnd{p: p, line: l, started: make(chan report, 1), heard: make(chan struct{}),
		asked: make(map[uint64]*asked), policies: make(map[int64]chan *wire.Error)}
	k.ctx, k.cancel = context.WithCancel(p.tab.ctx)
	return k
}

// hear takes what the keeper says until it has ended: only then is its socket closed.
func (k *keeperEnd) hear() {
	defer close(k.heard)
	defer k.line.close()
	defer k.cancel()
	reported, runs := false, false
	for {
		var said report
		fd, err := k.line.receive(&said)
		if err != nil {
			if !reported {
				close(k.started)
			}
			return
		}
		s := socket(fd) // no keeper sends any
		s.close()
		switch {
		case said.Goes:
			if !isClosed(k.p.going) {
				close(k.p.going)
			}
		case said.Question != nil && said.Question.Told > 0:
			k.tell(*said.Question)
		case said.Question != nil:
			k.question(*said.Question)
		case said.Policy != nil:
			k.taken(*said.Policy)
		case said.Status != nil && runs: // and not the stage of a start that failed
			k.p.hasExited(syscall.WaitStatus(*said.Status))
		case said.Status == nil && !reported:
			reported, runs = true, said.Error == nil
			k.started <- said
		}
	}
}

// question asks the host, or withdraws what was asked. A spawn that is being ended asks
// nobody, so that no person answers for a program that will not be there.
func (k *keeperEnd) question(q wire.Question) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := q.ID
	was, known := k.asked[id]
	if q.Withdrawn {
		if known {
			// The keeper has room for another one at once, the way to the host may not.
			delete(k.asked, id)
			was.withdraw()
		}
		return
	}
	if k.p.ending.Load() {
		k.answer(wire.Deny(id, whyEnding))
		return
	}
	if known || len(k.asked) >= maxAsked || k.p.tab.cfg.Asker == nil {
		k.answer(wire.Deny(id, "nobody can be asked"))
		return
	}
	ctx, cancel := context.WithCancel(k.ctx)
	own := &asked{cancel}
	k.asked[id] = own
	q.Spawn = k.p.id // whatever the keeper says
	k.p.tab.wg.Go(func() {
		defer cancel()
		a := k.p.tab.cfg.Asker.Ask(ctx, q)
		a.ID = id
		k.mu.Lock()
		if k.asked[id] == own { // and not the next question of that id
			delete(k.asked, id)
		}
		k.mu.Unlock()
		if ctx.Err() == nil {
			k.answer(a)
		}
	})
}

// tell passes a message on that wants no answer. One for which there is no room is missed
// by its number.
func (k *keeperEnd) tell(q wire.Question) {
	q.Spawn = k.p.id
	if k.p.tab.cfg.Asker != nil && !k.p.tab.cfg.Asker.Tell(q) {
		k.p.tab.cfg.Log.Warn("tell of decisions: no room", "id", k.p.id)
	}
}

// answer is lost where the keeper takes none: then it has ended or is about to, and what
// waits goes with it.
func (k *keeperEnd) answer(a wire.Answer) {
	if err := k.line.send(order{Answer: &a}); err != nil {
		k.p.tab.cfg.Log.Warn("answer a question", "id", k.p.id, "err", err)
	}
}

// deny answers everything that the spawn waits for, asked or not.
func (k *keeperEnd) deny(why string) {
	if err := k.line.send(order{Deny: why}); err != nil && !isClosed(k.heard) {
		k.p.tab.cfg.Log.Warn("deny what waits", "id", k.p.id, "err", err)
	}
}

// supervise is the first order, with the policy.
func (k *keeperEnd) supervise(d document) error {
	a := k.p.tab.cfg.Agent
	return k.sendDocument(order{Supervise: &supervision{Spawn: k.p.id, UID: a.UID, GID: a.GID, Groups: a.Groups, Home: a.Home,
		Denied: k.p.tab.deniedPath(k.p.id), Policy: d.head}}, d.doc)
}

// setPolicy waits until the supervisor goes by the document.
func (k *keeperEnd) setPolicy(ctx context.Context, d document) error {
	in := make(chan *wire.Error, 1)
	k.mu.Lock()
	k.policies[d.head.Version] = in
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.policies, d.head.Version)
		k.mu.Unlock()
	}()
	if err := k.sendDocument(order{Policy: &d.head}, d.doc); err != nil {
		if isClosed(k.heard) {
			return k.p.hasEnded()
		}
		return fmt.Errorf("bring the supervisor its policy: %w", err)
	}
	select {
	case err := <-in:
		if err != nil {
			return err
		}
		return nil
	case <-k.heard:
		return k.p.hasEnded()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keeperEnd) taken(t policyTaken) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if in := k.policies[t.Version]; in != nil {
		delete(k.policies, t.Version)
		in <- t.Error
	}
}

// writeSoon writes to a pipe whose reader reads at once.
func writeSoon(w *os.File, data []byte) error {
	err := w.SetWriteDeadline(time.Now().Add(orderTimeout))
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// sendDocument sends an order with the reading end of a pipe, and the document through
// it: a message cannot be as large.
func (k *keeperEnd) sendDocument(o order, doc []byte) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	err = k.line.send(o, int(r.Fd()))
	err = errors.Join(err, r.Close())
	if err == nil {
		err = writeSoon(w, doc)
	}
	return errors.Join(err, w.Close())
}
