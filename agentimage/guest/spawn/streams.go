//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// streams are both ends of everything a program is connected to.
type streams struct {
	child   []int     // what the program gets: 0, 1, 2, then its pipes; closed after the keeper has them
	readers []*outlet // ours, in the order of proc.logs
}

func (s *streams) closeChild() {
	for i, fd := range s.child {
		if i == 0 || fd != s.child[i-1] { // a terminal is there three times
			_ = unix.Close(fd)
		}
	}
	s.child = nil
}

func (s *streams) closeReaders() {
	for _, o := range s.readers {
		_ = o.file.Close()
	}
}

// open makes the streams and what keeps them.
func (p *proc) open() (*streams, error) {
	s := &streams{}
	err := p.openStreams(s)
	if err == nil {
		err = p.openLogs()
	}
	if err != nil {
		p.abandon(s)
		return nil, err
	}
	return s, nil
}

// abandon takes back what open made, all of it or as far as it came.
func (p *proc) abandon(s *streams) {
	s.closeChild()
	s.closeReaders()
	p.closeFeeds()
	p.closeLogs()
}

func (p *proc) openStreams(s *streams) error {
	if p.req.Stdio == wire.StdioPTY {
		master, slave, err := p.tab.ptys.open(p.tab.ctx.Done(), p.req.Cols, p.req.Rows)
		if err != nil {
			return err
		}
		s.child = []int{slave, slave, slave}
		s.readers = []*outlet{newOutlet(master)}
		p.master = master
		p.feeds[wire.StreamIn] = newFeed(master)
		return nil
	}
	if err := p.openStdin(s); err != nil {
		return err
	}
	for range 2 {
		if err := s.fromProgram(); err != nil {
			return err
		}
	}
	for _, pipe := range p.req.Pipes {
		var err error
		if pipe.Write {
			err = s.fromProgram()
		} else {
			err = p.toProgram(s, strconv.Itoa(pipe.FD))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *proc) openStdin(s *streams) error {
	if p.req.HasStdin || p.req.OpenStdin {
		return p.toProgram(s, wire.StreamIn)
	}
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	s.child = append(s.child, fd)
	return nil
}

// fromProgram adds a pipe that the program writes.
func (s *streams) fromProgram() error {
	r, w, err := pipe()
	if err != nil {
		return err
	}
	s.child = append(s.child, w)
	f, err := pollable(r, "output")
	if err != nil {
		return err
	}
	s.readers = append(s.readers, newOutlet(f))
	return nil
}

// toProgram adds a pipe that the program reads.
func (p *proc) toProgram(s *streams, name string) error {
	r, w, err := pipe()
	if err != nil {
		return err
	}
	s.child = append(s.child, r)
	f, err := pollable(w, "input")
	if err != nil {
		return err
	}
	p.feeds[name] = newFeed(f)
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

// openLogs makes what keeps the program's output, one for each reader.
func (p *proc) openLogs() error {
	names := []string{wire.StreamOut}
	if p.req.Stdio == wire.StdioPipes {
		names = append(names, wire.StreamErr)
	}
	for _, name := range names {
		l, err := p.newLog(name)
		if err != nil {
			return errors.Join(err, p.removeSpool())
		}
		p.logs = append(p.logs, namedLog{name, l})
	}
	for _, pipe := range p.req.Pipes {
		if pipe.Write { // a protocol is worth nothing with a hole in it
			p.logs = append(p.logs, namedLog{strconv.Itoa(pipe.FD), spool.NewPipe(p.tab.cfg.Ring)})
		}
	}
	return nil
}

func (p *proc) newLog(name string) (*spool.Log, error) {
	switch {
	case p.req.Spool:
		suffix := map[string]string{wire.StreamOut: wire.OutSuffix, wire.StreamErr: wire.ErrSuffix}[name]
		l, err := spool.NewFile(p.tab.spoolPath(p.id, suffix), p.tab.cfg.SpoolMax)
		return l, spoolError(err)
	case p.req.Pause:
		return spool.NewPipe(p.tab.cfg.Ring), nil
	}
	l := spool.NewRing(p.tab.cfg.Ring)
	if p.req.Stdio == wire.StdioPTY {
		l.Expect(firstReader)
	}
	return l, nil
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

// drain starts moving output to the logs and the request's stdin to the program.
func (p *proc) drain(wg *sync.WaitGroup, s *streams, body Body) {
	for i, l := range p.logs {
		wg.Go(func() { l.Drain(p.drainCtx, s.readers[i]) })
	}
	in := p.feeds[wire.StreamIn]
	if in == nil || p.master != nil {
		return
	}
	in.writing <- struct{}{} // before anybody can ask for an Input
	p.tab.wg.Go(func() {
		defer func() { <-in.writing }()
		// A program that does not read its input is not an error of the spawn.
		_, _ = in.file.Write(body.Stdin)
		if !p.req.OpenStdin {
			_ = in.close()
		}
	})
}
