package hostrun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/hostpty"
	"loop/backend/wire"
)

// DefaultSpoolMax is the cap of each stream, as in a container.
const DefaultSpoolMax = 1 << 30

// Options of a Service. Zero values take the defaults in parentheses.
type Options struct {
	Home     string          // Loop's folder
	SpoolMax int64           // bytes of one stream (DefaultSpoolMax)
	Environ  func() []string // the person's own environment (os.Environ)
	Log      *slog.Logger
}

// Service keeps the programs that runs have on this computer. Methods may be called from
// any goroutine. Programs go on after Close.
type Service struct {
	o    Options
	work sync.WaitGroup

	mu     sync.Mutex
	spawns map[core.SpawnID]*spawn
	closed bool
}

// record is what a later launch finds a spawn by. It lies in the spawn's own folder.
type record struct {
	Spawn   core.SpawnID   `json:"spawn"`
	Run     core.RunID     `json:"run"`
	Channel core.ChannelID `json:"channel"`
	Started time.Time      `json:"started"`
	Ref     hostpty.Ref    `json:"program"`
}

// recordFile is beside the files of the spawn itself, whose names are checked against it.
const recordFile = "spawn.json"

// maxRecord bounds a record in bytes; an honest one has some hundred.
const maxRecord = 64 << 10

// spawn is one program. What is below done is written before it is closed, and read after.
type spawn struct {
	record
	prog *hostpty.Program

	mu     sync.Mutex
	paused string

	done chan struct{} // the program has ended, and how is written down
	exit core.ExitStatus
	lost bool // it ended while no Loop ran, and nobody knows how
}

// Open takes up the programs of an earlier launch. Its caller calls Close.
func Open(o Options) (*Service, error) {
	o.SpoolMax = cmp.Or(o.SpoolMax, DefaultSpoolMax)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	s := &Service{o: o, spawns: map[core.SpawnID]*spawn{}}
	list, err := os.ReadDir(s.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for programs of an earlier launch: %w", err)
	}
	for _, e := range list {
		if err := s.restore(core.SpawnID(e.Name())); err != nil {
			o.Log.Warn("take up a program of an earlier launch", "spawn", e.Name(), "err", err)
		}
	}
	return s, nil
}

// Folder is where each spawn has a folder of its own, which nobody but the person reads.
func (s *Service) Folder() string { return filepath.Join(s.o.Home, "run", "host") }

func (s *Service) own(id core.SpawnID) string { return filepath.Join(s.Folder(), string(id)) }

// restore takes up one program. What never ran leaves nothing behind.
func (s *Service) restore(id core.SpawnID) error {
	f, err := os.Open(filepath.Join(s.own(id), recordFile))
	if errors.Is(err, fs.ErrNotExist) { // Loop died while it made the folder
		return atomicfile.RemoveTree(s.own(id))
	}
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return err
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	if r.Spawn != id || !wire.ValidID(string(id)) || !filepath.IsLocal(string(r.Channel)) || r.Ref.Marker != string(id) {
		return errors.New("the record is not this spawn's")
	}
	sp := &spawn{record: r, prog: hostpty.Adopt(r.Ref), done: make(chan struct{})}
	if sp.Ref.PID == 0 && sp.prog.Ref().PID == 0 && s.size(sp, wire.OutSuffix) == 0 {
		return s.remove(sp)
	}
	s.keep(sp)
	return nil
}

// keep puts a spawn into the table and looks after it until Close.
func (s *Service) keep(sp *spawn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spawns[sp.Spawn] = sp
	s.work.Go(func() { s.attend(sp) })
}

// sizeEvery is the pause between looks at how much a program has printed. A disk takes some
// hundred MB in it.
const sizeEvery = 250 * time.Millisecond

// attend watches the output of a program and writes down how it ended.
func (s *Service) attend(sp *spawn) {
	tick := time.NewTicker(sizeEvery)
	defer tick.Stop()
	for {
		select {
		case <-sp.prog.Exited():
			s.ended(sp)
			return
		case <-sp.prog.Left():
			return
		case <-tick.C:
			s.bound(sp)
		}
	}
}

// bound holds up, and then ends, a program that prints more than is kept.
func (s *Service) bound(sp *spawn) {
	most := max(s.size(sp, wire.OutSuffix), s.size(sp, wire.ErrSuffix))
	if most <= s.o.SpoolMax {
		return
	}
	sp.mu.Lock()
	sp.paused = wire.PausedSpool
	sp.mu.Unlock()
	sp.prog.Pause() // again each time: one may have been started meanwhile
	if most > 2*s.o.SpoolMax {
		s.o.Log.Warn("a program prints without end, ending it", "spawn", sp.Spawn)
		if err := sp.prog.End(context.Background()); err != nil { // bounded by itself
			s.o.Log.Warn("end a program that prints without end", "spawn", sp.Spawn, "err", err)
		}
	}
}

