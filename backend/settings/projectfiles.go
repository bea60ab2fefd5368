package settings

import (
	"context"
	"maps"
	"slices"
	"time"

	"loop/backend/config"
)

// record keeps a text that somebody else wrote.
func (s *Service) record(f config.File) {
	if err := s.editor.History.Record(f, config.SourceExternal); err != nil {
		s.o.Log.Warn("keep revision of settings", "path", f.Path, "err", err)
	}
}

// watch looks at every tick until ctx ends.
func (s *Service) watch(ctx context.Context, tick <-chan time.Time) {
	w := &config.ProjectWatch{}
	for {
		s.poll(ctx, w)
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// poll looks once at the settings files of all channels' projects.
func (s *Service) poll(ctx context.Context, watch *config.ProjectWatch) {
	list, err := s.o.Channels.Channels(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.o.Log.Warn("look at projects' settings", "err", err)
		}
		return
	}
	var files []config.File
	for _, ch := range list {
		files = slices.AppendSeq(files, maps.Values(projectFiles(ch)))
	}
	for _, f := range files {
		files = append(files, f.Toolchains()...)
	}
	first, changed := watch.Poll(files)
	for _, f := range slices.Concat(first, changed) {
		if !f.Toolchain() {
			s.record(f)
		}
	}
	for _, ch := range list {
		for _, f := range projectFiles(ch) {
			if slices.ContainsFunc(append(f.Toolchains(), f), func(f config.File) bool { return slices.Contains(changed, f) }) {
				s.changed(ch.ID)
				break
			}
		}
	}
}
