package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
)

// Service keeps the sessions. Methods may be called from any goroutine. Restore
// comes first, then Run; Close waits for everything.
type Service struct {
	o   Options
	log *slog.Logger

	ctx  context.Context
	stop context.CancelFunc

	mu       sync.Mutex
	sessions []*session // oldest first
	starting int
	closed   bool

	shells map[core.ChannelID]chan struct{} // one place each; lockShell says for what
}

// New returns a service without sessions.
func New(o Options) *Service {
	s := &Service{o: o, log: o.Log, shells: map[core.ChannelID]chan struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

func closing() error { return core.Fail(core.CodeCancelled, nil, "Loop is closing.", "") }

func (s *Service) session(id core.TerminalID) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.sessions, func(t *session) bool { return t.info.ID == id }); i >= 0 {
		return s.sessions[i], nil
	}
	return nil, core.Fail(core.CodeNotFound, core.ErrNotFound, "There is no terminal session with that id.",
		"It may have been closed; open a new terminal.")
}

// checked fills in and bounds what a person or page asked for.
func checked(spec core.TerminalSpec) (core.TerminalSpec, error) {
	spec.Target = cmp.Or(spec.Target, core.TargetAgent)
	spec.Cols, spec.Rows = clampSize(cmp.Or(spec.Cols, 80), cmp.Or(spec.Rows, 24))
	spec.Title = core.CleanTitle(spec.Title)
	var cause, remedy string
	switch {
	case spec.Target != core.TargetAgent && spec.Target != core.TargetHost:
		cause = fmt.Sprintf("The target %q is neither agent nor host.", spec.Target)
		remedy = "Use agent for the container, host for this computer."
	case !slices.Contains([]core.OpenMode{core.OpenLegacy, core.OpenResume, core.OpenFork, core.OpenFresh}, spec.OpenMode):
		cause, remedy = fmt.Sprintf("The open mode %q is not known.", spec.OpenMode), "Use resume, fork or fresh."
	case len(spec.Cmd) > core.MaxTerminalArgs:
		cause = fmt.Sprintf("The command has %d arguments, and %d are the most.", len(spec.Cmd), core.MaxTerminalArgs)
		remedy = "Put it into a script."
	case slices.Contains(spec.Cmd, ""):
		cause, remedy = "The command has an empty argument.", "Leave it out."
	case slices.ContainsFunc(spec.Cmd, func(a string) bool { return strings.ContainsRune(a, 0) }):
		cause, remedy = "The command has a zero byte in an argument.", "Leave it out."
	case spec.Target == core.TargetAgent && spec.ContainerID == "" && spec.ChannelID == "":
		cause, remedy = "Neither a container nor a channel was named.", "Name the channel."
	case len(spec.Dir) > core.MaxTerminalDir || strings.ContainsRune(spec.Dir, 0):
		cause, remedy = "The directory has no usable name.", "Leave it out to begin where the channel's terminals do."
	default:
		return spec, nil
	}
	return spec, core.Fail(core.CodeInvalid, nil, cause, remedy)
}

func clampSize(cols, rows uint16) (uint16, uint16) {
	return min(max(cols, core.MinTerminalCols), core.MaxTerminalCols), min(max(rows, core.MinTerminalRows), core.MaxTerminalRows)
}

