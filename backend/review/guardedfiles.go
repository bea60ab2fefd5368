package review

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"loop/backend/core"
)

// isGuarded reports whether a path is git's own: its files are in no difference, and Loop
// compares them with what a person last saw.
func isGuarded(p string) bool {
	p, ok := strings.CutPrefix(p, ".git/")
	if !ok {
		return false
	}
	hook, ok := strings.CutPrefix(p, "hooks/")
	return p == "config" || p == "config.worktree" || p == "attributes" || p == "info/attributes" ||
		ok && hook != "" && len(hook) < 200 && !strings.ContainsAny(hook, "/\x00")
}

// guardedIn are the texts in a script's output.
func guardedIn(list []section) map[string]string {
	texts := map[string]string{}
	for _, s := range list {
		name, ok := strings.CutPrefix(s.name, "guarded:")
		if !ok {
			continue
		}
		// The folder of a worktree's own files has another name, and the files the same.
		if i := strings.LastIndex(name, "/hooks/"); i >= 0 {
			name = ".git" + name[i:]
		} else {
			name = ".git/" + name[strings.LastIndexByte(name, '/')+1:]
		}
		if isGuarded(name) {
			texts[name] = text(s.text)
		}
	}
	return texts
}

// withGuarded adds the guarded files that have changed to a status. The first look keeps them.
func (s *Service) withGuarded(id core.ChannelID, list []section, st *core.ReviewStatus) error {
	now := guardedIn(list)
	was, known, err := s.o.Keeper.Guarded(id)
	if err != nil {
		return err
	}
	if !known {
		return s.o.Keeper.KeepGuarded(id, now)
	}
	for _, name := range names(was, now) {
		if was[name] == now[name] {
			continue
		}
		f := core.ReviewFile{Path: name, Kind: kindOf(was, now, name), Unstaged: 1, Alarm: core.AlarmOf(name)}
		p, err := parsePatch(guardedPatch(name, was[name], now[name]), name)
		if err != nil { // it is listed all the same: the one who wrote it may want it to hide the others
			s.o.Log.Debug("read the difference of a file of git's own", "channel", id, "file", name, "error", err)
			f.Added, f.Removed = -1, -1
			st.Files = append(st.Files, f)
			continue
		}
		f.Unstaged = max(1, len(p.hunks))
		for _, h := range p.hunks {
			for line := range strings.Lines(h.body) {
				f.Added += strings.Count(line[:1], "+")
				f.Removed += strings.Count(line[:1], "-")
			}
		}
		st.Files = append(st.Files, f)
	}
	return nil
}

func names(a, b map[string]string) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func kindOf(was, now map[string]string, name string) string {
	if _, had := was[name]; !had {
		return "A"
	}
	if _, has := now[name]; !has {
		return "D"
	}
	return "M"
}

// guardedPatch is git's form of a difference, so that one parser reads both.
func guardedPatch(name, was, now string) string {
	if was == now {
		return ""
	}
	return "diff --git a/" + name + " b/" + name + "\n" + udiff.Unified("a/"+name, "b/"+name, was, now)
}

func (s *Service) guardedNow(ctx context.Context, ch core.Channel) (was, now map[string]string, err error) {
	list, out, err := s.run(ctx, ch, readTime, Program{Script: "guarded"})
	if err == nil && out.Code != 0 {
		err = failed(ch, out, "Git's own files could not be read.")
	}
	if err != nil {
		return nil, nil, err
	}
	was, _, err = s.o.Keeper.Guarded(ch.ID)
	return was, guardedIn(list), err
}

func (s *Service) guardedDiff(ctx context.Context, ch core.Channel, path string) (d core.ReviewDiff, err error) {
	was, now, err := s.guardedNow(ctx, ch)
	if err != nil {
		return d, err
	}
	d = core.ReviewDiff{Path: path, Hunks: []core.ReviewHunk{}, Mark: markOf(now[path])}
	d.Bytes, d.Before = int64(len(now[path])), int64(len(was[path]))
	p, err := parsePatch(guardedPatch(path, was[path], now[path]), path)
	switch {
	case errors.Is(err, errLarge):
		d.Whole = core.WholeLarge
		return d, nil
	case err != nil:
		return d, core.Fail(core.CodeConflict, err, "The difference of this file cannot be read.", "Look at the file in a terminal.")
	}
	for _, h := range p.hunks {
		d.Hunks = append(d.Hunks, shown(h, false))
	}
	return d, nil
}

// acceptGuarded takes a file as it is for one that the person has seen.
func (s *Service) acceptGuarded(ctx context.Context, ch core.Channel, path, mark string) error {
	was, now, err := s.guardedNow(ctx, ch)
	if err != nil {
		return err
	}
	if mark != markOf(now[path]) {
		return changed("It is still marked.")
	}
	seen := maps.Clone(was)
	if seen == nil {
		seen = map[string]string{}
	}
	if seen[path] = now[path]; now[path] == "" {
		delete(seen, path)
	}
	return s.o.Keeper.KeepGuarded(ch.ID, seen)
}

func markOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
