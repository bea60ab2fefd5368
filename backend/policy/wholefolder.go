package policy

import "slices"

// Under is the strictest verdict that the rules could give for anything below dir,
// whatever there is: what the rename of a folder is judged by. A rule is left out only if an
// earlier one covers dir and everything below it.
func (e *Engine) Under(op Operation, dir string) Verdict { return e.under(op, dir, false) }

// Leads is Under for a symbolic link, which gives names to what it leads to. A rule that
// begins with “**” is left out, because it says the same of that wherever it is. So is a
// person's for names in any sub-folder: one about all keys of a project would be about
// every link in it.
func (e *Engine) Leads(op Operation, link string) Verdict { return e.under(op, link, true) }

// Twins reports whether the rules tell no name below one path from the same name below the
// other. A link between the two then gives nothing a name that is judged otherwise.
func (e *Engine) Twins(one, other string) bool {
	for i := range e.layers {
		var buffers, more [2][32]*node
		a, known := e.layers[i].files.walk(one, false, &buffers)
		b, also := e.layers[i].files.walk(other, false, &more)
		if !known || !also || !sameNodes(a, b) {
			return false
		}
	}
	return true
}

func sameNodes(a, b reached) bool {
	in := func(all reached) func(n *node) bool {
		return func(n *node) bool { return !slices.Contains(all, n) }
	}
	return !slices.ContainsFunc(a, in(b)) && !slices.ContainsFunc(b, in(a))
}

func (e *Engine) under(op Operation, dir string, link bool) Verdict {
	s, ok := slotOf(op)
	if !ok {
		return Verdict{Decision: Deny, Message: "The operation is not known."}
	}
	return e.strictest(func(l *layer) Verdict {
		var buffers [2][32]*node
		at, ok := l.files.walk(dir, false, &buffers)
		if !ok {
			return unresolved()
		}
		last := at.covers(s) // noRule: something below may fall to the default
		found, best := last, l.fileRule(last)
		for _, n := range at {
			if link && n == l.files.deep {
				continue
			}
			n.below(s, func(rule int32) {
				v := l.fileSays[rule]
				if rule >= last || link && n.loops && v.Category == Ordinary {
					return
				}
				stricter := v.Decision.strictness() - best.Decision.strictness()
				if stricter > 0 || stricter == 0 && rule < found {
					found, best = rule, v
				}
			})
		}
		return best
	})
}

// Spelled are the paths that patterns spell out, without wildcards: of files, and of folders
// below which a rule is.
func (e *Engine) Spelled() []string {
	var all []string
	for i := range e.layers {
		e.layers[i].files.spelled("", &all)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (n *node) spelled(at string, all *[]string) {
	if at != "" {
		*all = append(*all, at)
	}
	for name, to := range n.names {
		to.spelled(at+"/"+name, all)
	}
	for name, to := range n.folded {
		to.spelled(at+"/"+name, all)
	}
}
