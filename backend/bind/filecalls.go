package bind

import (
	"context"

	"loop/backend/core"
)

// Files is bound as window.go.bind.Files: the files of a channel, as its container has them.
// A path is the container's or this computer's; one that is not absolute, or empty, is below
// the folder in which the channel's agents work.
type Files struct {
	Ctx     context.Context `json:"-"`
	Service FileService     `json:"-"`
	Finder  FileFinder      `json:"-"`
	Slash   CommandLister   `json:"-"`
	Editor  EditorOpener    `json:"-"`
	// Pictures are those that go with prompts.
	Pictures AttachmentService `json:"-"`
}

// AttachmentService keeps pictures for prompts.
type AttachmentService interface {
	Add(ctx context.Context, ch core.ChannelID, name string, data []byte) (core.Attachment, error)
	AddFile(ctx context.Context, ch core.ChannelID, path string) (core.Attachment, error)
	Read(ch core.ChannelID, id string) ([]byte, error)
	Drop(ch core.ChannelID, id string) error
}

// EditorOpener opens files in the person's own editor.
type EditorOpener interface {
	Open(ctx context.Context, ch core.ChannelID, path string, line, column int) (core.EditorOpened, error)
}

// FileFinder finds files by a few letters.
type FileFinder interface {
	Find(ctx context.Context, ch core.ChannelID, query string, limit int, recent []string) (core.FileMatches, error)
}

// CommandLister lists what a prompt can begin with after a slash.
type CommandLister interface {
	Commands(ctx context.Context, ch core.ChannelID) (core.SlashCommands, error)
}

// FileService reads and changes files by their paths.
type FileService interface {
	Stat(ctx context.Context, ch core.ChannelID, path string) (core.FileStat, error)
	List(ctx context.Context, ch core.ChannelID, path string) (core.FileListing, error)
	Read(ctx context.Context, ch core.ChannelID, path string, most int64) (core.FileContent, error)
	Write(ctx context.Context, ch core.ChannelID, path string, data []byte, mark string) error
	Mkdir(ctx context.Context, ch core.ChannelID, path string) error
	Remove(ctx context.Context, ch core.ChannelID, path string, all bool) error
	Rename(ctx context.Context, ch core.ChannelID, from, to string) error
}

// Stat says what a path leads to.
func (f *Files) Stat(channelID, path string) (core.FileStat, error) {
	return f.Service.Stat(f.Ctx, core.ChannelID(channelID), path)
}

// List lists a folder, at most 5,000 files of it.
func (f *Files) List(channelID, path string) (core.FileListing, error) {
	return f.Service.List(f.Ctx, core.ChannelID(channelID), path)
}

// Find finds files and folders below the agents' folder by a few letters, best first. What
// git ignores is not among them. Those of recent that match come first, in their order. It
// ends the channel's search before it.
func (f *Files) Find(channelID, query string, limit int, recent []string) (core.FileMatches, error) {
	return f.Finder.Find(f.Ctx, core.ChannelID(channelID), query, limit, recent)
}

// Commands lists what a prompt of the channel can begin with after a slash: the agent CLI's
// own commands, the project's, and those of the channel's Claude folder.
func (f *Files) Commands(channelID string) (core.SlashCommands, error) {
	return f.Slash.Commands(f.Ctx, core.ChannelID(channelID))
}

// Read reads the first most bytes of an ordinary file, 8 MiB at most.
func (f *Files) Read(channelID, path string, most int64) (core.FileContent, error) {
	return f.Service.Read(f.Ctx, core.ChannelID(channelID), path, most)
}

// Edit opens an ordinary file that is on this computer in the person's editor. One that wants a
// terminal is left to the caller.
func (f *Files) Edit(channelID, path string, line, column int) (core.EditorOpened, error) {
	return f.Editor.Open(f.Ctx, core.ChannelID(channelID), path, line, column)
}

// Attach keeps a picture, which a prompt may name: PNG, JPEG, GIF or WebP, 3.75 MB and 8,000
// pixels a side at most.
func (f *Files) Attach(channelID, name string, data []byte) (core.Attachment, error) {
	return f.Pictures.Add(f.Ctx, core.ChannelID(channelID), name, data)
}

// AttachFile is Attach for a file of this computer.
func (f *Files) AttachFile(channelID, path string) (core.Attachment, error) {
	return f.Pictures.AddFile(f.Ctx, core.ChannelID(channelID), path)
}

// Attachment is the content of a picture that was attached.
func (f *Files) Attachment(channelID, id string) ([]byte, error) {
	return f.Pictures.Read(core.ChannelID(channelID), id)
}

// Detach says that a picture was taken out of a prompt that is being written. Each Attach is to
// be answered by at most one. Once none is left, the picture goes after a week.
func (f *Files) Detach(channelID, id string) error {
	return f.Pictures.Drop(core.ChannelID(channelID), id)
}

// Write makes data the content of a file whose content has the mark of Read; with an empty
// mark, of a new file.
func (f *Files) Write(channelID, path string, data []byte, mark string) error {
	return f.Service.Write(f.Ctx, core.ChannelID(channelID), path, data, mark)
}

// Mkdir makes one folder.
func (f *Files) Mkdir(channelID, path string) error {
	return f.Service.Mkdir(f.Ctx, core.ChannelID(channelID), path)
}

// Remove removes a file, a link, or a folder, which must be empty unless all.
func (f *Files) Remove(channelID, path string, all bool) error {
	return f.Service.Remove(f.Ctx, core.ChannelID(channelID), path, all)
}

// Rename gives a file or a folder another path on the same mount, where nothing is.
func (f *Files) Rename(channelID, from, to string) error {
	return f.Service.Rename(f.Ctx, core.ChannelID(channelID), from, to)
}
