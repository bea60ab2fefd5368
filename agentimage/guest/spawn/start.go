//go:build linux

package spawn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// stdio is both ends of a spawn's standard streams.
type stdio struct {
	child   [3]int    // what the program gets; closed after the keeper has them
	readers []*outlet // ours: stdout and stderr, or the terminal's master
	stdin   *os.File  // ours; nil for /dev/null and for a terminal
}

func (s *stdio) closeChild() {
	for i, fd := range s.child {
		if fd >= 0 && (i == 0 || fd != s.child[i-1]) {
			_ = unix.Close(fd)
		}
	}
	s.child = [3]int{-1, -1, -1}
}

func (s *stdio) closeReaders() {
	for _, o := range s.readers {
		_ = o.file.Close()
	}
}

func (s *stdio) close() {
	s.closeChild()
	s.closeReaders()
	if s.stdin != nil {
		_ = s.stdin.Close()
	}
}

// open makes the streams and what keeps them.
func (p *proc) open() (*stdio, error) {
	s := &stdio{child: [3]int{-1, -1, -1}}
	if err := p.openStreams(s); err != nil {
		s.close()
		return nil, err
	}
	if err := p.openLogs(); err != nil {
		s.close()
		p.closeLogs()
		return nil, err
	}
	return s, nil
}

func (p *proc) openStreams(s *stdio) error {
	if p.req.Stdio == wire.StdioPTY {
		master, slave, err := p.tab.ptys.open(p.tab.ctx.Done(), p.req.Cols, p.req.Rows)
		if err != nil {
			return err
		}
		s.child = [3]int{slave, slave, slave}
		s.readers = []*outlet{newOutlet(master)}
		p.master = master
		return nil
	}
	for i := 1; i <= 2; i++ {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.child[i] = w
		f, err := pollable(r, "output")
		if err != nil {
			return err
		}
		s.readers = append(s.readers, newOutlet(f))
	}
	if !p.req.HasStdin && !p.req.OpenStdin {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", os.DevNull, err)
		}
		s.child[0] = fd
		return nil
	}
	r, w, err := pipe()
	if err != nil {
		return err
	}
	s.child[0] = r
	if s.stdin, err = pollable(w, "stdin"); err != nil {
		return err
	}
	p.stdin = s.stdin
	return nil
}

func pipe() (r, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("make pipe: %w", err)
	}
	return fds[0], fds[1], nil
}

