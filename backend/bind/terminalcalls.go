package bind

import (
	"context"

	"loop/backend/core"
	"loop/backend/sharedfolder"
)

// TerminalService keeps terminal sessions; their output goes over the socket of
// package api.
type TerminalService interface {
	Create(ctx context.Context, spec core.TerminalSpec) (core.TerminalInfo, error)
	List(ch core.ChannelID) []core.TerminalInfo
	CloseSession(ctx context.Context, id core.TerminalID) error
	Rename(ctx context.Context, id core.TerminalID, title string) (core.TerminalInfo, error)
	Record(ctx context.Context, id core.TerminalID, on bool) (core.TerminalInfo, error)
}

// RecordingStore keeps recordings of sessions.
type RecordingStore interface {
	Recordings(ctx context.Context) ([]core.Recording, error)
	DeleteRecording(ctx context.Context, name string) error
}

// SharedFolders says what a channel's container sees of this computer.
type SharedFolders interface {
	Mounts(ctx context.Context, id core.ChannelID) ([]core.Mount, error)
	// PasteFolder is where the channel's pasted files go.
	PasteFolder(ctx context.Context, id core.ChannelID) (sharedfolder.Folder, error)
}

// FileReader reads files as a channel's container has them.
type FileReader interface {
	Read(ctx context.Context, ch core.ChannelID, path string, most int64) (core.FileContent, error)
}

// Terminals is bound as window.go.bind.Terminals.
type Terminals struct {
	Ctx     context.Context `json:"-"`
	Service TerminalService `json:"-"`
	Tapes   RecordingStore  `json:"-"`
	Shared  SharedFolders   `json:"-"`
	Files   FileReader      `json:"-"`
	OS      string          `json:"-"` // whose paths this computer has, as in GOOS
	At      func() Endpoint `json:"-"`
}

// Endpoint is where the terminal sockets and recordings are.
type Endpoint struct {
	Base  string `json:"base"`
	Token string `json:"token"`
}

// Endpoint is for the window, whose page is not served by the listener. A page
// in a browser has both already.
func (t *Terminals) Endpoint() Endpoint { return t.At() }

// List returns a channel's sessions, oldest first; all of them without one.
func (t *Terminals) List(channelID string) []core.TerminalInfo {
	return orEmpty(t.Service.List(core.ChannelID(channelID)))
}

// Create starts a session that nobody is attached to yet.
func (t *Terminals) Create(spec core.TerminalSpec) (core.TerminalInfo, error) {
	return t.Service.Create(t.Ctx, spec)
}

// Close ends a session with everything that runs in it.
func (t *Terminals) Close(id string) error {
	return t.Service.CloseSession(t.Ctx, core.TerminalID(id))
}

// Rename gives a session a title; with an empty one it follows its program's.
func (t *Terminals) Rename(id, title string) (core.TerminalInfo, error) {
	return t.Service.Rename(t.Ctx, core.TerminalID(id), title)
}

// Record begins or ends the recording of a session.
func (t *Terminals) Record(id string, on bool) (core.TerminalInfo, error) {
	return t.Service.Record(t.Ctx, core.TerminalID(id), on)
}

// Recordings lists the recordings, newest first.
func (t *Terminals) Recordings() ([]core.Recording, error) {
	return listed(t.Tapes.Recordings(t.Ctx))
}

// DeleteRecording removes a recording.
func (t *Terminals) DeleteRecording(name string) error {
	return t.Tapes.DeleteRecording(t.Ctx, name)
}
