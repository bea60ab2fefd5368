package policy

import (
	"slices"
	"strings"
)

// CoversFile tells whether r matches every operation that later matches. False may also
// say that this could not be shown.
func (r FileRule) CoversFile(later FileRule) bool {
	mine, yours := r.slots(), later.slots()
	for i := range yours {
		if yours[i] && !mine[i] {
			return false
		}
	}
	all, ok := patternsOf(r.Paths)
	theirs, ok2 := patternsOf(later.Paths)
	return ok && ok2 && coverAll(all, theirs)
}

// slots are the columns in which a rule stands, as the compiler fills them.
func (r FileRule) slots() (on [slots]bool) {
	ops := r.Operations
	if len(ops) == 0 {
		ops = operations[:]
	}
	for _, op := range ops {
		if s, ok := slotOf(op); ok {
			on[s] = true
			on[slotFolder] = on[slotFolder] || op == Create && r.Category != Startup
		}
	}
	return on
}

func patternsOf(paths []string) (all [][]segment, ok bool) {
	if len(paths) == 0 {
		paths = []string{"/**"}
	}
	for _, p := range paths {
		some, err := parsePattern(p)
		if err != nil {
			return nil, false
		}
		all = append(all, some...)
	}
	return all, true
}

// CoversSocket tells whether r matches every address that later matches, as far as this
// can be shown.
func (r PathRule) CoversSocket(later PathRule) bool {
	mine, abstract, err := parseSocket(r.Pattern)
	yours, abstract2, err2 := parseSocket(later.Pattern)
	return err == nil && err2 == nil && abstract == abstract2 && coverAll(mine, yours)
}

// CoversCommand tells whether r matches every program that later matches, as far as this
// can be shown.
func (r CommandRule) CoversCommand(later CommandRule) bool {
	if r.Decision == Allow && later.Decision != Allow {
		return false // one that allows must know all names of a program, the other only one
	}
	for _, re := range later.ArgsPatterns {
		if len(r.ArgsPatterns) > 0 && !slices.Contains(r.ArgsPatterns, re) {
			return false
		}
	}
	if len(later.ArgsPatterns) == 0 && len(r.ArgsPatterns) > 0 {
		return false
	}
	mine, ok := namesOf(r.Commands)
	yours, ok2 := namesOf(later.Commands)
	switch {
	case !ok || !ok2:
		return false
	case len(mine) == 0:
		return true
	case len(yours) == 0:
		return false
	}
	return !slices.ContainsFunc(yours, func(y segment) bool {
		return !slices.ContainsFunc(mine, func(m segment) bool { return m.coversSegment(y) })
	})
}

func namesOf(commands []string) (all []segment, ok bool) {
	for _, c := range commands {
		some, err := parseCommand(c)
		if err != nil {
			return nil, false
		}
		all = append(all, some...)
	}
	return all, true
}

// coverAll: each of the later patterns is within one of the earlier ones.
func coverAll(mine, yours [][]segment) bool {
	for _, y := range yours {
		if !slices.ContainsFunc(mine, func(m []segment) bool { return covers(m, y) }) {
			return false
		}
	}
	return true
}

// covers: every path that b matches is one that a matches.
func covers(a, b []segment) bool {
	switch {
	case len(a) == 0:
		return len(b) == 0
	case a[0].deep && covers(a[1:], b):
		return true
	case len(b) == 0:
		return false
	case a[0].deep:
		return covers(a, b[1:])
	case b[0].deep:
		return false // it stands for any number of names, and a for one
	}
	return a[0].coversSegment(b[0]) && covers(a[1:], b[1:])
}

// coversSegment: every name that b matches is one that s matches.
func (s segment) coversSegment(b segment) bool {
	switch {
	case s.deep || b.deep:
		return s.deep && b.deep
	case s.isAny():
		return true
	case b.fold && !s.fold:
		return false // b takes letters of either case
	case b.glob == nil:
		name := b.lit
		if s.fold {
			name = lowerASCII(name)
		}
		return s.covers(name)
	}
	return s.glob != nil && s.key == b.key
}

// Loosens is the first of the baseline's rules of what is never remembered that a rule
// which allows would precede and might match: what it guards would be allowed without a
// question. Empty: there is none. False alarms are possible where it says one.
func Loosens(baseline Policy, file *FileRule, socket *PathRule) (id, pattern string) {
	if file != nil && file.Decision == Allow {
		return loosensFile(baseline, *file)
	}
	if socket != nil && socket.Decision == Allow {
		return loosensSocket(baseline, *socket)
	}
	return "", ""
}

