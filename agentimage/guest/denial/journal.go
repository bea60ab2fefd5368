//go:build linux

package denial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"syscall"
)

const (
	// MaxJournal bounds a journal's file, in bytes. When it is full, the older half goes.
	MaxJournal = 64 << 10
	// maxField bounds what a line has of a target or a reason, in bytes. JSON makes six
	// of one.
	maxField = 1 << 10
)

// Journal is the record of a spawn's denials: a file with one JSON line for each, the
// latest last, which the agent may read. Its methods may be called from any goroutine.
type Journal struct {
	path  string
	log   *slog.Logger
	notes chan note
	stop  chan struct{}
	once  sync.Once
	done  chan struct{}
}

type note struct {
	d       Denial
	written chan struct{}
}

// Open begins a journal at a path. There is a file with the first denial, and whoever
// made the folder removes it; the caller ends the journal with Close.
func Open(path string, log *slog.Logger) *Journal {
	j := &Journal{path: path, log: log, notes: make(chan note), stop: make(chan struct{}), done: make(chan struct{})}
	go j.write()
	return j
}

// Add writes a denial down and returns when it is there for readers: whoever is told that
// a call failed finds out why. Its Number is the journal's to give. A file that cannot be
// written keeps nobody from being denied.
func (j *Journal) Add(d Denial) {
	n := note{d, make(chan struct{})}
	select {
	case j.notes <- n:
	case <-j.done:
		return
	}
	<-n.written
}

// Close returns when nothing is written any more. The file stays.
func (j *Journal) Close() {
	j.once.Do(func() { close(j.stop) })
	<-j.done
}

// write is the one goroutine that touches the file. Those who add may be on threads that
// are the agent to the file system, and to them the folder is closed.
func (j *Journal) write() {
	defer close(j.done)
	var f *os.File
	var size, last int64
	var failed bool
	for {
		select {
		case <-j.stop:
			if f != nil {
				_ = f.Close()
			}
			return
		case n := <-j.notes:
			last++
			n.d.Number = last
			var err error
			if f, size, err = j.append(f, size, n.d); err != nil && !failed {
				failed = true // once: a full disk stays full
				j.log.Error("record a denial", "err", err)
			}
			close(n.written)
		}
	}
}

func (j *Journal) append(f *os.File, size int64, d Denial) (*os.File, int64, error) {
	d.Target, d.Why = d.Target[:min(len(d.Target), maxField)], d.Why[:min(len(d.Why), maxField)]
	text, err := json.Marshal(d)
	if err != nil {
		return f, size, fmt.Errorf("encode denial: %w", err)
	}
	text = append(text, '\n')
	if f != nil && size+int64(len(text)) > MaxJournal {
		_ = f.Close()
		if err := j.shorten(); err != nil {
			return nil, 0, err
		}
		f = nil
	}
	if f == nil {
		if f, size, err = j.open(j.path, os.O_APPEND); err != nil {
			return nil, 0, err
		}
	}
	n, err := f.Write(text)
	if err != nil {
		err = errors.Join(fmt.Errorf("append denial: %w", err), f.Close())
		return nil, 0, err
	}
	return f, size + int64(n), nil
}

// open makes a file whose group is its folder's, the agent's, which may read it.
func (j *Journal) open(path string, how int) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how|syscall.O_NOFOLLOW, 0o640)
	if err != nil {
		return nil, 0, fmt.Errorf("open record of denials: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("look at record of denials: %w", err), f.Close())
	}
	return f, st.Size(), nil
}

// shorten replaces the file by its newer half, in one step for readers.
func (j *Journal) shorten() error {
	data, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read record of denials: %w", err)
	}
	data = data[len(data)/2:]
	if _, rest, whole := bytes.Cut(data, []byte("\n")); whole {
		data = rest
	}
	tmp := j.path + TempSuffix
	f, _, err := j.open(tmp, os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, j.path)
	}
	if err != nil {
		return fmt.Errorf("shorten record of denials: %w", errors.Join(err, os.Remove(tmp)))
	}
	return nil
}

// TempSuffix ends the name of what a journal's file is about to be replaced by.
const TempSuffix = ".tmp"
