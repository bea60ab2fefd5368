//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/kernel"
	"loop/agentimage/guest/spool"
	"loop/backend/wire"
)

// open makes both ends of everything a program is connected to, and what keeps its
// output. After an error abandon takes back what there is.
func (p *proc) open() error {
	if p.req.Stdio == wire.StdioPTY {
		master, slave, err := p.tab.ptys.open(p.tab.ctx.Done(), p.req.Cols, p.req.Rows)
		if err != nil {
			return err
		}
		p.child = []*os.File{slave, slave, slave}
		p.master = master
		p.feeds[wire.StreamIn] = newFeed(master)
		log := spool.NewRing(p.tab.cfg.Ring)
		log.Expect(firstReader)
		p.outlets = []*outlet{{name: wire.StreamOut, Log: log, file: master, rest: lastWords}}
		return nil
	}
	if p.req.HasStdin || p.req.OpenStdin {
		if err := p.toProgram(wire.StreamIn); err != nil {
			return err
		}
	} else {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		p.child = append(p.child, null)
	}
	for _, name := range []string{wire.StreamOut, wire.StreamErr} {
		if err := p.fromProgram(name); err != nil {
			return err
		}
	}
	for _, pipe := range p.req.Pipes {
		add := p.toProgram
		if pipe.Write {
			add = p.fromProgram
		}
		if err := add(strconv.Itoa(pipe.FD)); err != nil {
			return err
		}
	}
	return nil
}

// abandon takes back what open made, all of it or as far as it came.
func (p *proc) abandon() {
	p.closeChild()
	p.closeFeeds()
	p.closeOutlets()
	if err := p.removeFiles(); err != nil {
		p.tab.cfg.Log.Warn("spawn", "id", p.id, "err", err)
	}
}

// closeChild closes the program's ends, once the keeper has them.
func (p *proc) closeChild() {
	for _, f := range p.child {
		_ = f.Close() // a terminal is there three times
	}
	p.child = nil
}

func (p *proc) closeOutlets() {
	for _, o := range p.outlets {
		_ = o.file.Close()
	}
}

// fromProgram adds a pipe that the program writes.
func (p *proc) fromProgram(name string) error {
	log, err := p.newLog(name)
	if err != nil {
		return err
	}
	o := &outlet{name: name, Log: log, rest: lastWords}
	p.outlets = append(p.outlets, o)
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	o.file = r
	p.child = append(p.child, w)
	return nil
}

// newLog makes what keeps a stream. Nothing of a protocol may be lost, and a pipe
// carries one.
func (p *proc) newLog(name string) (*spool.Log, error) {
	suffix := map[string]string{wire.StreamOut: wire.OutSuffix, wire.StreamErr: wire.ErrSuffix}[name]
	switch {
	case suffix == "" || p.req.Pause:
		return spool.NewPipe(p.tab.cfg.Ring), nil
	case p.req.Spool:
		l, err := spool.NewFile(p.tab.spoolPath(p.id, suffix), p.tab.cfg.SpoolMax)
		if err != nil {
			return nil, fileError(err)
		}
		return l, nil
	}
	return spool.NewRing(p.tab.cfg.Ring), nil
}

// toProgram adds a pipe that the program reads.
func (p *proc) toProgram(name string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make pipe: %w", err)
	}
	p.child = append(p.child, r)
	p.feeds[name] = newFeed(w)
	return nil
}

// drain starts moving output to the logs and the request's stdin to the program.
func (p *proc) drain(wg *sync.WaitGroup, stdin []byte) {
	for _, o := range p.outlets {
		wg.Go(func() { o.Drain(p.drainCtx, o) })
	}
	in := p.feeds[wire.StreamIn]
	if in == nil || p.master != nil {
		return
	}
	in.writing <- struct{}{} // before anybody can ask for an Input
	p.tab.wg.Go(func() {
		defer func() { <-in.writing }()
		// A program that does not read its input is not an error of the spawn.
		_, _ = in.write(stdin)
		if !p.req.OpenStdin {
			_ = in.close()
		}
	})
	if p.req.StdinWithin > 0 {
		p.tab.wg.Go(func() { p.awaitInput(in, time.Duration(p.req.StdinWithin)*time.Millisecond) })
	}
}

// lastWords bounds what is read after cut: as much as the largest pipe holds.
const lastWords = 1 << 20

// outlet is one of the streams that a program writes, and the log that keeps it.
type outlet struct {
	name string
	*spool.Log
	file *os.File
	rest int // of lastWords, still to be read
}

// cut ends the wait for more. Bytes that are there by then are still read: a container
// that gets no processor may come to them late.
func (o *outlet) cut() { _ = o.file.SetReadDeadline(time.Now()) }

func (o *outlet) Read(p []byte) (n int, err error) {
	n, err = o.file.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	p = p[:min(len(p), o.rest)]
	err = kernel.Control(o.file, func(fd int) (err error) { // the file does not block
		for n, err = unix.Read(fd, p); errors.Is(err, unix.EINTR); n, err = unix.Read(fd, p) {
		}
		return err
	})
	if err != nil || n <= 0 {
		return 0, io.EOF
	}
	o.rest -= n
	return n, nil
}
