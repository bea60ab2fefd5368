package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

const (
	// waitsFor bounds how long the CLI waits in its container for a prompt. Loop ends it
	// before; loop init does where no Loop is left.
	waitsFor = 15 * time.Minute
	// renewAfter is when a CLI that waits is replaced by a new one, at the next word.
	renewAfter = 10 * time.Minute
	// settled is how long after a run's end the next one of the queue has begun.
	settled = 50 * time.Millisecond
	// startTime bounds how long a prompt waits for a start that is under way; one takes 40 ms.
	startTime = time.Second
	// dismissTime bounds ending a CLI that waits.
	dismissTime = 5 * time.Second
)

// spare is the CLI of a channel, started before its prompt is sent: it has read everything
// that it reads at its start, and waits for its input.
type spare struct {
	container core.ContainerID
	link      core.Link
	req       core.SpawnRequest
	start     startAt
	stamp     string // of the files that it has read
	began     time.Time
	held      bool // somebody calls EndAhead
}

// starting is a start of a CLI that is under way.
type starting struct {
	over   chan struct{} // closed at its end
	wanted bool          // a run waits for it
}

// fits reports whether a run would start the same program, with the same files to read.
func (sp *spare) fits(req core.SpawnRequest, st startAt, stamp string) bool {
	a, b := sp.req, req
	for _, r := range []*core.SpawnRequest{&a, &b} {
		r.Stdin, r.OpenStdin, r.StdinWithin = nil, false, 0
	}
	return sp.start == st && sp.stamp == stamp && reflect.DeepEqual(a, b)
}

// alive reports whether the program still waits.
func (sp *spare) alive(ctx context.Context) bool {
	all, err := sp.link.Spawns(ctx)
	if err != nil {
		return false
	}
	for _, s := range all {
		if s.ID == sp.req.ID {
			return s.Exit == nil && s.InOpen
		}
	}
	return false
}

// StartAhead starts the CLI for a channel's next prompt in a container that the caller
// holds, or leaves the one that waits there where it still is what a prompt would start.
// Nothing is started where the settings say so, beside a run of the channel, over
// Options.Spares, or where a prompt would be worked on this computer itself. It blocks for
// as long as a start takes. The caller calls EndAhead before it gives the container back.
func (s *Service) StartAhead(ctx context.Context, ch core.ChannelID, c core.Container) error {
	if err := s.startAhead(ctx, ch, c); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp := s.spares[ch]; sp != nil {
		sp.held = true
	}
	return nil
}

// startAfter starts the CLI for what a person says next, once a run of theirs is done, and
// ends it when nothing was said for a while. It returns at once.
func (s *Service) startAfter(ctx context.Context, w *work) {
	if s.o.AfterRun <= 0 || !w.launch.Ahead || w.run.State != core.RunDone || w.run.AuthorID != "" || w.run.Unattended || w.spec.Scope == "" {
		return
	}
	s.wg.Go(func() {
		if !backoff.Sleep(ctx, settled) || !s.mayWait(w.run.ChannelID) {
			return
		}
		if err := s.startAhead(ctx, w.run.ChannelID, w.container); err != nil {
			w.log.Debug("start the agent for the next prompt", "error", err)
			return
		}
		sp := s.spareOf(w.run.ChannelID)
		if sp == nil || !backoff.Sleep(ctx, s.o.AfterRun) {
			return
		}
		s.mu.Lock()
		over := s.spares[w.run.ChannelID] == sp && !sp.held
		if over {
			delete(s.spares, w.run.ChannelID)
		}
		s.mu.Unlock()
		if over {
			s.dismiss(ctx, sp)
		}
	})
}

// startAhead is StartAhead, and does nothing while another one for the channel is under way.
func (s *Service) startAhead(ctx context.Context, ch core.ChannelID, c core.Container) error {
	here := &starting{over: make(chan struct{})}
	s.mu.Lock()
	also := s.startingAhead[ch] != nil
	if !also {
		s.startingAhead[ch] = here
	}
	s.mu.Unlock()
	if also {
		return nil
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.startingAhead, ch)
		close(here.over)
	}()
	w := newWork(ctx, s, core.Run{ChannelID: ch, Attempt: core.Attempt{Number: 1}})
	defer w.cancel(nil)
	if err := w.readChannel(ctx); err != nil {
		return err
	}
	w.run.Demo = w.ch.Kind == core.KindDemo
	want, read := w.want(s.p.Gate.Enforces())
	r, err := s.p.Provision.Resolve(ctx, want)
	if err != nil {
		return fmt.Errorf("resolve container: %w", err)
	}
	w.use(r, read.launch)
	w.container = c
	if !w.launch.Ahead || w.launch.Refused != nil || w.launch.Host != nil || w.launch.APIURL != "" || r.Spec.Fixed != c.Fixed {
		s.EndAhead(ctx, ch)
		return w.launch.Refused
	}
	st, _ := w.startOf(ctx)
	if old := s.spareOf(ch); old != nil {
		w.run.SpawnID = old.req.ID
		req, err := w.request(st)
		if err == nil && old.container == c.ID && s.o.Now().Sub(old.began) < renewAfter && old.fits(req, st, w.stamp(st)) && old.alive(ctx) {
			return nil
		}
		s.EndAhead(ctx, ch)
	}
	if !s.mayWait(ch) {
		return nil
	}
	return w.startSpare(ctx, st)
}

