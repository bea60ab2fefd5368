package sessions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// The CLI keeps the sub-agents of a session in files of their own, in a folder beside its
// transcript (seen with 2.1.332).
const (
	agentsDir   = "subagents"
	agentPrefix = "agent-"
	noteSuffix  = ".meta.json"
)

// enterDir opens a folder, and no link to one.
func enterDir(root *os.Root, name string) (*os.Root, error) {
	is, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !is.IsDir() {
		return nil, fmt.Errorf("open %q: %w", name, errNotFolder)
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	got, err := sub.Stat(".")
	if err == nil && !os.SameFile(is, got) { // it was changed for a link meanwhile
		err = fmt.Errorf("open %q: %w", name, errNotFolder)
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return sub, nil
}

// folder is the one of the session's sub-agents.
func (f *Following) folder() (*os.Root, error) {
	if f.agents != nil {
		return f.agents, nil
	}
	beside, err := enterDir(f.root, f.beside)
	if err != nil {
		return nil, err
	}
	defer beside.Close()
	sub, err := enterDir(beside, agentsDir)
	if err != nil {
		return nil, err
	}
	f.agents = sub
	f.closing = append(f.closing, func() { _ = sub.Close() })
	return sub, nil
}

// SubAgents lists the sub-agents of the session of which there are notes.
func (f *Following) SubAgents() (ids []string, err error) {
	root, err := f.folder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sub-agents: %w", err)
	}
	list, err := names(root, ".", maxFiles)
	if err != nil {
		return nil, fmt.Errorf("list sub-agents: %w", err)
	}
	for _, name := range list {
		id, is := strings.CutSuffix(name, noteSuffix)
		if id, agent := strings.CutPrefix(id, agentPrefix); is && agent && validID(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// AgentNote reads what the CLI notes of a sub-agent.
func (f *Following) AgentNote(id string) ([]byte, error) {
	file, _, err := f.openAgent(id, noteSuffix)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, transcript.MaxAgentNote+1))
	if err != nil {
		return nil, fmt.Errorf("read the note of a sub-agent: %w", err)
	}
	return raw, nil
}

// SubAgent opens the transcript of a sub-agent at an offset, as far as it is written, and says
// how long it is. Its errors are those of Follow.
func (f *Following) SubAgent(id string, offset int64) (in io.ReadCloser, size int64, err error) {
	file, size, err := f.openAgent(id, suffix)
	if err != nil {
		return nil, 0, err
	}
	if size > maxTranscript {
		return nil, 0, errors.Join(ErrTooLong, file.Close())
	}
	if _, err = file.Seek(offset, io.SeekStart); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("read the transcript of a sub-agent: %w", err), file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(file, max(size-offset, 0)), file}, size, nil
}

func (f *Following) openAgent(id, suffix string) (*os.File, int64, error) {
	if !validID(id) {
		return nil, 0, fmt.Errorf("open a sub-agent: %w", core.ErrNotFound)
	}
	root, err := f.folder()
	if err == nil {
		var file *os.File
		var info fs.FileInfo
		if file, info, err = openFile(root, agentPrefix+id+suffix); err == nil {
			return file, info.Size(), nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = core.ErrNotFound
	case errors.Is(err, errNotRegular), errors.Is(err, errNotFolder):
		err = fmt.Errorf("%w: %w", core.ErrConflict, err)
	}
	return nil, 0, fmt.Errorf("open a sub-agent: %w", err)
}
