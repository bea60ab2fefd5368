package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"loop/backend/core"
)

const (
	// waitsFor bounds how long the CLI waits in its container for a prompt. Loop ends it
	// before; loop init does where no Loop is left.
	waitsFor = 15 * time.Minute
	// renewAfter is when a CLI that waits is replaced by a new one, at the next word.
	renewAfter = 10 * time.Minute
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

// message is a prompt as the CLI reads it from its stdin.
func message(prompt string) ([]byte, error) {
	type said struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	b, err := json.Marshal(struct {
		Type    string `json:"type"`
		Message said   `json:"message"`
	}{"user", said{"user", prompt}})
	if err != nil {
		return nil, fmt.Errorf("encode the prompt: %w", err)
	}
	return append(b, '\n'), nil
}

// StartAhead starts the CLI for a channel's next prompt in a container that the caller
// holds, or leaves the one that waits there where it still is what a prompt would start.
// Nothing is started beside a run of the channel, over Options.Spares, or where a prompt
// would be worked on this computer itself. It blocks for as long as a start takes.
// The caller calls EndAhead before it gives the container back.
func (s *Service) StartAhead(ctx context.Context, ch core.ChannelID, c core.Container) error {
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
	if w.launch.Refused != nil || w.launch.Host != nil || w.launch.APIURL != "" || r.Spec.Fixed != c.Fixed {
		s.EndAhead(ctx, ch)
		return w.launch.Refused
	}
	st, _ := w.startOf()
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
	up := w.launch.Upstream
	up.Demo = up.Demo || w.run.Demo
	sp.link.Admit(w.run.SpawnID, core.Identity{ChannelID: w.ch.ID, Upstream: up, Pending: true, Rules: w.rules()})
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

func (s *Service) keepSpare(ch core.ChannelID, sp *spare) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.idle(ch) || s.spares[ch] != nil {
		return false
	}
	s.spares[ch] = sp
	return true
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

// nextSpawn is the id of the spawn to come: that of the CLI that waits for this prompt, or a
// new one.
func (w *work) nextSpawn() core.SpawnID {
	if w.run.Attempt.Number <= 1 && !w.run.Plan && w.spare == nil {
		w.spare = w.s.takeSpare(w.run.ChannelID, w.container.ID)
	}
	if w.spare != nil {
		return w.spare.req.ID
	}
	return core.SpawnID(core.NewID())
}

// leaveSpare ends the CLI that waited for this prompt and was not used.
func (w *work) leaveSpare(ctx context.Context) {
	if sp := w.spare; sp != nil {
		w.spare = nil
		w.s.wg.Go(func() { w.s.dismiss(ctx, sp) })
	}
}

// useSpare gives the prompt to the CLI that waited for it. It reports false where that is
// not what the run would start, or has ended without a byte of it. From its first byte on
// the CLI is the run's, whatever becomes of Loop.
func (w *work) useSpare(ctx context.Context, req core.SpawnRequest, msg []byte) (bool, error) {
	if !w.spare.fits(req, *w.began, w.stamp(*w.began)) {
		return false, nil
	}
	w.admit(w.currentLink())
	_ = w.spare.link.Close() // the run has its own handle
	w.spare = nil
	taken, err := w.feed(ctx, msg)
	if !taken && err == nil {
		_, err = w.endUnfed(ctx)
	}
	return taken, err
}

// endUnfed ends the present spawn, which got nothing to do.
func (w *work) endUnfed(ctx context.Context) (fed bool, err error) {
	l := w.currentLink()
	if err = l.Kill(ctx, w.run.SpawnID); err == nil {
		err = l.Forget(ctx, w.run.SpawnID)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return false, fmt.Errorf("end an agent without a prompt: %w", err)
	}
	return false, nil
}

// feed writes what the present spawn has not taken of its input, and closes it. It reports
// false when the spawn will never take a byte. Through another link it goes on where the
// one before broke.
func (w *work) feed(ctx context.Context, msg []byte) (taken bool, err error) {
	for try := 0; try <= 3; try++ {
		var known *core.SpawnInfo
		if known, err = w.spawned(ctx); err == nil {
			switch {
			case known == nil:
				return false, nil
			case !known.InOpen || known.Exit != nil:
				return known.InEnd > 0, nil
			}
			if err = w.pour(ctx, msg[min(known.InEnd, int64(len(msg))):]); err == nil {
				return true, nil
			}
		}
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, core.ErrLinkDown) {
			if err := w.openLink(ctx); err != nil {
				return false, err
			}
		}
	}
	return false, fmt.Errorf("give the prompt to the agent: %w", err)
}

func (w *work) pour(ctx context.Context, msg []byte) error {
	in, err := w.currentLink().Stdin(ctx, w.run.SpawnID)
	if err != nil {
		return err
	}
	_, err = in.Write(msg)
	return errors.Join(err, in.Close())
}

// unfed looks after a CLI that had not got its whole prompt when Loop ended. One that has
// none of it is ended: what it was started with may not be what counts now. It reports
// whether the CLI has the prompt.
func (w *work) unfed(ctx context.Context) (fed bool, err error) {
	known, err := w.spawned(ctx)
	switch {
	case err != nil || known == nil:
		return true, err // the link has broken again, which the reader finds
	case !known.InOpen && (known.InEnd > 0 || known.Exit == nil):
		return true, nil
	case known.InEnd > 0:
		msg, err := w.said()
		if err == nil {
			_, err = w.feed(ctx, msg)
		}
		return true, err
	case known.InOpen:
	default:
		return true, nil // an end without input, which an ordinary spawn has as well
	}
	return w.endUnfed(ctx)
}