// startSpare starts the CLI and keeps it for the channel, unless a run began meanwhile.
func (w *work) startSpare(ctx context.Context, st startAt) error {
	w.run.SpawnID = core.SpawnID(core.NewID())
	sp := &spare{container: w.container.ID, start: st, stamp: w.stamp(st), began: w.s.o.Now()}
	var err error
	if sp.req, err = w.request(st); err != nil {
		return err
	}
	sp.req.OpenStdin, sp.req.StdinWithin = true, waitsFor
	if sp.link, err = w.s.p.Links.Open(ctx, w.container); err != nil {
		return fmt.Errorf("open link: %w", err)
	}
	who := w.identity()
	who.Pending = true
	sp.link.Admit(w.run.SpawnID, who)
	_, err = sp.link.Spawn(ctx, sp.req)
	if err != nil || !w.s.keepSpare(w.ch.ID, sp) {
		w.s.dismiss(ctx, sp)
	}
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	return nil
}

// EndAhead ends the CLI that waits for a channel's next prompt, if there is one.
func (s *Service) EndAhead(ctx context.Context, ch core.ChannelID) {
	if sp := s.takeSpare(ch, ""); sp != nil {
		s.dismiss(ctx, sp)
	}
}

func (s *Service) spareOf(ch core.ChannelID) *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spares[ch]
}

// mayWait reports whether a CLI may be started for a prompt to come.
func (s *Service) mayWait(ch core.ChannelID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle(ch) && len(s.spares) < s.o.Spares
}

// idle reports whether no run of a channel is under way. The caller holds the lock.
func (s *Service) idle(ch core.ChannelID) bool {
	for _, w := range s.active {
		if w.run.ChannelID == ch {
			return false
		}
	}
	return s.ctx != nil && !s.closing
}

// keepSpare keeps what was started, unless a run began meanwhile that does not wait for it.
func (s *Service) keepSpare(ch core.ChannelID, sp *spare) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.startingAhead[ch]
	if !s.idle(ch) && (s.closing || st == nil || !st.wanted) || s.spares[ch] != nil {
		return false
	}
	s.spares[ch] = sp
	return true
}

// awaitStart waits for the start of a CLI for a channel, if one is under way.
func (s *Service) awaitStart(ctx context.Context, ch core.ChannelID) {
	s.mu.Lock()
	st := s.startingAhead[ch]
	if st != nil {
		st.wanted = true
	}
	s.mu.Unlock()
	if st == nil {
		return
	}
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case <-st.over:
		return
	case <-late.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	st.wanted = false
	s.mu.Unlock()
}

// takeSpare hands out what waits for a channel, in a container or, without its id, in any.
func (s *Service) takeSpare(ch core.ChannelID, in core.ContainerID) *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spares[ch]
	if sp == nil || in != "" && sp.container != in {
		return nil
	}
	delete(s.spares, ch)
	return sp
}

// dismiss ends a CLI that nobody will give a prompt, also while Loop closes. Where that
// fails its container ends it.
func (s *Service) dismiss(ctx context.Context, sp *spare) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dismissTime)
	defer cancel()
	err := sp.link.Kill(ctx, sp.req.ID)
	if err == nil {
		err = sp.link.Forget(ctx, sp.req.ID)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.p.Log.Debug("end an agent that waits", "error", err)
	}
	s.p.Gate.Dismiss(sp.req.ID)
	_ = sp.link.Close() // nobody waits for anything on it
}

// endSpares ends what waits when Loop closes.
func (s *Service) endSpares(ctx context.Context) {
	s.mu.Lock()
	all := s.spares
	s.spares = map[core.ChannelID]*spare{}
	s.mu.Unlock()
	for _, sp := range all {
		s.wg.Go(func() { s.dismiss(ctx, sp) })
	}
}
