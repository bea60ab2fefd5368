package policy

import (
	"errors"
	"fmt"
	"strings"
)

// maxNodes bounds what the patterns of one policy may grow to.
const maxNodes = 1 << 17

// Engine judges calls by one whole policy. It never changes after Compile, and any
// goroutine may use it. Its calls read nothing outside the engine and do not block.
type Engine struct {
	name   string
	layers []layer // the policy, then what tightens it
	reads  bool
	execs  bool
	debugs bool
	files  []string // of agents
	agents *Engine  // what they go by, with these layers
}

// layer is one list of rules for each class, in which the first match decides.
type layer struct {
	files     *node
	sockets   *node
	abstract  *node
	fileSays  []Verdict
	paths     []Verdict
	commands  []commandRule
	sites     []siteRule
	otherwise Verdict
}

// Compile makes the engine of a policy. What Parse took compiles.
func Compile(p Policy) (*Engine, error) {
	c := compiler{}
	return c.whole(p)
}

type compiler struct{ nodes int }

// whole compiles a policy with that of its agents, which also decides whether reads
// matter: the filter is the same for all.
func (c *compiler) whole(p Policy) (*Engine, error) {
	e, err := c.policy(p)
	if err != nil {
		return nil, err
	}
	e.debugs = p.Debuggers
	if p.Agents == nil {
		return e, nil
	}
	inner, files := p.Agents.Policy, p.Agents.Files
	if inner.Agents != nil {
		return nil, errors.New("the policy of agents has agents itself")
	}
	p.Agents = nil
	if e.agents, err = c.policy(Stack(p, inner)); err != nil {
		return nil, fmt.Errorf("policy of agents: %w", err)
	}
	e.files = files
	e.reads = e.agents.reads
	return e, nil
}

// Agents are the programs that go by another engine, which is stricter, with all that
// they start; nil where there are none.
func (e *Engine) Agents() (files []string, stricter *Engine) { return e.files, e.agents }

func (c *compiler) policy(p Policy) (*Engine, error) {
	e := &Engine{name: p.Name}
	for i, one := range append([]Policy{p}, p.Tighten...) {
		if i > 0 && len(one.Tighten) > 0 {
			return nil, errors.New("what tightens a policy is not tightened itself")
		}
		if i > 0 && one.DefaultDecision == "" {
			one.DefaultDecision = Allow // it says nothing where it has no rule
		}
		one = one.inForce()
		l, err := c.layer(one)
		if err != nil {
			return nil, err
		}
		e.layers = append(e.layers, l)
		e.reads = e.reads || readsMatter(one)
		e.execs = e.execs || execMatters(one)
	}
	return e, nil
}

func (c *compiler) layer(p Policy) (layer, error) {
	l := layer{files: newNode(), sockets: newNode(), abstract: newNode()}
	if err := checkDecision(p.DefaultDecision); err != nil {
		return l, fmt.Errorf("default decision: %w", err)
	}
	l.otherwise = Verdict{Decision: p.DefaultDecision}
	if p.DefaultDecision != Allow {
		l.otherwise.Message = "No rule of the policy covers this, and what no rule covers is not allowed without asking."
	}
	for i, r := range p.FileRules {
		if err := c.file(&l, r, int32(i)); err != nil {
			return l, fmt.Errorf("file rule %d: %w", i+1, err)
		}
	}
	for i, r := range p.PathRules {
		if err := c.socket(&l, r, int32(i)); err != nil {
			return l, fmt.Errorf("path rule %d: %w", i+1, err)
		}
	}
	for i, r := range p.CommandRules {
		one, err := compileCommand(r)
		if err != nil {
			return l, fmt.Errorf("command rule %d: %w", i+1, err)
		}
		l.commands = append(l.commands, one)
	}
	for i, r := range p.SiteRules {
		one, err := compileSite(r)
		if err != nil {
			return l, fmt.Errorf("site rule %d: %w", i+1, err)
		}
		l.sites = append(l.sites, one)
	}
	return l, nil
}

func checkDecision(d Decision) error {
	if d != Allow && d != Deny && d != Approve {
		return fmt.Errorf("nobody knows the decision %q", d)
	}
	return nil
}

func (c *compiler) file(l *layer, r FileRule, rule int32) error {
	if err := checkDecision(r.Decision); err != nil {
		return err
	}
	ops := r.Operations
	if len(ops) == 0 {
		ops = operations[:]
	}
	var on []slot
	for _, op := range ops {
		s, ok := slotOf(op)
		if !ok {
			return fmt.Errorf("nobody knows the operation %q", op)
		}
		on = append(on, s)
		if op == Create && r.Category != Startup {
			on = append(on, slotFolder) // an empty folder starts nothing
		}
	}
	paths := r.Paths
	if len(paths) == 0 {
		paths = []string{"/**"}
	}
	for _, path := range paths {
		patterns, err := parsePattern(path)
		if err != nil {
			return fmt.Errorf("pattern %q: %w", path, err)
		}
		if err := c.add(l.files, patterns, on, rule); err != nil {
			return err
		}
	}
	l.fileSays = append(l.fileSays, Verdict{r.Decision, r.ID, r.Message, r.Advice, r.Category})
	return nil
}