// pollable makes our end of a pipe one that Close interrupts.
func pollable(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("set nonblocking: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (p *proc) openLogs() error {
	if !p.req.Spool {
		p.out = spool.NewRing(p.tab.cfg.Ring)
		if p.req.Stdio == wire.StdioPTY {
			p.out.Expect(firstReader)
		} else {
			p.err = spool.NewRing(p.tab.cfg.Ring)
		}
		return nil
	}
	out, err := spool.NewFile(p.tab.spoolPath(p.id, wire.OutSuffix), p.tab.cfg.SpoolMax)
	if err != nil {
		return spoolError(err)
	}
	p.out = out
	if p.err, err = spool.NewFile(p.tab.spoolPath(p.id, wire.ErrSuffix), p.tab.cfg.SpoolMax); err != nil {
		p.err = nil
		_ = os.Remove(p.tab.spoolPath(p.id, wire.OutSuffix))
		return spoolError(err)
	}
	return nil
}

func spoolError(err error) error {
	switch {
	case errors.Is(err, os.ErrExist):
		return wire.NewError(wire.CodeConflict, err.Error())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return wire.NewError(wire.CodeDiskFull, err.Error())
	}
	return err
}

// start runs keeper and stage and answers when the program has been executed.
func (p *proc) start(s *stdio, body Body) (tree, error) {
	cfg, err := p.stageConfig(body).encode()
	if err != nil {
		return tree{}, err
	}
	var pipes startPipes
	if err := pipes.open(); err != nil {
		return tree{}, err
	}
	events, config, status := pipes.events, pipes.config, pipes.status
	defer func() { _ = status.Close() }()
	keeper, err := p.startKeeper(s, pipes)
	pipes.closeChild()
	s.closeChild()
	if err != nil {
		_ = errors.Join(events.Close(), config.Close())
		return tree{}, err
	}
	// A stage that died early makes this fail; its reason comes on status.
	_, _ = config.Write(cfg)
	_ = config.Close()
	t := tree{events: json.NewDecoder(events), file: events, keeper: keeper}
	if err := p.awaitStart(t, status); err != nil {
		<-keeper // the stage has ended or is about to; nothing is below it
		_ = events.Close()
		return tree{}, err
	}
	p.startedAt = p.tab.cfg.Now().UnixMilli()
	p.exe = readExe(p.pid)
	return t, nil
}

// startPipes connect loop init with keeper and stage. Its own ends never hold a
// thread while they wait.
type startPipes struct {
	events, config, status *os.File
	child                  [3]int // events, config, status as the keeper gets them
}

func (q *startPipes) open() error {
	q.child = [3]int{-1, -1, -1}
	ends := []struct {
		name string
		file **os.File
		ours int // 0: we read, 1: we write
	}{{"events", &q.events, 0}, {"config", &q.config, 1}, {"status", &q.status, 0}}
	for i, e := range ends {
		r, w, err := pipe()
		if err == nil {
			fds := [2]int{r, w}
			q.child[i] = fds[1-e.ours]
			*e.file, err = pollable(fds[e.ours], e.name)
		}
		if err != nil {
			q.closeChild()
			for _, f := range []*os.File{q.events, q.config, q.status} {
				if f != nil {
					_ = f.Close()
				}
			}
			return err
		}
	}
	return nil
}

func (q *startPipes) closeChild() {
	for i, fd := range q.child {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		q.child[i] = -1
	}
}

func (p *proc) startKeeper(s *stdio, q startPipes) (<-chan syscall.WaitStatus, error) {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	defer func() { _ = unix.Close(null) }()
	argv := []string{"loop", "keep"}
	if p.req.Stdio == wire.StdioPTY {
		argv = append(argv, "terminal")
	}
	pid, done, err := p.tab.cfg.Reaper.Start("/proc/self/exe", argv, &syscall.ProcAttr{
		Dir: "/",
		Env: append(slices.Clone(keepEnv), p.tab.cfg.KeepEnv...),
		Files: []uintptr{uintptr(null), uintptr(null), 2, uintptr(q.child[0]),
			uintptr(s.child[0]), uintptr(s.child[1]), uintptr(s.child[2]), uintptr(q.child[1]), uintptr(q.child[2])},
	})
	p.keeper = pid
	return done, err
}

// keepEnv makes a keeper that needs no thread after its start: one running
// thread, and no collector to wake another.
var keepEnv = []string{"GOMAXPROCS=1", "GOGC=off"}

// awaitStart reads the pid, then waits for the status pipe: closed by execve
// after the stage's mark means that the program runs.
func (p *proc) awaitStart(t tree, status *os.File) error {
	var ev keepEvent
	if err := t.events.Decode(&ev); err != nil {
		return wire.NewError(wire.CodeLimit, "the program's keeper ended at once, which happens without free processes or memory: "+err.Error())
	}
	if ev.Limit {
		return errNoProcess
	}
	if ev.Error != "" {
		return errors.New(ev.Error)
	}
	p.pid = ev.Pid
	data, err := io.ReadAll(io.LimitReader(status, 64<<10))
	if err != nil {
		return fmt.Errorf("read stage status: %w", err)
	}
	if string(data) == stageMark {
		return nil
	}
	data = bytes.TrimPrefix(data, []byte(stageMark))
	if len(data) == 0 {
		return wire.NewError(wire.CodeLimit, "the process ended before it executed the program, which happens without free processes or memory")
	}
	var se stageError
	if err := json.Unmarshal(data, &se); err != nil {
		return fmt.Errorf("decode stage status: %w", err)
	}
	return wire.NewError(wire.ErrCode(se.Code), se.Text)
}

func (p *proc) stageConfig(body Body) stageConfig {
	a := p.tab.cfg.Agent
	dir := p.req.Dir
	if dir == "" {
		dir = a.Home
	}
	if dir == "" {
		dir = "/"
	}
	c := stageConfig{
		Argv: joinNul(p.req.Argv), Env: joinNul(mergeEnv(p.tab.cfg.Env, p.req)), Dir: dir,
		UID: a.UID, GID: a.GID, Groups: a.Groups, RunDir: p.runDir(),
	}
	for i, f := range p.req.Files {
		c.Files = append(c.Files, stageFile{Name: f.Name, Data: body.Files[i]})
	}
	return c
}

// drain starts moving output to the logs and the request's stdin to the program.
func (p *proc) drain(wg *sync.WaitGroup, s *stdio, body Body) {
	wg.Go(func() { p.out.Drain(p.drainCtx, s.readers[0]) })
	if p.err != nil {
		wg.Go(func() { p.err.Drain(p.drainCtx, s.readers[1]) })
	}
	if s.stdin == nil {
		return
	}
	p.writing <- struct{}{} // before anybody can ask for an Input
	p.tab.wg.Go(func() {
		defer func() { <-p.writing }()
		// A program that does not read its input is not an error of the spawn.
		_, _ = s.stdin.Write(body.Stdin)
		if !p.req.OpenStdin {
			_ = p.closeStdin()
		}
	})
}