func (s *Service) ended(sp *spawn) {
	defer close(sp.done)
	exit, known := sp.prog.Exit()
	sp.exit = core.ExitStatus{Code: exit.Code, Signal: exit.Signal, At: time.Now()}
	if !known {
		sp.exit, known = s.recorded(sp)
	}
	if sp.lost = !known; sp.lost {
		return
	}
	err := s.writeExit(sp)
	if err != nil {
		s.o.Log.Warn("write down how a program ended", "spawn", sp.Spawn, "err", err)
	}
}

func (s *Service) writeExit(sp *spawn) error {
	b, err := wire.ExitRecord{
		ID: string(sp.Spawn), Exit: wire.Exit{Code: min(max(sp.exit.Code, 0), 255), Signal: sp.exit.Signal, At: sp.exit.At.UnixMilli()},
		OutEnd: s.size(sp, wire.OutSuffix), ErrEnd: s.size(sp, wire.ErrSuffix),
	}.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Replace(s.spool(sp, wire.ExitSuffix), b)
}

// recorded is the end that an earlier launch has seen.
func (s *Service) recorded(sp *spawn) (core.ExitStatus, bool) {
	b, err := os.ReadFile(s.spool(sp, wire.ExitSuffix))
	if err != nil {
		return core.ExitStatus{}, false
	}
	r, err := wire.ParseExitRecord(string(sp.Spawn), b)
	return core.ExitStatus{Code: r.Exit.Code, Signal: r.Exit.Signal, At: time.UnixMilli(r.Exit.At)}, err == nil
}

// spool is a file in the channel's state, beside those of its containers.
func (s *Service) spool(sp *spawn, suffix string) string {
	return filepath.Join(s.o.Home, "channels", string(sp.Channel), "spool", string(sp.Spawn)+suffix)
}

func (s *Service) size(sp *spawn, suffix string) int64 {
	info, err := os.Stat(s.spool(sp, suffix))
	if err != nil {
		return 0
	}
	return info.Size()
}

// remove deletes the files of a spawn of which nothing runs. Its record goes last: without
// it no later launch would look for files that this one did not get to.
func (s *Service) remove(sp *spawn) (err error) {
	for _, suffix := range []string{wire.OutSuffix, wire.ErrSuffix, wire.ExitSuffix} {
		if rerr := os.Remove(s.spool(sp, suffix)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	if err != nil {
		return err
	}
	return atomicfile.RemoveTree(s.own(sp.Spawn))
}

// find is a spawn of a run; core.ErrNotFound when it has none of that id.
func (s *Service) find(run core.RunID, id core.SpawnID) (*spawn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sp := s.spawns[id]; sp != nil && sp.Run == run {
		return sp, nil
	}
	return nil, fmt.Errorf("spawn %s: %w", id, core.ErrNotFound)
}

// of lists the spawns of a run, the oldest first.
func (s *Service) of(run core.RunID) []*spawn {
	return s.those(func(sp *spawn) bool { return sp.Run == run })
}

func (s *Service) those(are func(*spawn) bool) (out []*spawn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sp := range s.spawns {
		if are(sp) {
			out = append(out, sp)
		}
	}
	slices.SortFunc(out, func(a, b *spawn) int { return a.Started.Compare(b.Started) })
	return out
}

// end ends every program of a run with its tree.
func (s *Service) end(ctx context.Context, run core.RunID) (err error) {
	for _, sp := range s.of(run) {
		err = errors.Join(err, sp.prog.End(ctx))
	}
	return err
}

// forget drops a spawn that has ended, with everything of it.
func (s *Service) forget(ctx context.Context, sp *spawn) error {
	if !sp.over() {
		return fmt.Errorf("spawn %s still runs: %w", sp.Spawn, core.ErrConflict)
	}
	if err := sp.prog.End(ctx); err != nil {
		return fmt.Errorf("end what the program left: %w", err)
	}
	if err := s.remove(sp); err != nil {
		return fmt.Errorf("remove files: %w", err)
	}
	sp.prog.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.spawns, sp.Spawn)
	return nil
}

// over reports whether the program has ended.
func (sp *spawn) over() bool {
	select {
	case <-sp.done:
		return true
	default:
		return false
	}
}

// Close stops looking after the programs. Those that run go on.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, sp := range s.those(func(*spawn) bool { return true }) {
		sp.prog.Leave()
	}
	s.work.Wait()
}