func (c *compiler) socket(l *layer, r PathRule, rule int32) error {
	if err := checkDecision(r.Decision); err != nil {
		return err
	}
	patterns, abstract, err := parseSocket(r.Pattern)
	if err != nil {
		return fmt.Errorf("pattern %q: %w", r.Pattern, err)
	}
	tree := l.sockets
	if abstract {
		tree = l.abstract
	}
	if err := c.add(tree, patterns, []slot{slotRead}, rule); err != nil {
		return err
	}
	l.paths = append(l.paths, Verdict{r.Decision, r.ID, r.Message, r.Advice, r.Category})
	return nil
}

// parseSocket reads the pattern of a path rule.
func parseSocket(pattern string) (patterns [][]segment, abstract bool, err error) {
	if name, is := strings.CutPrefix(pattern, "@"); is {
		patterns, err = parseBelow(name, false)
		return patterns, true, err
	}
	patterns, err = parsePattern(pattern)
	return patterns, false, err
}

func (c *compiler) add(tree *node, patterns [][]segment, on []slot, rule int32) error {
	for _, p := range patterns {
		if c.nodes += tree.add(p, on, rule); c.nodes > maxNodes {
			return errors.New("the patterns of the policy are too many together")
		}
	}
	return nil
}

// unresolved is what is said of a path that the kernel cannot have resolved. It leaves
// out the path, which is hostile text.
func unresolved() Verdict {
	return Verdict{Decision: Deny, Message: "This is not a resolved absolute path, so no rule can be trusted to cover it."}
}

// File judges one operation on a path that is resolved and absolute; it may be any
// bytes. A path that is neither, and an operation that nobody knows, is denied.
func (e *Engine) File(op Operation, path string) Verdict {
	s, ok := slotOf(op)
	if !ok {
		return Verdict{Decision: Deny, Message: "The operation is not known."}
	}
	return e.file(s, path)
}

// Folder judges the making of an empty folder. It is Create, without the rules of the
// category startup: an empty folder starts nothing, and what is put into it is judged
// then.
func (e *Engine) Folder(path string) Verdict { return e.file(slotFolder, path) }

func (e *Engine) file(s slot, path string) Verdict {
	return e.strictest(func(l *layer) Verdict {
		var buffers [2][32]*node
		at, ok := l.files.walk(path, false, &buffers)
		if !ok {
			return unresolved()
		}
		return l.fileRule(at.decide(s))
	})
}

func (l *layer) fileRule(rule int32) Verdict {
	if rule == noRule {
		return l.otherwise
	}
	return l.fileSays[rule]
}

// strictest asks every layer.
func (e *Engine) strictest(judge func(*layer) Verdict) Verdict {
	v := judge(&e.layers[0])
	for i := 1; i < len(e.layers); i++ {
		v = Tighter(v, judge(&e.layers[i]))
	}
	return v
}

// Connect judges a connect to a Unix socket: its resolved absolute path, or “@” and
// the name of an abstract one, with any bytes.
func (e *Engine) Connect(target string) Verdict {
	return e.strictest(func(l *layer) Verdict {
		var buffers [2][32]*node
		tree := l.sockets
		name, abstract := strings.CutPrefix(target, "@")
		if abstract {
			tree = l.abstract
		}
		at, ok := tree.walk(name, abstract, &buffers)
		if !ok {
			return unresolved()
		}
		if rule := at.decide(slotRead); rule != noRule {
			return l.paths[rule]
		}
		return l.otherwise
	})
}

// Debuggers tells whether the programs of the spawn may debug each other. An agent that a
// person starts may not: it would reach programs that may do more.
func (e *Engine) Debuggers() bool { return e.debugs }

// ReadsMatter tells whether some rule could refuse a read or ask for one. Where it is
// false, the supervisor need not see opens that only read.
func (e *Engine) ReadsMatter() bool { return e.reads }

func readsMatter(p Policy) bool {
	for _, r := range p.FileRules {
		on := len(r.Operations) == 0
		for _, op := range r.Operations {
			on = on || op == Read
		}
		if !on {
			continue
		}
		if r.Decision != Allow {
			return true
		}
		everything := len(r.Paths) == 0
		for _, path := range r.Paths {
			everything = everything || path == "/**"
		}
		if everything {
			return false
		}
	}
	return p.DefaultDecision != Allow
}
