package filebridge

import (
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"loop/backend/core"
	"loop/backend/filesearch"
)

const (
	walkTime = 10 * time.Second
	freshFor = 20 * time.Second // so long an index serves a search that begins
	keptFor  = 5 * time.Minute  // so long it serves what is typed on
	mostKept = 4
)

var errReplaced = errors.New("another search of this channel began")

// searches keeps the last few indexes. Whoever searches makes them, so no goroutine is left.
type searches struct {
	mu sync.Mutex
	of map[core.ChannelID]*search
}

// search is one channel's.
type search struct {
	making chan struct{} // holds one token while an index is made
	cancel context.CancelFunc
	index  *filesearch.Index
	made   time.Time
	top    string
}

// begin ends the channel's search before this one.
func (s *searches) begin(ctx context.Context, ch core.ChannelID) (*search, context.Context, context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[core.ChannelID]*search{}
	}
	one := s.of[ch]
	if one == nil {
		one = &search{making: make(chan struct{}, 1), cancel: func() {}}
		s.of[ch] = one
	}
	one.cancel()
	ctx, one.cancel = context.WithCancel(ctx)
	return one, ctx, one.cancel
}

// keep puts an index in place, and lets go of the oldest ones.
func (s *searches) keep(one *search, x *filesearch.Index, top string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.index, one.top, one.made = x, top, time.Now()
	for {
		n, oldest := 0, core.ChannelID("")
		for id, other := range s.of {
			if other.index == nil {
				continue
			}
			if n++; oldest == "" || other.made.Before(s.of[oldest].made) {
				oldest = id
			}
		}
		if n <= mostKept && time.Since(s.of[oldest].made) < keptFor {
			return
		}
		s.of[oldest].index = nil
	}
}

func (s *searches) kept(one *search, top string, most time.Duration) *filesearch.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.index != nil && one.top == top && time.Since(one.made) < most {
		return one.index
	}
	return nil
}

// Find answers the files and folders below the agents' folder that a person means by a few
// letters, those of recent first. A search ends the one before it; the walk that both need
// goes on.
func (s *Service) Find(
	ctx context.Context, ch core.ChannelID, query string, limit int, recent []string,
) (out core.FileMatches, err error) {
	out.Files = []core.FileMatch{}
	v, at, err := s.at(ctx, ch, "", true)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, at.close()) }()
	if at.own {
		return out, core.Fail(core.CodeNotFound, nil, "The agents' folder is in the container alone, so its files cannot be searched.",
			"Type the path; “loop files list” shows what is there.")
	}
	one, mine, cancel := s.searches.begin(ctx, ch)
	defer cancel()
	x, err := s.index(ctx, mine, one, v, at, query == "")
	if err == nil {
		var found []filesearch.Match
		found, out.Total, err = x.Find(mine, query, limit, recent...)
		for _, m := range found {
			out.Files = append(out.Files, core.FileMatch{Path: m.Path, Marks: m.Marks, Recent: m.Recent, Files: m.Files})
		}
	}
	if mine.Err() != nil && ctx.Err() == nil {
		return out, core.Fail(core.CodeConflict, errReplaced, "Another search of this channel began.", "Look at what that one found.")
	}
	if err != nil {
		return out, said(at.Path, kernelFault(err))
	}
	out.Known, out.Ignored, out.Partial = x.Len(), x.Ignored, x.Partial
	return out, nil
}

// index is the kept one, or a new one. It is made on the service's time, not that of the
// search that began it: the next letter needs it, too.
func (s *Service) index(ctx, mine context.Context, one *search, v view, at *place, begins bool) (*filesearch.Index, error) {
	most := keptFor
	if begins {
		most = freshFor
	}
	if x := s.searches.kept(one, at.HostPath, most); x != nil {
		return x, nil
	}
	select {
	case one.making <- struct{}{}:
		defer func() { <-one.making }()
	case <-mine.Done():
		return nil, mine.Err()
	}
	if x := s.searches.kept(one, at.HostPath, most); x != nil {
		return x, nil
	}
	if at.name != "." {
		return nil, errNoFolder
	}
	ctx, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	x, err := filesearch.Walk(ctx, at.root, v.covers(at))
	if err == nil {
		s.searches.keep(one, x, at.HostPath)
	}
	return x, err
}

// covers reports what the container has other files in the place of.
func (v view) covers(at *place) func(string) bool {
	others := map[string]bool{}
	for _, target := range v.table.Below(at.Path) {
		m, _, ok := v.table.At(target)
		same := path.Join(at.mount.Source, target[min(len(path.Clean(at.mount.Target)), len(target)):])
		if !ok || m.Volume || path.Clean(m.Source) != same {
			others[target] = true
		}
	}
	return func(name string) bool { return len(others) > 0 && others[path.Join(at.Path, name)] }
}
