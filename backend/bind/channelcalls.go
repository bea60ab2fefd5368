package bind

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loop/backend/core"
)

// Page sizes of a timeline, in events.
const (
	defaultPage = 200
	maxPage     = 1000
	maxHistory  = 200
	maxFolders  = 2000 // entries of one folder shown in the chooser
)

// Channels is bound as window.go.bind.Channels.
type Channels struct {
	Ctx       context.Context `json:"-"` // the app's life; Wails gives calls none of their own
	Service   ChannelService  `json:"-"`
	Timelines TimelineStore   `json:"-"`
	Runs      RunService      `json:"-"`
	Window    Native          `json:"-"`
}

// TimelinePage is a stretch of a channel's timeline, oldest first.
type TimelinePage struct {
	Events  []core.Event      `json:"events"`
	HasMore bool              `json:"has_more"`
	Live    *core.LiveMessage `json:"live"`
	Queue   []core.Run        `json:"queue"`
}

// Folder is one entry of the headless chooser.
type Folder struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// FolderList is one folder's folders.
type FolderList struct {
	Path    string   `json:"path"`
	Parent  string   `json:"parent"`
	Entries []Folder `json:"entries"`
}

func (c *Channels) List() ([]core.ChannelView, error) {
	return listed(c.Service.List(c.Ctx))
}

func (c *Channels) Add(dir, name string) (core.ChannelView, error) {
	return c.Service.Add(c.Ctx, dir, name)
}

func (c *Channels) Demo() (core.ChannelView, error) { return c.Service.Demo(c.Ctx) }

func (c *Channels) Rename(id, name string) error {
	return c.Service.Rename(c.Ctx, core.ChannelID(id), name)
}

// Choose replaces what is chosen for one channel alone: its agent, model, effort and further
// folders. It counts from the next run on.
func (c *Channels) Choose(id string, chosen core.ChannelChoices) (core.ChannelView, error) {
	if err := c.Service.SetChoices(c.Ctx, core.ChannelID(id), chosen); err != nil {
		return core.ChannelView{}, err
	}
	return c.Service.Get(c.Ctx, core.ChannelID(id))
}

// Agents are the agents that channels can belong to; the first is the default one.
func (c *Channels) Agents() ([]core.AgentChoice, error) { return c.Service.Agents(), nil }

func (c *Channels) Remove(id string) error { return c.Service.Remove(c.Ctx, core.ChannelID(id)) }

// Timeline returns events before beforeID (0: the newest), with what is being
// written now and the queue when it is the newest page.
func (c *Channels) Timeline(id string, beforeID int64, limit int) (TimelinePage, error) {
	ch := core.ChannelID(id)
	if _, err := c.Service.Get(c.Ctx, ch); err != nil {
		return TimelinePage{}, err
	}
	if limit <= 0 {
		limit = defaultPage
	}
	var p TimelinePage
	newest := beforeID <= 0
	if newest {
		// Read before the events: a message that completes in between is then
		// shown once by its stored event, which replaces the live one.
		p.Live = c.Runs.Live(ch)
	}
	var err error
	if p.Events, p.HasMore, err = c.Timelines.Timeline(c.Ctx, ch, beforeID, min(limit, maxPage)); err != nil {
		return TimelinePage{}, err
	}
	if newest {
		if p.Queue, err = c.Runs.Queue(c.Ctx, ch); err != nil {
			return TimelinePage{}, err
		}
	}
	p.Events, p.Queue = orEmpty(p.Events), orEmpty(p.Queue)
	return p, nil
}

// PickFolder opens the system's dialog; empty means the person closed it.
func (c *Channels) PickFolder() (string, error) {
	if c.Window == nil {
		return "", core.Fail("no_native_dialog", nil, "A page in a browser cannot open the system's folder dialog.",
			"Choose the folder in the list.")
	}
	return c.Window.PickFolder()
}