func loosensFile(baseline Policy, r FileRule) (id, pattern string) {
	mine, ok := patternsOf(r.Paths)
	on := r.slots()
	for _, b := range baseline.FileRules {
		// What the gate itself says comes before every other rule.
		if b.Category.Remembered() || b.Decision == Allow || b.Category == GateOwn || !shareSlot(on, b.slots()) {
			continue
		}
		for _, text := range b.Paths {
			theirs, err := parsePattern(text)
			if !ok || err != nil || meetAny(mine, theirs) {
				return b.ID, text
			}
		}
	}
	return "", ""
}

func shareSlot(a, b [slots]bool) bool {
	for i := range a {
		if a[i] && b[i] {
			return true
		}
	}
	return false
}

func loosensSocket(baseline Policy, r PathRule) (id, pattern string) {
	mine, abstract, err := parseSocket(r.Pattern)
	for _, b := range baseline.PathRules {
		if b.Category.Remembered() || b.Decision == Allow || b.Category == GateOwn {
			continue
		}
		theirs, abstract2, err2 := parseSocket(b.Pattern)
		if err != nil || err2 != nil || abstract == abstract2 && meetAny(mine, theirs) {
			return b.ID, b.Pattern
		}
	}
	return "", ""
}

func meetAny(a, b [][]segment) bool {
	return slices.ContainsFunc(a, func(x []segment) bool {
		return slices.ContainsFunc(b, func(y []segment) bool { return meet(x, y) })
	})
}

// meet: there may be a path that both match.
func meet(a, b []segment) bool {
	// reach[j]: the segments of a so far and the first j of b match some beginning.
	reach := make([]bool, len(b)+1)
	reach[0] = true
	for j, s := range b {
		reach[j+1] = reach[j] && s.deep
	}
	for _, s := range a {
		next := make([]bool, len(b)+1)
		next[0] = reach[0] && s.deep
		for j, t := range b {
			switch {
			case s.deep && t.deep:
				next[j+1] = reach[j] || reach[j+1] || next[j]
			case s.deep:
				next[j+1] = reach[j+1] || next[j] // it stands for t, or for nothing
			case t.deep:
				next[j+1] = reach[j+1] || next[j]
			default:
				next[j+1] = reach[j] && s.meets(t)
			}
		}
		reach = next
	}
	return reach[len(b)]
}

// meets: there may be a name that both match.
func (s segment) meets(b segment) bool {
	fold := s.fold || b.fold
	x, y := s.items(fold), b.items(fold)
	// reach[j]: the items of x so far and the first j of y match some beginning.
	reach := make([]bool, len(y)+1)
	reach[0] = true
	for j, t := range y {
		reach[j+1] = reach[j] && t.kind == '*'
	}
	for _, i := range x {
		next := make([]bool, len(y)+1)
		next[0] = reach[0] && i.kind == '*'
		for j, t := range y {
			star := i.kind == '*' || t.kind == '*'
			next[j+1] = star && (reach[j] || reach[j+1] || next[j]) || !star && reach[j] && i.meets(t)
		}
		reach = next
	}
	return reach[len(y)]
}

// items are the steps of a segment, with one character in each literal.
func (s segment) items(fold bool) (out []item) {
	steps := s.glob
	if steps == nil {
		steps = []item{{kind: 'l', lit: s.lit}}
	}
	for _, it := range steps {
		if it.kind != 'l' {
			out = append(out, it)
			continue
		}
		lit := it.lit
		if fold {
			lit = lowerASCII(lit)
		}
		for _, r := range lit {
			out = append(out, item{kind: 'l', lit: string(r)})
		}
	}
	return out
}

// meets: there may be a character that both stand for. Of two classes this is taken for
// granted, as it is where the case of letters may not count.
func (it item) meets(o item) bool {
	if it.kind == 'l' && o.kind == 'l' {
		return it.lit == o.lit
	}
	if o.kind == 'l' {
		it, o = o, it
	}
	if it.kind == 'l' && o.kind == '[' {
		return o.take(it.lit) > 0 || o.take(strings.ToUpper(it.lit)) > 0
	}
	return true
}
