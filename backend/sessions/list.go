package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

const (
	maxListed = 200     // newest sessions of a list
	maxCached = 2048    // summaries kept
	listBytes = 1 << 30 // transcripts read for one list; older ones are shown without their contents
)

type cacheKey struct {
	owner core.ChannelID
	file  string
	size  int64
	at    int64
}

// summary is what a list shows of one transcript.
type summary struct {
	title, prompt, model, dir, branch string
	messages                          int
}

type found struct {
	session core.SessionID
	file    string
	size    int64
	at      time.Time
}

// List returns the conversations kept in a channel's state, newest first. A
// thread shares its parent's state, so it shows the same.
func (s *Service) List(ctx context.Context, ch core.Channel) ([]core.SessionInfo, error) {
	out := []core.SessionInfo{}
	root, err := s.root(ch)
	if errors.Is(err, core.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	done, err := s.enter(ctx, s.owner(ch))
	if err != nil {
		return nil, err
	}
	defer done()
	files, err := transcripts(root)
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	var read int64
	for _, f := range files {
		if len(out) == maxListed {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key := cacheKey{owner: s.owner(ch), file: f.file, size: f.size, at: f.at.UnixNano()}
		sum, cached := s.cached(key)
		if !cached {
			if read += f.size; read > listBytes {
				sum = summary{title: "(not read)"}
			} else if sum, err = summarise(ctx, root, f.file); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				continue // swapped or taken away meanwhile; the others are there
			} else {
				s.keep(key, sum)
			}
		}
		if sum.messages == 0 && sum.title == "" {
			continue // the CLI cannot resume it
		}
		info := core.SessionInfo{
			ID: f.session, Title: cmp.Or(sum.title, sum.prompt), Model: sum.model, Dir: sum.dir, Branch: sum.branch,
			Messages: sum.messages, SizeBytes: f.size, UpdatedAt: f.at,
			Demo: s.opts.DemoPrefix != "" && strings.HasPrefix(sum.model, s.opts.DemoPrefix),
		}
		info.Current = f.session == ch.Session(info.Demo)
		out = append(out, info)
	}
	return out, nil
}

// transcripts finds the files, newest first, one for each session.
func transcripts(root *os.Root) ([]found, error) {
	dirs, err := names(root, projectsDir, maxFolders)
	if err != nil {
		return nil, err
	}
	newest := map[core.SessionID]found{}
	for _, d := range dirs {
		dir := path.Join(projectsDir, d)
		list, err := names(root, dir, maxFiles)
		if err != nil {
			continue // one odd folder does not hide the rest
		}
		for _, name := range list {
			text, ok := strings.CutSuffix(name, suffix)
			if !ok || !validID(text) || strings.HasPrefix(text, "agent-") { // the CLI's side files for helpers of a session
				continue
			}
			id := core.SessionID(text)
			p := path.Join(dir, name)
			info, err := root.Lstat(p)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			f := found{session: id, file: p, size: info.Size(), at: info.ModTime()}
			if old, ok := newest[id]; !ok || f.at.After(old.at) {
				newest[id] = f
			}
		}
	}
	return slices.SortedFunc(maps.Values(newest), func(a, b found) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.session, b.session))
	}), nil
}

// summarise reads what a list shows of a transcript.
func summarise(ctx context.Context, root *os.Root, file string) (summary, error) {
	f, _, err := openFile(root, file)
	if err != nil {
		return summary{}, err
	}
	defer f.Close()
	return sumUp(ctx, f)
}

func sumUp(ctx context.Context, r io.Reader) (summary, error) {
	var sum summary
	var custom, ai, told string
	err := walk(ctx, r, func(raw []byte) bool {
		l, ok := parse(raw)
		if !ok {
			return true
		}
		switch l.Type {
		case "summary":
			told = l.Summary
		case "custom-title":
			custom = l.Custom
		case "ai-title":
			ai = l.AI
		}
		role := l.role()
		if role == "" {
			return true
		}
		if l.Dir != "" {
			sum.dir = plain(l.Dir, 4096)
		}
		if l.Branch != "" {
			sum.branch = plain(l.Branch, titleLimit)
		}
		text := l.Message.text()
		if text == "" || role == "user" && !typed(text) {
			return true
		}
		sum.messages++
		if role == "user" && sum.prompt == "" {
			sum.prompt = plain(text, titleLimit)
		}
		if m := l.Message.Model; role == "assistant" && m != "" {
			sum.model = plain(m, 100)
		}
		return true
	})
	sum.title = cmp.Or(plain(custom, titleLimit), plain(ai, titleLimit), plain(told, titleLimit))
	if sum.messages == 0 {
		sum.title = "" // only notes of the CLI's
	}
	return sum, err
}

func (s *Service) cached(k cacheKey) (summary, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, ok := s.cache[k]
	return sum, ok
}

func (s *Service) keep(k cacheKey, sum summary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cache) >= maxCached {
		clear(s.cache)
	}
	s.cache[k] = sum
}
