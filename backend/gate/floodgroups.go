package gate

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Bounds of what is told of a flood.
const (
	maxGroups     = 20
	maxGroupItems = 50  // of one group
	maxFloodItems = 200 // of all
	// tellEvery is how often a flood that goes on growing is told anew.
	tellEvery = 250 * time.Millisecond
	// levels are the parts of a folder that tell it from others; groups are at least
	// leastLevels deep, so that none is as wide as a home folder.
	levels      = 12
	leastLevels = 3
)

// group is a part of a flood: calls that do the same, below one folder.
type group struct {
	groupKey
	list []*question // oldest first
}

type groupKey struct {
	kind, verb, category, rule string
	folder                     string // of files; empty: the group has one object
	object                     string
}

// groupOf is the narrowest group of a call. What is allowed once or never has a group of
// its own, so that an answer is to nothing else.
func groupOf(q *question) groupKey {
	a := q.act
	k := groupKey{kind: a.Kind, verb: verbOf(a), category: a.Category, rule: a.Rule}
	folder := path.Dir(a.Target)
	switch {
	case never(a), a.Act == "", a.Operation == string(policy.Link):
		k.object = q.key
	case a.Kind == wire.KindExec:
		k.object = hashed(a.From, a.Identity)
	case a.Kind == wire.KindFile && path.Clean(a.Target) == a.Target && depth(folder) >= leastLevels:
		k.folder = cut(folder)
	default:
		k.object = objectOf(a)
	}
	return k
}

// verbOf takes making a file and writing into it for one.
func verbOf(a wire.Approval) string {
	if a.Operation == string(policy.Create) {
		return string(policy.Write)
	}
	return a.Operation
}

// depth counts the parts of a folder. Where homes and temporary files lie directly below
// the root, they are as deep as elsewhere.
func depth(folder string) int {
	n := strings.Count(strings.TrimSuffix(folder, "/"), "/")
	if strings.HasPrefix(folder, "/root/") || strings.HasPrefix(folder, "/tmp/") {
		n++
	}
	return n
}

func cut(folder string) string {
	if parts := strings.SplitN(folder, "/", levels+2); len(parts) > levels+1 {
		return strings.Join(parts[:levels+1], "/")
	}
	return folder
}

// groups are the parts of a flood, the largest first. Folders lie in the groups of those
// around them; where there are still too many groups, those of neighbours are one.
func (f *flood) groups() []*group {
	by := map[groupKey]*group{}
	put := func(k groupKey, list ...*question) {
		if by[k] == nil {
			by[k] = &group{groupKey: k}
		}
		by[k].list = append(by[k].list, list...)
	}
	for _, q := range f.parked {
		put(groupOf(q), q)
	}
	move := func(from, to groupKey) {
		list := by[from].list
		delete(by, from)
		put(to, list...)
	}
	nest := func() {
		for _, k := range slices.SortedFunc(maps.Keys(by), shallow) {
			for up := path.Dir(k.folder); k.folder != "" && depth(up) >= leastLevels; up = path.Dir(up) {
				to := k
				to.folder = up
				if by[to] != nil {
					move(k, to)
					break
				}
			}
		}
	}
	nest()
	for at := levels; len(by) > maxGroups && at > leastLevels; at-- {
		for k := range maps.Clone(by) {
			if k.folder != "" && depth(k.folder) == at {
				to := k
				to.folder = path.Dir(k.folder)
				move(k, to)
			}
		}
		nest()
	}
	out := slices.Collect(maps.Values(by))
	for _, g := range out {
		slices.SortFunc(g.list, func(a, b *question) int {
			return cmp.Or(a.asked.Compare(b.asked), cmp.Compare(a.act.Target, b.act.Target), cmp.Compare(a.key, b.key))
		})
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.calls(), a.calls()), cmp.Compare(a.list[0].act.Target, b.list[0].act.Target), cmp.Compare(a.id(), b.id()))
	})
	return out
}

func shallow(a, b groupKey) int {
	return cmp.Or(cmp.Compare(len(a.folder), len(b.folder)), cmp.Compare(a.folder, b.folder))
}