// Create starts a program on a terminal. Problems are Failures.
func (s *Service) Create(ctx context.Context, spec core.TerminalSpec) (_ core.TerminalInfo, err error) {
	if spec, err = checked(spec); err != nil {
		return core.TerminalInfo{}, err
	}
	done, err := s.reserve()
	if err != nil {
		return core.TerminalInfo{}, err
	}
	defer done()
	st := Start{ID: core.TerminalID(core.NewID()), Spec: spec}
	defer func() {
		if err != nil {
			s.giveBack(context.WithoutCancel(ctx), st.ID, st.Container.ID, core.Ending{})
		}
	}()
	if spec.Target == core.TargetAgent {
		if st.Container, err = s.container(ctx, st); err != nil {
			return core.TerminalInfo{}, err
		}
		st.Spec.ChannelID = cmp.Or(spec.ChannelID, st.Container.ChannelID)
	}
	p, err := s.o.Programs.Start(ctx, st)
	if err != nil && st.Container.ID != "" && spec.ContainerID == "" && s.vanished(ctx, st.Container.ID, err) {
		if st.Container, err = s.container(ctx, st); err == nil {
			p, err = s.o.Programs.Start(ctx, st)
		}
	}
	if err != nil {
		return core.TerminalInfo{}, err
	}
	_, ours := p.(*Guest)
	if spec.Target == core.TargetAgent && !ours {
		spec.Plain = true // nothing is typed where there is no loop init
	}
	info := core.TerminalInfo{
		ID: st.ID, ChannelID: st.Spec.ChannelID, ContainerID: st.Container.ID, Target: spec.Target, State: core.TerminalRunning,
		Title: cmp.Or(spec.Title, commandTitle(spec)), Named: spec.Title != "", Cmd: spec.Cmd, Plain: spec.Plain,
		Cols: spec.Cols, Rows: spec.Rows, CreatedAt: time.Now(),
	}
	t := s.newSession(info, p, ours)
	if spec.Colors != nil {
		t.colors(*spec.Colors)
	}
	t.saved = Saved{OpenMode: spec.OpenMode}
	t.save()
	if !s.add(t) {
		t.unkeep()
		ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		return core.TerminalInfo{}, errors.Join(closing(), p.End(ectx), p.Close())
	}
	s.o.Publish(core.EventTerminalCreated, t.view())
	return t.view(), nil
}

func commandTitle(spec core.TerminalSpec) string {
	switch {
	case len(spec.Cmd) > 0:
		return core.CleanTitle(path.Base(spec.Cmd[0]))
	case spec.Target == core.TargetAgent && !spec.Plain:
		return "Claude"
	}
	return "Shell"
}

// reserve keeps the number of sessions bounded while one is being started, until
// done is called.
func (s *Service) reserve() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, closing()
	}
	if len(s.sessions)+s.starting >= MaxSessions {
		return nil, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("There are %d terminals already.", MaxSessions), "Close some of them.")
	}
	s.starting++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.starting--
	}, nil
}

// container is the one named, or the channel's, made if there is none. The terminal holds
// it from then on.
func (s *Service) container(ctx context.Context, st Start) (core.Container, error) {
	spec := st.Spec
	if spec.ContainerID != "" {
		c, ours, running, err := s.o.Containers.Running(ctx, spec.ContainerID)
		if err == nil && running && ours {
			err = s.o.Leases.Hold(ctx, c.ID, holderOf(st.ID))
		}
		if errors.Is(err, core.ErrNotFound) {
			return c, core.Fail(core.CodeNotFound, err, "There is no such container.", "Leave the container out to use the channel's own.")
		}
		if err == nil && !running || errors.Is(err, core.ErrNotRunning) {
			err = core.Fail(core.CodeConflict, core.ErrNotRunning, "That container does not run.",
				"Start it, or leave it out to use the channel's own.")
		}
		return c, err
	}
	unlock, err := s.lockShell(ctx, spec.ChannelID)
	if err != nil {
		return core.Container{}, err
	}
	defer unlock()
	return s.o.Containers.Shell(ctx, spec.ChannelID, holderOf(st.ID))
}

func holderOf(id core.TerminalID) core.Holder {
	return core.Holder{Kind: core.HolderTerminal, ID: string(id)}
}

// giveBack says that a terminal needs its container no more. Whether that ends is
// not the terminal's to say.
func (s *Service) giveBack(ctx context.Context, id core.TerminalID, box core.ContainerID, e core.Ending) {
	if box == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackTime)
	defer cancel()
	if err := s.o.Leases.Release(ctx, holderOf(id), e); err != nil {
		s.log.Warn("give back the container of a terminal", "session", id, "err", err)
	}
}

// vanished says whether a container ended between being found and being used,
// which is why a start failed there. The engine needs a moment to remove one.
func (s *Service) vanished(ctx context.Context, id core.ContainerID, why error) bool {
	looks := vanishLooks
	switch f, ok := errors.AsType[*core.Failure](why); {
	case errors.Is(why, core.ErrNotFound): // the engine does not know it any more
		looks = 1
	case ok && f.Code == core.CodeConflict:
		looks = refusedLooks
	case ok && f.Code != core.CodeNoLink:
		return false
	}
	for range looks {
		_, _, running, err := s.o.Containers.Running(ctx, id)
		if errors.Is(err, core.ErrNotFound) || err == nil && !running {
			return true
		}
		if err != nil || !backoff.Sleep(ctx, vanishPause) {
			return false
		}
	}
	return false
}

