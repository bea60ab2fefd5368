package config

import (
	"context"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Snapshot holds the settings in force and the problems of the file.
type Snapshot struct {
	Path     string
	Config   Config
	Problems []Problem
	// Err is nil when Config is what the file says. Otherwise Config is the
	// last good one, or, when Good is false, the defaults with those fields
	// that could be read.
	Err error
	// Good says that the file was read whole at least once since the start
	// (or was missing, which means the defaults).
	Good bool

	doc *document // of Config; nil in a Snapshot that was not read from a file
}

// Source follows one settings file. All methods may be called from any
// goroutine. It starts none: Run polls until its context ends.
type Source struct {
	path string

	mu     sync.Mutex
	snap   Snapshot
	looked look // at the file, before it was read
	now    func() time.Time
	subs   []func(Snapshot)

	notify sync.Mutex // keeps calls to subscribers in order
}

// NewSource reads the file at path for the first time.
func NewSource(path string) *Source {
	s := &Source{path: path, now: time.Now}
	s.Reload()
	return s
}

// Path of the settings file.
func (s *Source) Path() string { return s.path }

// Current gives the settings in force. The caller must not change their lists and
// maps.
func (s *Source) Current() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}

// Subscribe calls f after every change, of the configuration or of its
// problems, one call at a time and in order, on the goroutine that noticed
// it. f must not call Reload or Set.
func (s *Source) Subscribe(f func(Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs = append(s.subs, f)
}

// Reload reads the file again, whether or not it seems to have changed.
func (s *Source) Reload() Snapshot {
	s.notify.Lock()
	defer s.notify.Unlock()
	s.mu.Lock()
	changed := s.read()
	snap, subs := s.snap, s.subs
	s.mu.Unlock()
	if changed {
		for _, f := range subs {
			f(snap)
		}
	}
	return snap
}

// read loads the file and reports whether the snapshot changed. s.mu is held.
func (s *Source) read() bool {
	info, _ := os.Stat(s.path)
	s.looked = look{info, s.now()}
	doc := load(s.path)
	problems, err := doc.problems, failure(doc.problems)
	old := s.snap
	s.snap = Snapshot{Path: s.path, Problems: problems, Err: err, Good: old.Good || err == nil, Config: doc.config, doc: doc}
	if err != nil && old.Good {
		s.snap.Config, s.snap.doc = old.Config, old.doc
	}
	return !reflect.DeepEqual(old.Config, s.snap.Config) || !slices.Equal(old.Problems, problems) || (old.Err == nil) != (err == nil)
}

// settle is how long after a change the file is read again although its time
// and size look the same: coarse file systems stamp to two seconds (FAT).
const settle = 2 * time.Second

// look is what was seen of a file, and when.
type look struct {
	info fs.FileInfo // nil when there was none
	at   time.Time
}

// same reports that the file seen now is the one seen then: nothing of it changed,
// and its time was not set so short before that look that it could have changed
// unseen.
func (l look) same(now fs.FileInfo) bool {
	if l.info == nil || now == nil {
		return l.info == now
	}
	return os.SameFile(now, l.info) && now.ModTime().Equal(l.info.ModTime()) && now.Size() == l.info.Size() && now.Mode() == l.info.Mode() &&
		l.at.Sub(now.ModTime()) > settle
}

// Poll reads the file again if its time, size or identity changed.
func (s *Source) Poll() {
	info, _ := os.Stat(s.path)
	s.mu.Lock()
	same := s.looked.same(info)
	s.mu.Unlock()
	if !same {
		s.Reload()
	}
}

// Run polls at every tick until ctx ends, and returns when the last poll did.
// The caller owns the ticker; one second is quick enough to feel immediate.
func (s *Source) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.Poll()
		}
	}
}
