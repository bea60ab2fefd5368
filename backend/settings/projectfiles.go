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
	files := map[string]config.File{} // by folder; a work tree's way to it is the strict one
	for _, ch := range list {
		project, tree := projectDirs(ch)
		if _, known := files[project]; !known && project != "" {
			files[project] = config.ProjectFile(project)
		}
		if tree != "" {
			files[tree] = config.WorktreeFile(tree, project)
		}
	}
	first, changed := watch.Poll(slices.Collect(maps.Keys(files)))
	for _, dir := range slices.Concat(first, changed) {
		s.record(files[dir])
	}
	for _, ch := range list {
		project, tree := projectDirs(ch)
		if slices.Contains(changed, project) || slices.Contains(changed, tree) {
			s.changed(ch.ID)
		}
	}
}