func (s *Service) newSession(info core.TerminalInfo, p Program, keep bool) *session {
	t := &session{
		svc: s, program: p, keep: keep, again: comesBack(info), log: s.log, info: info, viewers: map[*viewer]struct{}{}, used: time.Now(),
		pumpWake: make(chan struct{}, 1), screenWake: make(chan struct{}, 1), ended: make(chan struct{}),
		prompt: make(chan struct{}, 1), resizing: make(chan struct{}, 1),
		input: inputQueue{wake: make(chan struct{}, 1), space: make(chan struct{})},
	}
	t.ctx, t.stop = context.WithCancel(s.ctx)
	t.screen = t.newScreen(info.Cols, info.Rows)
	return t
}

// add lists a session and starts its goroutines; false when the app ends.
func (s *Service) add(t *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		t.stop()
		return false
	}
	s.sessions = append(s.sessions, t)
	t.work.Go(func() { t.pump(t.ctx) })
	t.work.Go(func() { t.show(t.ctx) })
	t.work.Go(func() { t.feed(t.ctx) })
	t.work.Go(func() { t.typeIn(t.ctx) })
	return true
}

// List returns a channel's sessions, or all, oldest first.
func (s *Service) List(ch core.ChannelID) []core.TerminalInfo {
	out := []core.TerminalInfo{}
	for _, t := range s.all() {
		if i := t.view(); ch == "" || i.ChannelID == ch {
			out = append(out, i)
		}
	}
	return out
}

func (s *Service) all() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sessions)
}

// Attach adds a viewer; whoever asked closes it.
func (s *Service) Attach(_ context.Context, id core.TerminalID, w core.TerminalAttach) (core.TerminalViewer, error) {
	t, err := s.session(id)
	if err != nil {
		return nil, err
	}
	if w.Colors != nil {
		t.colors(*w.Colors)
	}
	v := t.attach(w)
	t.lookAt()
	return v, nil
}

// Input sends bytes to the program, all or none of them.
func (s *Service) Input(ctx context.Context, id core.TerminalID, p []byte) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.keyed = time.Now()
	t.used = t.keyed
	away, box := t.info.State == core.TerminalAway, t.info.ContainerID
	t.mu.Unlock()
	if box != "" {
		s.o.Leases.Used(box)
	}
	if away { // what is typed would be lost on the way
		return core.Fail(core.CodeConflict, core.ErrNotRunning,
			"What was typed was not sent: the container of this terminal cannot be reached now.",
			"Loop tries again by itself; type it again then.")
	}
	return t.input.add(ctx, p)
}

// Resize sets the size of the terminal, within the limits of core.
func (s *Service) Resize(ctx context.Context, id core.TerminalID, cols, rows uint16) error {
	t, err := s.session(id)
	if err != nil {
		return err
	}
	return t.resize(ctx, cols, rows)
}

// Rename gives a session a title of the person's; an empty one follows the
// program's again.
func (s *Service) Rename(_ context.Context, id core.TerminalID, title string) (core.TerminalInfo, error) {
	t, err := s.session(id)
	if err != nil {
		return core.TerminalInfo{}, err
	}
	title = core.CleanTitle(title)
	t.mu.Lock()
	t.info.Named = title != ""
	t.info.Title = cmp.Or(title, commandTitle(core.TerminalSpec{Cmd: t.info.Cmd, Target: t.info.Target, Plain: t.info.Plain}))
	t.dirty = true
	t.mu.Unlock()
	t.save()
	poke(t.screenWake)
	return t.view(), nil
}

// Record starts or ends a recording.
func (s *Service) Record(_ context.Context, id core.TerminalID, on bool) (core.TerminalInfo, error) {
	t, err := s.session(id)
	if err != nil {
		return core.TerminalInfo{}, err
	}
	if on {
		err = t.startRecording()
	} else {
		t.endRecording()
	}
	return t.view(), err
}
