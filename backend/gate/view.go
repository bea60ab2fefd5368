package gate

import (
	"encoding/json"
	"strconv"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// newQuestion makes a question of a call; nobody sees it yet.
func (s *Service) newQuestion(who *asker, a wire.Approval, key string) *question {
	v := core.Approval{
		ID: core.NewID(), ChannelID: who.ChannelID, RunID: who.RunID, SpawnID: who.spawn,
		Kind: core.ApprovalKind(a.Kind), State: core.ApprovalWaiting,
		Operation: a.Operation, Target: a.Target, From: a.From, Call: a.Call, Append: a.Append, InPlace: a.InPlace,
		Title: title(a), Why: why(a), Risk: risk(a), Rule: a.Rule, Category: a.Category,
		Site: siteOf(a), AskedAs: askedAs(a), Processes: processesOf(who, a.Processes), Details: details(a),
	}
	v.Diff, v.DiffNote = change(a)
	v.Offers = s.offers(who, a)
	return &question{view: v, act: a, asker: who, key: key, waiters: map[*waiter]struct{}{}, asked: time.Now()}
}

// digest names what is shown, and what it stands for: the whole contents, the object
// and the version of the policy. What changes while a question waits does not count.
func digest(q *question) string {
	v := q.view
	v.Digest, v.ToolUseID, v.Calls, v.Groups, v.Offers = "", "", 0, nil, nil
	v.CreatedAt, v.Deadline = time.Time{}, time.Time{}
	if v.Kind == core.ApprovalFlood {
		v.Processes, v.OtherProcesses = nil, 0
	}
	raw, err := json.Marshal(v)
	if err != nil { // strings and numbers alone
		return core.NewID() // a digest that no second question has
	}
	parts := []string{string(raw), strconv.FormatInt(q.act.Policy, 10), q.act.Identity, q.act.Act}
	for _, c := range []*wire.Content{q.act.Before, q.act.After} {
		if c != nil {
			parts = append(parts, c.SHA256, strconv.FormatInt(c.Size, 10), string(c.Text))
		}
	}
	for _, o := range q.view.Offers {
		parts = append(parts, string(o.Scope), o.Rule)
	}
	return hashed(parts...)
}