func (g *group) calls() (n int) {
	for _, q := range g.list {
		n += max(1, len(q.waiters))
	}
	return n
}

// pattern is what an answer for the run is about. A group of one object is that object.
func (g *group) pattern() (target, wide string) {
	first := g.list[0].act
	one := !slices.ContainsFunc(g.list, func(q *question) bool { return q.act.Target != first.Target })
	switch {
	case one:
		return first.Target, ""
	case g.kind == wire.KindExec:
		return first.From, " *"
	}
	return g.folder, "/**"
}

func (g *group) id() string {
	target, wide := g.pattern()
	return hashed(g.kind, g.verb, g.category, g.rule, g.folder, g.object, target, wide)
}

func (g *group) onceOnly() bool { return never(g.list[0].act) || g.list[0].act.Act == "" }

// covers says that an answer for the run, which was given to the pattern of this group,
// is one to a call as well.
func (p *grantedGroup) covers(a wire.Approval) bool {
	if never(a) || a.Act == "" || a.Kind != p.kind || verbOf(a) != p.verb || a.Category != p.category || a.Rule != p.rule {
		return false
	}
	switch {
	case a.Kind == wire.KindExec:
		return hashed(a.From, a.Identity) == p.object && (p.wide != "" || a.Target == p.target)
	case a.Kind == kindNavigate:
		return a.Identity == p.object
	case p.wide == "":
		return a.Target == p.target && a.Operation != string(policy.Link)
	}
	return path.Clean(a.Target) == a.Target && strings.HasPrefix(a.Target, p.target+"/") // links have groups of one object
}

// grantedGroup is the pattern of an answer for a run.
type grantedGroup struct {
	groupKey
	target, wide string
}

func (g *group) granted() *grantedGroup {
	target, wide := g.pattern()
	return &grantedGroup{groupKey: g.groupKey, target: target, wide: wide}
}

// view is the group as it is shown, with as many acts as there is room for.
func (g *group) view(room int) core.ApprovalGroup {
	target, wide := g.pattern()
	first, last := g.list[0], g.list[len(g.list)-1]
	v := core.ApprovalGroup{
		ID: g.id(), Kind: core.ApprovalKind(g.kind), Operation: g.verb, Target: core.Shortened(target, 500), Wide: wide, Calls: g.calls(),
		Category: g.category, Why: first.view.Why, First: first.view.CreatedAt, Last: last.view.CreatedAt, OnceOnly: g.onceOnly(),
		Items: []core.ApprovalGroupItem{},
	}
	for _, q := range g.list[:min(len(g.list), room)] {
		v.Items = append(v.Items, core.ApprovalGroupItem{
			Operation: q.act.Operation, Target: core.Shortened(q.act.Target, 300), At: q.view.CreatedAt, Calls: max(1, len(q.waiters)),
		})
	}
	return v
}

// describe says in a flood's question what waits behind it by now.
func (s *Service) describe(f *flood) {
	v := &f.card.view
	v.Groups, v.Calls = nil, 0
	room := maxFloodItems
	for i, g := range f.groups() {
		v.Calls += g.calls()
		if i >= maxGroups {
			continue
		}
		shown := g.view(max(1, min(room, maxGroupItems)))
		room -= len(shown.Items)
		v.Groups = append(v.Groups, shown)
	}
	pids, tools := map[int]bool{}, map[string]bool{}
	var oldest *question
	for _, q := range f.parked {
		if len(q.act.Processes) > 0 {
			pids[q.act.Processes[0].Pid] = true
		}
		tools[s.tools.ofQuestion(q)] = true
		if oldest == nil || q.asked.Before(oldest.asked) {
			oldest = q
		}
	}
	if oldest != nil && len(v.Processes) == 0 {
		v.Processes = oldest.view.Processes
	}
	v.OtherProcesses = max(0, len(pids)-1)
	if len(tools) == 1 && v.ToolUseID == "" {
		v.ToolUseID = slices.Collect(maps.Keys(tools))[0]
	}
}
