package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"

	"loop/backend/core"
)

const (
	maxMessages = 1000    // newest of a transcript
	maxNodes    = 200_000 // lines of the chain that are remembered
)

type node struct {
	parent string
	msg    core.SessionMessage
}

// Messages returns what was said in a session, oldest first: the chain that the
// CLI would resume, without tool traffic and without branches left behind. Each
// is a place where a fork may end.
func (s *Service) Messages(ctx context.Context, ch core.Channel, session core.SessionID) ([]core.SessionMessage, error) {
	out := []core.SessionMessage{}
	if !validID(string(session)) {
		return out, errGone
	}
	root, err := s.root(ch)
	if err != nil {
		return out, gone(err)
	}
	defer root.Close()
	done, err := s.enter(ctx, s.owner(ch))
	if err != nil {
		return out, err
	}
	defer done()
	file, err := find(root, session)
	if err != nil {
		return out, gone(err)
	}
	f, _, err := openFile(root, file)
	if err != nil {
		return out, fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	return conversation(ctx, f)
}

// conversation follows the chain back from the last message.
func conversation(ctx context.Context, r io.Reader) ([]core.SessionMessage, error) {
	out := []core.SessionMessage{}
	chain := map[string]node{}
	leaf := ""
	err := walk(ctx, r, func(raw []byte) bool {
		l, ok := parse(raw)
		if !ok || l.UUID == "" || l.Sidechain {
			return true
		}
		n := node{parent: l.Parent}
		if role := l.role(); role != "" && !l.APIError {
			if text := l.Message.text(); text != "" && (role == "assistant" || typed(text)) {
				n.msg = core.SessionMessage{UUID: l.UUID, Role: role, Text: core.Shortened(shown(text), textLimit), At: l.At}
			}
		}
		chain[l.UUID] = n
		leaf = l.UUID
		return len(chain) < maxNodes
	})
	if err != nil {
		return out, err
	}
	for at := leaf; at != "" && len(out) < maxMessages; {
		n, ok := chain[at]
		if !ok {
			break
		}
		delete(chain, at) // a ring ends here
		if n.msg.UUID != "" {
			out = append(out, n.msg)
		}
		at = n.parent
	}
	slices.Reverse(out)
	return out, nil
}
