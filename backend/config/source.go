package config

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"loop/backend/core"
)

// Snapshot holds the settings in force and the problems of the file.
type Snapshot struct {
	Path     string
	Config   Config
	Problems []core.SettingsProblem
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
// goroutine. It starts none: Run reads it until its context ends.
type Source struct {
	path string

	mu   sync.Mutex
	snap Snapshot
	subs []func(Snapshot)

	notify sync.Mutex // keeps calls to subscribers in order
}

// NewSource reads the file at path for the first time.
func NewSource(path string) *Source {
	s := &Source{path: path}
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

// Reload reads the file again.
func (s *Source) Reload() Snapshot {
	s.notify.Lock()
	defer s.notify.Unlock()
	doc := load(s.path) // a file system may take its time, and Current never waits for it
	s.mu.Lock()
	changed := s.take(doc)
	snap, subs := s.snap, s.subs
	s.mu.Unlock()
	if changed {
		for _, f := range subs {
			f(snap)
		}
	}
	return snap
}

// take makes a snapshot of what was read and reports whether it changed. s.mu is held.
func (s *Source) take(doc *document) bool {
	problems, err := doc.problems, failure(doc.problems)
	old := s.snap
	s.snap = Snapshot{Path: s.path, Problems: problems, Err: err, Good: old.Good || err == nil, Config: doc.config, doc: doc}
	if err != nil && old.Good {
		s.snap.Config, s.snap.doc = old.Config, old.doc
	}
	return !reflect.DeepEqual(old.Config, s.snap.Config) || !slices.Equal(old.Problems, problems) || (old.Err == nil) != (err == nil)
}

// Run reads the file at every tick until ctx ends. A file of the usual size takes a
// fraction of a millisecond, and its time may not tell of a change: some file systems
// stamp to two seconds. The caller owns the ticker; one second is quick enough to feel
// immediate.
func (s *Source) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.Reload()
		}
	}
}
