package guestlink

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// SetPolicy gives a spawn a policy, or with an empty id everything that is spawned
// from now on. Versions only grow: an older one is core.ErrConflict. For a supervised
// spawn it answers once its supervisor goes by the policy. What comes back says whether
// the policy is enforced; where it is not, the guest keeps it for what is spawned later.
func (l *Link) SetPolicy(ctx context.Context, id core.SpawnID, version int64, doc []byte) (core.PolicyState, error) {
	want := policyHead(version, doc)
	p, err := l.call(ctx, wire.Request{Op: wire.OpPolicy, ID: string(id), Policy: &want}, doc)
	if err != nil {
		return core.PolicyState{}, err
	}
	if p.Policy == nil || p.Policy.Version != version || p.Policy.Hash != want.Hash {
		return core.PolicyState{}, l.down(ctx, errors.New("reply to policy names another one"))
	}
	return core.PolicyState(*p.Policy), nil
}

// policyHead says of a document what goes before it.
func policyHead(version int64, doc []byte) wire.Policy {
	sum := sha256.Sum256(doc)
	return wire.Policy{Version: version, Hash: hex.EncodeToString(sum[:]), Size: int64(len(doc))}
}

// Questions lets answer judge what the container asks, until ctx ends or the link
// is down; it waits for answer to return. At most wire.MaxQuestions are judged at a
// time, each on a goroutine of its own. A call's context ends when nothing waits
// for its verdict any more: it is withdrawn, with the cause core.ErrWithdrawn, or the
// stream broke, which denies it.
func (l *Link) Questions(ctx context.Context, answer func(context.Context, core.HeldCall) core.Verdict) error {
	c, _, err := l.begin(ctx, wire.Request{Op: wire.OpQuestions})
	if err != nil {
		return err
	}
	j := judge{c: c, open: make(map[uint64]*context.CancelCauseFunc), answer: answer, told: func(core.Told) {}}
	if l.opts.Gate != nil {
		j.told = func(t core.Told) { l.opts.Gate.Told(l.id, t) }
	}
	defer j.wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { _ = c.Close() }()
	for {
		var q wire.Question
		err := wire.ReadFrame(c, &q)
		if err == nil {
			err = j.take(ctx, q)
		}
		if err != nil {
			return l.down(ctx, err)
		}
	}
}

// Gate decides what containers ask. Methods are called from any goroutine.
type Gate interface {
	// Held returns the verdict on one call; see Link.Questions for ctx.
	Held(ctx context.Context, container core.ContainerID, c core.HeldCall) core.Verdict
	// Told takes what a supervisor says without a question. It returns soon: until then
	// no question of the container is taken.
	Told(container core.ContainerID, t core.Told)
	// Admit and Dismiss say who a spawn is, and that it is forgotten.
	Admit(container core.ContainerID, spawn core.SpawnID, who core.Identity)
	Dismiss(spawn core.SpawnID)
	// Starts says that a program is about to be started as a spawn that was admitted.
	Starts(spawn core.SpawnID)
	// Renewed says that a spawn goes by the rules that count now.
	Renewed(spawn core.SpawnID)
	// Probed says that a program was supervised from its start, or why it could not be, and
	// whether its filter lets programs debug each other.
	Probed(err error, debuggers bool)
}

// askGate has the gate answer what the container asks, for the life of the link. When
// that ends early, everything that waits is denied in the container, and the link goes
// down: a new one takes questions again. A guest that asks nothing keeps its link.
func (l *Link) askGate() {
	err := l.Questions(context.Background(), func(ctx context.Context, c core.HeldCall) core.Verdict { return l.opts.Gate.Held(ctx, l.id, c) })
	if l.session.IsClosed() {
		return
	}
	if f := core.AsFailure(err); f.Code != core.CodeInternal {
		l.opts.Log.Warn("the container asks no questions", "container", string(l.id), "err", err)
		return
	}
	l.broken(fmt.Errorf("questions ended: %w", err))
}

// judge holds the questions of one stream.
type judge struct {
	c       *hostStream
	answer  func(context.Context, core.HeldCall) core.Verdict
	told    func(core.Told)
	writing sync.Mutex
	wg      sync.WaitGroup

	mu   sync.Mutex
	open map[uint64]*context.CancelCauseFunc // by id, which is free again when it was withdrawn
}

func (j *judge) take(ctx context.Context, q wire.Question) error {
	if q.Told > 0 && !q.Withdrawn {
		j.told(core.Told{Spawn: core.SpawnID(q.Spawn), Number: q.Told, Kind: q.Kind, Detail: q.Detail})
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	withdraw, known := j.open[q.ID]
	switch {
	case q.Withdrawn:
		if known { // or its answer is on its way
			(*withdraw)(core.ErrWithdrawn)
			delete(j.open, q.ID)
		}
		return nil
	case known || len(j.open) >= wire.MaxQuestions:
		return fmt.Errorf("question %d is one too many", q.ID)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	mine := &cancel
	j.open[q.ID] = mine
	j.wg.Go(func() {
		defer cancel(nil)
		v := j.answer(ctx, core.HeldCall{Spawn: core.SpawnID(q.Spawn), Kind: q.Kind, Detail: q.Detail})
		j.mu.Lock()
		waits := j.open[q.ID] == mine
		if waits {
			delete(j.open, q.ID)
		}
		j.mu.Unlock()
		if waits && ctx.Err() == nil {
			a := wire.Deny(q.ID, v.Text)
			a.Allow, a.By = v.Allow, v.By
			j.send(a)
		}
	})
	return nil
}

// send writes an answer. A guest that takes none breaks the stream, and with it
// everything it waits for is denied.
func (j *judge) send(a wire.Answer) {
	j.writing.Lock()
	defer j.writing.Unlock()
	if j.c.SetWriteDeadline(time.Now().Add(wire.WriteTimeout)) != nil || wire.WriteFrame(j.c, a) != nil {
		_ = j.c.Close()
	}
}
