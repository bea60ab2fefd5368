package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"loop/backend/core"
)

// Options say where the state is.
type Options struct {
	Home string // Loop's own folder
	// WorkDir turns a host directory into the path an agent sees.
	WorkDir func(dir string) string
	// States are the channels whose states have a channel's conversations: the present one
	// first, then those that may have earlier ones. Nil is the channel's own rule.
	States func(ch core.Channel) []core.ChannelID
	// DemoPrefix begins the names of scripted models.
	DemoPrefix string
}

// Service is safe for use from any goroutine; it starts none.
type Service struct {
	opts  Options
	mu    sync.Mutex
	cache map[cacheKey]summary // of transcripts that have not changed since

	// Places of those who read, of all states and of each; see enter. A state's place
	// stays: there are no more of them than channels.
	readers chan struct{}
	owners  map[core.ChannelID]chan struct{}
}

// New makes the service.
func New(o Options) *Service {
	return &Service{
		opts: o, cache: map[cacheKey]summary{},
		readers: make(chan struct{}, maxReaders), owners: map[core.ChannelID]chan struct{}{},
	}
}

const (
	projectsDir = "projects"
	suffix      = ".jsonl"
	// maxFolderName is where the CLI cuts a folder's name and adds a hash.
	maxFolderName = 200
	maxFolders    = 512  // folders looked into
	maxFiles      = 4096 // names read of one folder
)

// folder is the name the CLI gives the folder with the transcripts of a working
// directory: each UTF-16 unit that is no ASCII letter or digit becomes “-”, and
// a long name is cut and ends in a hash of the path (seen with 2.1.197).
func folder(workDir string) string {
	var b strings.Builder
	hash := int32(0)
	for _, u := range utf16.Encode([]rune(workDir)) {
		hash = hash<<5 - hash + int32(u)
		switch {
		case u >= 'a' && u <= 'z', u >= 'A' && u <= 'Z', u >= '0' && u <= '9':
			b.WriteByte(byte(u))
		default:
			b.WriteByte('-')
		}
	}
	name := b.String()
	if len(name) <= maxFolderName {
		return name
	}
	return name[:maxFolderName] + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// validID reports whether a session or message id can be part of a file name
// and of a command line.
func validID(id string) bool {
	const letters = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return id != "" && len(id) <= 64 && id[0] != '-' && strings.Trim(id, letters) == ""
}

// root opens the Claude folder of a channel; core.ErrNotFound when it has none.
func (s *Service) root(ch core.Channel) (*os.Root, error) {
	return s.rootOf(s.owner(ch))
}

// owner is the channel in whose state the conversations of ch are.
func (s *Service) owner(ch core.Channel) core.ChannelID {
	return s.states(ch)[0]
}

func (s *Service) states(ch core.Channel) []core.ChannelID {
	if s.opts.States != nil {
		return s.opts.States(ch)
	}
	return []core.ChannelID{ch.StateOwner()}
}

// Resumable is Exists, after a session that lies elsewhere was copied to where the CLI looks
// for it: into the present state from an earlier one, or into the folder of another working
// directory. The settings may have the channel share a container since, or another layout.
func (s *Service) Resumable(ch core.Channel, workDir string, session core.SessionID) (exists, known bool) {
	if s.exact(ch, workDir, session) {
		return true, true
	}
	exists, known = s.Exists(ch, workDir, session)
	if !known {
		return false, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), bringTime)
	defer cancel()
	states := s.states(ch)
	for i, from := range states {
		if i > 0 && from == states[0] || i == 0 && !exists {
			continue
		}
		switch err := s.copy(ctx, from, states[0], workDir, workDir, session); {
		case err == nil:
			return true, true
		case !errors.Is(err, errGone):
			return exists, exists // it is there, and the next try may bring it
		}
	}
	return exists, true
}

// exact reports whether a session lies in the folder in which the CLI looks for it.
func (s *Service) exact(ch core.Channel, workDir string, session core.SessionID) bool {
	root, err := s.root(ch)
	if err != nil || !validID(string(session)) {
		return false
	}
	defer root.Close()
	info, err := root.Lstat(path.Join(projectsDir, folder(workDir), string(session)+suffix))
	return err == nil && info.Mode().IsRegular()
}

// bringTime bounds Resumable, for which a run waits; the longest transcript takes a second.
const bringTime = 20 * time.Second

func (s *Service) rootOf(owner core.ChannelID) (*os.Root, error) {
	if !validID(string(owner)) {
		return nil, fmt.Errorf("open Claude folder: %w: channel %q", core.ErrNotFound, owner)
	}
	r, err := os.OpenRoot(filepath.Join(s.opts.Home, "channels", string(owner), "claude"))
	if errors.Is(err, fs.ErrNotExist) {
		err = core.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open Claude folder: %w", err)
	}
	return r, nil
}

// Exists says whether the CLI can resume a session in workDir, a path as the
// agent sees it. Only a folder that could be read proves an absence.
func (s *Service) Exists(ch core.Channel, workDir string, session core.SessionID) (exists, known bool) {
	if !validID(string(session)) {
		return false, false
	}
	root, err := s.root(ch)
	if err != nil {
		return false, errors.Is(err, core.ErrNotFound)
	}
	defer root.Close()
	name := string(session) + suffix
	info, err := root.Lstat(path.Join(projectsDir, folder(workDir), name))
	if err == nil {
		return info.Mode().IsRegular(), true
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, false
	}
	// The folder's name follows the CLI's own rule, which may change: another
	// folder that holds the session counts too.
	_, err = find(root, session)
	return err == nil, err == nil || errors.Is(err, core.ErrNotFound)
}

// find returns the newest transcript of a session, whichever folder it is in.
func find(root *os.Root, session core.SessionID) (string, error) {
	files, err := transcripts(root)
	if err != nil {
		return "", fmt.Errorf("look for a transcript: %w", err)
	}
	i := slices.IndexFunc(files, func(f found) bool { return f.session == session })
	if i < 0 {
		return "", fmt.Errorf("look for a transcript: %w", core.ErrNotFound)
	}
	return files[i].file, nil
}

// names lists up to limit names of a folder; one that is not there has none.
func names(root *os.Root, dir string, limit int) ([]string, error) {
	f, _, err := open(root, dir, errNotFolder, fs.FileMode.IsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(limit)
	if err != nil && len(list) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return list, nil
}
