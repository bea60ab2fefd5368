package rewind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loop/backend/checkpoints"
	"loop/backend/core"
)

func (s *Service) backFile(p *plan, st *planned, count bool) core.BackFile {
	f := core.BackFile{Path: st.Path, Back: core.BackChanged, Added: -1, Removed: -1}
	switch {
	case st.To == nil:
		f.Back = core.BackRemoved
	case st.From == nil:
		f.Back = core.BackComes
	}
	if st.To != nil {
		f.Bytes = st.To.Size
	}
	for _, sp := range st.spans {
		f.OwnMs = max(f.OwnMs, sp.at.UnixMilli())
	}
	if !count {
		return f
	}
	now, then, ok := s.texts(p.ch.ID, st.From, st.To)
	if ok {
		f.Added, f.Removed = counts(now, then)
	}
	if f.OwnMs > 0 {
		_, f.Merges = s.mergedText(p.ch.ID, st)
	}
	return f
}

// texts are both sides of a file; ok is false where one is no text. Nothing is an empty one.
func (s *Service) texts(ch core.ChannelID, from, to *checkpoints.Entry) (now, then string, ok bool) {
	now, a := s.text(ch, from)
	then, b := s.text(ch, to)
	return now, then, a && b
}

func (s *Service) text(ch core.ChannelID, e *checkpoints.Entry) (string, bool) {
	switch {
	case e == nil:
		return "", true
	case e.Kind == checkpoints.Link:
		return e.Link, true
	case e.Size > maxText:
		return "", false
	}
	data, err := s.store(ch).Content(e.Sum)
	return string(data), err == nil && isText(data)
}

// versions are the person's edits of a file as texts.
func (s *Service) versions(ch core.ChannelID, spans []span) (out []version, ok bool) {
	for _, sp := range spans {
		from, to, ok := s.texts(ch, sp.from, sp.to)
		if !ok {
			return nil, false
		}
		out = append(out, version{from, to})
	}
	return out, true
}

// mergedText is a file as it was, with the person's edits in it.
func (s *Service) mergedText(ch core.ChannelID, st *planned) (string, bool) {
	if st.To == nil || st.From == nil || st.To.Kind != checkpoints.File || st.From.Kind != checkpoints.File {
		return "", false
	}
	for _, sp := range st.spans {
		if sp.from == nil || sp.to == nil {
			return "", false // the person made it, or removed it
		}
	}
	_, then, ok := s.texts(ch, st.From, st.To)
	edits, ok2 := s.versions(ch, st.spans)
	if !ok || !ok2 {
		return "", false
	}
	return merged(then, edits)
}

// leftOut says what is not kept.
func leftOut(now, then *checkpoints.Tree) []string {
	out := []string{}
	large, _ := now.Unkept()
	was, odd := then.Unkept()
	for _, p := range was {
		if !slices.Contains(large, p) {
			large = append(large, p)
		}
	}
	if len(large) > 0 {
		out = append(out, fmt.Sprintf("Files over %d MB: %s", checkpoints.MaxFile>>20, some(large)))
	}
	if odd > 0 {
		out = append(out, fmt.Sprintf("%d that could not be read, or are no ordinary files", odd))
	}
	return out
}

// some names the first of some paths.
func some(paths []string) string {
	var names []string
	for _, p := range paths[:min(len(paths), 3)] {
		names = append(names, core.CleanTitle(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// blockedText says of paths that something which stays is in their place.
func blockedText(blocked []string) []string {
	if len(blocked) == 0 {
		return []string{}
	}
	return []string{"What is in the place of " + some(blocked) + ", because Loop does not keep all of it"}
}

// blockedNotices say that paths did not come back.
func blockedNotices(blocked []string) []string {
	if len(blocked) == 0 {
		return nil
	}
	return []string{some(blocked) + " did not come back: what is in the place stays, because Loop does not keep all of it, or you keep it."}
}

// possible are changes without those in whose place something is that stays.
func possible(ctx context.Context, f core.WorkFolder, changes []checkpoints.Change) (
	out []checkpoints.Change, blocked []string, err error,
) {
	inTheWay, err := checkpoints.InTheWay(ctx, f, changes)
	if err != nil {
		return nil, nil, fmt.Errorf("look for what is in the way: %w", err)
	}
	for _, c := range changes {
		if inTheWay[c.Path] {
			blocked = append(blocked, c.Path)
		} else {
			out = append(out, c)
		}
	}
	return out, blocked, nil
}

// Diff is what going back does with the text of one file.
func (s *Service) Diff(ctx context.Context, id core.RunID, path string) (core.BackDiff, error) {
	s.mu.Lock()
	p := s.planned
	s.mu.Unlock()
	if p == nil || p.run.ID != id {
		if _, err := s.Preview(ctx, id); err != nil {
			return core.BackDiff{Own: []int{}}, err
		}
		s.mu.Lock()
		p = s.planned
		s.mu.Unlock()
	}
	out := core.BackDiff{Own: []int{}}
	i := slices.IndexFunc(p.steps, func(st planned) bool { return st.Path == path })
	if i < 0 || p.run.ID != id {
		return out, core.Fail(core.CodeNotFound, core.ErrNotFound, "That file is as it was.", "Look at the preview again.")
	}
	st := &p.steps[i]
	now, then, ok := s.texts(p.ch.ID, st.From, st.To)
	if !ok {
		out.Why = "It is no text, or too long to be compared."
		return out, nil
	}
	edits, _ := s.versions(p.ch.ID, st.spans) // those of no text mark nothing
	out.Patch, out.Own, out.Why = patch(now, then, edits)
	if out.Patch == "" && out.Why == "" {
		out.Why = "Only its permissions change."
	}
	return out, nil
}
