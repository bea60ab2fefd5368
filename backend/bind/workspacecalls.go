package bind

import (
	"context"

	"loop/backend/core"
)

// Workspaces is bound as window.go.bind.Workspaces: the copies in which agents work.
type Workspaces struct {
	Ctx     context.Context  `json:"-"`
	Service WorkspaceService `json:"-"`
	Kept    WorkspaceTrash   `json:"-"`
}

// WorkspaceService compares copies with their originals, and brings files over.
type WorkspaceService interface {
	Compare(ctx context.Context, ch core.ChannelID) (core.CopyComparison, error)
	Texts(ctx context.Context, ch core.ChannelID, path string) (original, copied string, err error)
	Promote(ctx context.Context, ch core.ChannelID, marks map[string]string) (core.TrashedCopy, error)
	Pull(ctx context.Context, ch core.ChannelID, marks map[string]string) (core.TrashedCopy, error)
	Anew(ctx context.Context, ch core.ChannelID) (core.TrashedCopy, error)
}

// WorkspaceTrash is what was taken away, and can come back.
type WorkspaceTrash interface {
	Left(ctx context.Context) ([]core.LeftCopy, error)
	Discard(ctx context.Context, copyDir string) (core.TrashedCopy, error)
	Trash(ctx context.Context) ([]core.TrashedCopy, error)
	Restore(ctx context.Context, id string) (core.TrashedCopy, error)
}

// CopyTexts are a file in both folders; one that is not there is empty.
type CopyTexts struct {
	Original string `json:"original"`
	Copy     string `json:"copy"`
}

// Compare says what is not the same in a channel's copy and its original.
func (w *Workspaces) Compare(channelID string) (core.CopyComparison, error) {
	return w.Service.Compare(w.Ctx, core.ChannelID(channelID))
}

// Texts are one of the files that differ.
func (w *Workspaces) Texts(channelID, path string) (t CopyTexts, err error) {
	t.Original, t.Copy, err = w.Service.Texts(w.Ctx, core.ChannelID(channelID), path)
	return t, err
}

// Promote makes files of the original what they are in the copy; marks are Compare's, by path.
func (w *Workspaces) Promote(channelID string, marks map[string]string) (core.TrashedCopy, error) {
	return w.Service.Promote(w.Ctx, core.ChannelID(channelID), marks)
}

// Pull makes files of the copy what they are in the original.
func (w *Workspaces) Pull(channelID string, marks map[string]string) (core.TrashedCopy, error) {
	return w.Service.Pull(w.Ctx, core.ChannelID(channelID), marks)
}

// Anew moves the copy to the trash; the next container gets a new one.
func (w *Workspaces) Anew(channelID string) (core.TrashedCopy, error) {
	return w.Service.Anew(w.Ctx, core.ChannelID(channelID))
}

// Left lists the copies that there are, the largest first.
func (w *Workspaces) Left() ([]core.LeftCopy, error) { return listed(w.Kept.Left(w.Ctx)) }

// Discard moves a copy to the trash, by its folder or its channel's id.
func (w *Workspaces) Discard(copyDir string) (core.TrashedCopy, error) {
	return w.Kept.Discard(w.Ctx, copyDir)
}

// Trash lists what can come back, for thirty days, the newest first.
func (w *Workspaces) Trash() ([]core.TrashedCopy, error) { return listed(w.Kept.Trash(w.Ctx)) }

// Restore brings something of the trash back.
func (w *Workspaces) Restore(id string) (core.TrashedCopy, error) {
	return w.Kept.Restore(w.Ctx, id)
}
