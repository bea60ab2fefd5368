package bind

import (
	"context"

	"loop/backend/core"
)

// Review is bound as window.go.bind.Review: what changed in a channel's folder.
type Review struct {
	Ctx     context.Context `json:"-"`
	Service ReviewService   `json:"-"`
	Acts    ReviewActs      `json:"-"`
}

// ReviewService says what changed.
type ReviewService interface {
	Status(ctx context.Context, ch core.ChannelID, scope core.ReviewScope) (core.ReviewStatus, error)
	File(ctx context.Context, ch core.ChannelID, scope core.ReviewScope, path string) (core.ReviewDiff, error)
}

// ReviewActs changes the index, the files, and the branch.
type ReviewActs interface {
	Stage(ctx context.Context, ch core.ChannelID, path string, hunks []string, mark string) error
	Unstage(ctx context.Context, ch core.ChannelID, path string, hunks []string) error
	Reject(ctx context.Context, ch core.ChannelID, path string, hunks []string) (core.ReviewUndo, error)
	Undo(ctx context.Context, ch core.ChannelID, id string) error
	Commit(ctx context.Context, ch core.ChannelID, message string) (core.ReviewCommit, error)
	Branch(ctx context.Context, ch core.ChannelID, name string) error
	Proceed(ctx context.Context, ch core.ChannelID, abort bool) error
}

// Status lists what changed, 2,000 files at most.
func (r *Review) Status(channelID string, scope core.ReviewScope) (core.ReviewStatus, error) {
	return r.Service.Status(r.Ctx, core.ChannelID(channelID), scope)
}

// File is what changed in a file of the list, 2 MB and 20,000 lines at most.
func (r *Review) File(channelID string, scope core.ReviewScope, path string) (core.ReviewDiff, error) {
	return r.Service.File(r.Ctx, core.ChannelID(channelID), scope, path)
}

// Stage accepts hunks by their names; without any the whole file, if it still has the mark.
func (r *Review) Stage(channelID, path string, hunks []string, mark string) error {
	return r.Acts.Stage(r.Ctx, core.ChannelID(channelID), path, hunks, mark)
}

// Unstage takes that back; without hunks for the whole file.
func (r *Review) Unstage(channelID, path string, hunks []string) error {
	return r.Acts.Unstage(r.Ctx, core.ChannelID(channelID), path, hunks)
}

// Reject takes hunks out of the file.
func (r *Review) Reject(channelID, path string, hunks []string) (core.ReviewUndo, error) {
	return r.Acts.Reject(r.Ctx, core.ChannelID(channelID), path, hunks)
}

// Undo puts back what Reject took out, for thirty days.
func (r *Review) Undo(channelID, id string) error {
	return r.Acts.Undo(r.Ctx, core.ChannelID(channelID), id)
}

// Commit commits what is accepted.
func (r *Review) Commit(channelID, message string) (core.ReviewCommit, error) {
	return r.Acts.Commit(r.Ctx, core.ChannelID(channelID), message)
}

// Branch makes a branch and goes on in it.
func (r *Review) Branch(channelID, name string) error {
	return r.Acts.Branch(r.Ctx, core.ChannelID(channelID), name)
}

// Proceed goes on with a rebase or the like, or with abort gives it up.
func (r *Review) Proceed(channelID string, abort bool) error {
	return r.Acts.Proceed(r.Ctx, core.ChannelID(channelID), abort)
}
