package worktree

import "strings"

// Tree is one work tree as git lists it. Its fields are text from a container.
type Tree struct {
	Dir      string `json:"dir"` // as the agent sees it
	Branch   string `json:"branch,omitempty"`
	Head     string `json:"head,omitempty"`
	Locked   bool   `json:"locked,omitempty"`
	Prunable bool   `json:"prunable,omitempty"` // its folder is gone
}

const maxTrees = 500

// parseList reads “git worktree list --porcelain -z”: attributes end in NUL, a
// tree in an empty one. What it does not know is passed over.
func parseList(text string) []Tree {
	out := []Tree{}
	var t Tree
	for attr := range strings.SplitSeq(text, "\x00") {
		attr = strings.ToValidUTF8(attr, "\ufffd")
		key, value, _ := strings.Cut(attr, " ")
		switch key {
		case "":
			if t.Dir != "" {
				out = append(out, t)
			}
			if t = (Tree{}); len(out) == maxTrees {
				return out
			}
		case "worktree":
			t.Dir = value
		case "HEAD":
			t.Head = value
		case "branch":
			t.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "locked":
			t.Locked = true
		case "prunable":
			t.Prunable = true
		}
	}
	if t.Dir != "" {
		out = append(out, t)
	}
	return out
}
