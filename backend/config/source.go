package config

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Snapshot is what is in force and what is wrong with the file.
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

	doc *document // what Config was read from; nil when that was no file
}

// Source follows one settings file. All methods may be called from any
// goroutine. It starts none: Run polls until its context ends.
type Source struct {
	path string

	mu     sync.Mutex
	snap   Snapshot
	info   fs.FileInfo // of the file as it was read; nil when it was missing
	readAt time.Time
	now    func() time.Time
	subs   map[int]func(Snapshot)
	next   int

	notify sync.Mutex // keeps calls to subscribers in order
}

// NewSource reads the file at path for the first time.
func NewSource(path string) *Source {
	s := &Source{path: path, subs: map[int]func(Snapshot){}, now: time.Now}
	s.snap = Snapshot{Path: path, Config: Defaults()}
	s.Reload()
	return s
}

// Path of the settings file.
func (s *Source) Path() string { return s.path }

// Current is what is in force. The caller must not change its lists and maps.
func (s *Source) Current() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}

// Subscribe calls f after every change, of the configuration or of its
// problems, one call at a time and in order, on the goroutine that noticed
// it. f must not call Reload or Set. The returned function ends it.
func (s *Source) Subscribe(f func(Snapshot)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.subs[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.subs, id)
	}
}

// Reload reads the file again, whether or not it seems to have changed.
func (s *Source) Reload() Snapshot {
	s.notify.Lock()
	defer s.notify.Unlock()
	s.mu.Lock()
	changed := s.read()
	snap := s.snap
	var subs []func(Snapshot)
	if changed {
		for _, id := range slices.Sorted(maps.Keys(s.subs)) {
			subs = append(subs, s.subs[id])
		}
	}
	s.mu.Unlock()
	for _, f := range subs {
		f(snap)
	}
	return snap
}

// read loads the file and reports whether the snapshot changed. s.mu is held.
func (s *Source) read() bool {
	s.info, _ = os.Stat(s.path)
	s.readAt = s.now()
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

// Poll reads the file again if its time, size or identity changed.
func (s *Source) Poll() {
	info, err := os.Stat(s.path)
	s.mu.Lock()
	old, readAt := s.info, s.readAt
	s.mu.Unlock()
	if err != nil && old == nil {
		return
	}
	if err == nil && old != nil && os.SameFile(info, old) && info.ModTime().Equal(old.ModTime()) &&
		info.Size() == old.Size() && info.Mode() == old.Mode() && readAt.Sub(info.ModTime()) > settle {
		return
	}
	s.Reload()
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
