package channels

import (
	"context"

	"loop/backend/core"
)

// Sessions reads the transcripts in a channel's state.
type Sessions interface {
	List(ctx context.Context, ch core.Channel) ([]core.SessionInfo, error)
	Messages(ctx context.Context, ch core.Channel, session core.SessionID) ([]core.SessionMessage, error) // core.ErrNotFound
	// Copy puts a session where the agent finds it under another directory and
	// in another channel's state. Directories are the host's.
	Copy(ctx context.Context, from, to core.Channel, fromDir, toDir string, session core.SessionID) error // core.ErrNotFound
}

// Worktrees makes git work trees. Git runs in a container: in a directory that
// an agent can write it would run the agent's code on the host.
type Worktrees interface {
	// Create makes dir, a path below main.Dir with slashes, for branch. An absent
	// branch is made from base (empty: what main has checked out). One that is
	// there already for the branch is kept; then made is false.
	Create(ctx context.Context, main core.Channel, dir, branch, base string) (made bool, err error)
	// Remove takes work trees away. Without force, one with changes that are not
	// committed is core.ErrConflict, and all of them stay. One that is gone already
	// is no error.
	Remove(ctx context.Context, main core.Channel, dirs []string, force bool) error
}