// Folders lists the folders in path (the home folder when empty), for the
// chooser of the headless page.
func (c *Channels) Folders(path string) (FolderList, error) {
	if path == "" {
		path, _ = os.UserHomeDir() // else the folder that Loop was started in
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return FolderList{}, core.Fail(core.CodeDir, err, "That is not a path.", "Type a full path.")
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return FolderList{}, core.Fail(core.CodeDir, err, "That folder cannot be opened.", "Go back and choose another one.")
	}
	var seen, hidden []Folder // in ReadDir's order, which is by name
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		if !e.IsDir() {
			// A linked project folder is a folder; on Windows a junction is irregular.
			if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
				continue
			}
			if info, err := os.Stat(full); err != nil || !info.IsDir() {
				continue
			}
		}
		into := &seen
		if strings.HasPrefix(e.Name(), ".") {
			into = &hidden
		}
		*into = append(*into, Folder{Name: e.Name(), Path: full})
	}
	all := append(seen, hidden...)
	return FolderList{Path: path, Parent: filepath.Dir(path), Entries: orEmpty(all[:min(len(all), maxFolders)])}, nil
}

// History returns the channel's last prompts that have query in them, newest first, 200 at
// most. ASCII letters match in either case; an empty query has all.
func (c *Channels) History(id, query string, limit int) ([]string, error) {
	return listed(c.Timelines.PromptHistory(c.Ctx, core.ChannelID(id), query, min(max(limit, 1), maxHistory)))
}

// Find returns events of timelines that have all words of a query, newest first.
func (c *Channels) Find(q core.FindQuery) (core.FoundEvents, error) {
	return c.Timelines.Find(c.Ctx, q)
}

// CreateThread makes a channel in its parent's folder. Without a session of its
// own it forks the parent's with its first message.
func (c *Channels) CreateThread(req core.ThreadRequest) (core.ChannelView, error) {
	return c.Service.CreateThread(c.Ctx, req)
}

// Branches lists what a worktree of the channel can begin from, and what is not committed in its
// folder. Git runs in a container, so this takes a second or more.
func (c *Channels) Branches(id string) (core.BranchList, error) {
	return c.Service.Branches(c.Ctx, core.ChannelID(id))
}

// CreateWorktree makes a git worktree with a channel in it. Git runs in a
// container, so this takes a second or more.
func (c *Channels) CreateWorktree(req core.WorktreeRequest) (core.ChannelView, error) {
	return c.Service.CreateWorktree(c.Ctx, req)
}

// RemoveTree removes a channel with its threads and worktrees; with removeFiles
// the worktrees' folders too, unless one has changes that are not committed.
func (c *Channels) RemoveTree(id string, removeFiles bool) error {
	return c.Service.RemoveTree(c.Ctx, core.ChannelID(id), removeFiles)
}

// RemoveWorktree removes one worktree's channel and folder; force does so even
// with changes that are not committed.
func (c *Channels) RemoveWorktree(id string, force bool) error {
	return c.Service.RemoveWorktree(c.Ctx, core.ChannelID(id), force)
}

// Search finds channels by name, branch and folder, the best match first.
func (c *Channels) Search(query string) ([]core.ChannelView, error) {
	return listed(c.Service.Search(c.Ctx, query))
}

// Sessions returns the conversations that the agent keeps for a channel, newest first.
func (c *Channels) Sessions(id string) ([]core.SessionInfo, error) {
	return listed(c.Service.ListSessions(c.Ctx, core.ChannelID(id)))
}

// Messages returns the messages of a conversation (empty: the channel's own), oldest
// first. Each is a place where a fork may end.
func (c *Channels) Messages(id, sessionID string) ([]core.SessionMessage, error) {
	return listed(c.Service.Messages(c.Ctx, core.ChannelID(id), core.SessionID(sessionID)))
}

// SetSession says how the channel's next run begins.
func (c *Channels) SetSession(id string, start core.SessionStart) (core.ChannelView, error) {
	return c.Service.StartWith(c.Ctx, core.ChannelID(id), start)
}

// ForkAt makes a thread that begins with a copy of a conversation, up to a
// message when start names one.
func (c *Channels) ForkAt(id string, start core.SessionStart, name string) (core.ChannelView, error) {
	start.Mode = core.SessionFork
	return c.CreateThread(core.ThreadRequest{ParentID: core.ChannelID(id), Name: name, Session: start})
}
