package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Command is a program that is about to be executed.
type Command struct {
	Path string   // the resolved file; empty if it is not known
	Argv []string // as the program gives it; any bytes
}

// maxArguments bounds the arguments that expressions are tried on. Of longer ones a
// rule that denies or asks is taken to match, and one that allows is not.
const maxArguments = 256 << 10

// commandRule is a CommandRule that was compiled.
type commandRule struct {
	names     []segment
	arguments []*regexp.Regexp
	says      Verdict
}

func compileCommand(r CommandRule) (commandRule, error) {
	c := commandRule{says: Verdict{r.Decision, r.ID, r.Message, r.Advice, r.Category}}
	if err := checkDecision(r.Decision); err != nil {
		return c, err
	}
	for _, text := range r.Commands {
		names, err := parseCommand(text)
		if err != nil {
			return c, fmt.Errorf("command %q: %w", text, err)
		}
		c.names = append(c.names, names...)
	}
	for _, text := range r.ArgsPatterns {
		re, err := regexp.Compile(text)
		if err != nil {
			return c, fmt.Errorf("expression for arguments: %w", err)
		}
		c.arguments = append(c.arguments, re)
	}
	return c, nil
}

// parseCommand reads the glob of a base name.
func parseCommand(text string) ([]segment, error) {
	switch {
	case text == "" || len(text) > maxPattern:
		return nil, fmt.Errorf("a name has 1 to %d bytes", maxPattern)
	case strings.ContainsAny(text, "/\x00"):
		return nil, errors.New("a name has no slash and no NUL")
	case !utf8.ValidString(text):
		return nil, errors.New("a name is UTF-8")
	}
	texts, err := alternatives(text)
	if err != nil {
		return nil, err
	}
	all := make([]segment, 0, len(texts))
	for _, t := range texts {
		s, err := parseName(t, false)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// invocation is a command as the rules see it.
type invocation struct {
	names     []string // of the file and of argv[0]
	arguments string
	tooLong   bool
}

func invocationOf(c Command) invocation {
	in := invocation{}
	if c.Path != "" {
		in.names = append(in.names, baseName(c.Path))
	}
	if len(c.Argv) == 0 {
		return in
	}
	// A login shell's argv[0] begins with a dash.
	in.names = append(in.names, strings.TrimPrefix(baseName(c.Argv[0]), "-"))
	size := 0
	for _, a := range c.Argv[1:] {
		size += len(a) + 1
	}
	if in.tooLong = size > maxArguments; !in.tooLong {
		in.arguments = strings.Join(c.Argv[1:], " ")
	}
	return in
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func (c *commandRule) match(in invocation) bool {
	named := c.named(in)
	if !named || len(c.arguments) == 0 {
		return named
	}
	if in.tooLong {
		return c.says.Decision != Allow
	}
	for _, re := range c.arguments {
		if re.MatchString(in.arguments) {
			return true
		}
	}
	return false
}

// named says that the rule is about a program of these names. One that allows is so only
// where it knows all of them: what a program is called is for its caller to choose.
func (c *commandRule) named(in invocation) bool {
	if len(c.names) == 0 {
		return true
	}
	known := func(name string) bool {
		return slices.ContainsFunc(c.names, func(s segment) bool { return s.covers(name) })
	}
	if c.says.Decision == Allow {
		return len(in.names) > 0 && !slices.ContainsFunc(in.names, func(name string) bool { return !known(name) })
	}
	return slices.ContainsFunc(in.names, known)
}

func (s *segment) covers(name string) bool {
	if s.glob == nil {
		return s.lit == name
	}
	return matches(s.glob, name)
}

// Exec judges a program that is about to be executed, by the names of its file and of
// its argv[0], and by its arguments. Either name is enough for a rule that denies or
// asks; one that allows must know both. What it runs through
// wrappers such as env, timeout or sh -c is judged as well, as far as it can be read;
// the strictest answer holds. All of that is advice: a program reaches another one by
// a copy, a link, an interpreter or a file that it writes, which no name tells. What
// must hold is said in rules for files and sockets.
func (e *Engine) Exec(c Command) Verdict {
	chain := unwrap(c)
	return e.strictest(func(l *layer) Verdict {
		// A wrapper that no rule names is as good as what it runs.
		last, _ := l.command(invocationOf(chain[len(chain)-1]))
		for _, wrapper := range chain[:len(chain)-1] {
			if v, ruled := l.command(invocationOf(wrapper)); ruled {
				last = Tighter(last, v)
			}
		}
		return last
	})
}

func (l *layer) command(in invocation) (v Verdict, ruled bool) {
	for i := range l.commands {
		if l.commands[i].match(in) {
			return l.commands[i].says, true
		}
	}
	return l.otherwise, false
}

// ExecMatters tells whether some rule could refuse a program or ask about one. Where it
// is false, the supervisor need not look at what is executed.
func (e *Engine) ExecMatters() bool { return e.execs }

func execMatters(p Policy) bool {
	for _, r := range p.CommandRules {
		if r.Decision != Allow {
			return true
		}
		if len(r.Commands) == 0 && len(r.ArgsPatterns) == 0 {
			return false // no rule after it is reached
		}
	}
	return p.DefaultDecision != Allow
}
