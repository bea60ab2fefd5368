package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Bounds of the texts of a rule.
const (
	maxID      = 100
	maxMessage = 1000 // bytes; it is one line of what the program reads
)

// place is where in a document a policy stands.
type place int

const (
	wholePolicy place = iota // it is the document
	ofAgents                 // it is that of agents
	tightening               // it tightens another one
)

// policy reads a policy.
func (r *docReader) policy(p *Policy, in place) error {
	at := r.start()
	fields := map[string]func() error{
		"name":             func() error { return r.words("name", maxID, &p.Name) },
		"default_decision": func() error { return r.decision(&p.DefaultDecision) },
		"path_rules": func() error {
			return r.list("path_rules", func() error { return readRule(r, &p.PathRules, (*docReader).pathRule) })
		},
		"command_rules": func() error {
			return r.list("command_rules", func() error { return readRule(r, &p.CommandRules, (*docReader).commandRule) })
		},
		"file_rules": func() error {
			return r.list("file_rules", func() error { return readRule(r, &p.FileRules, (*docReader).fileRule) })
		},
		"site_rules": func() error {
			return r.list("site_rules", func() error { return readRule(r, &p.SiteRules, (*docReader).siteRule) })
		},
	}
	if in != tightening {
		fields["tighten"] = func() error {
			return r.list("tighten", func() error {
				var inner Policy
				err := r.policy(&inner, tightening)
				p.Tighten = append(p.Tighten, inner)
				return err
			})
		}
	}
	if in == wholePolicy {
		fields["agents"] = func() error { return r.agents(p) }
		fields["debuggers"] = func() error { return r.truth("debuggers", &p.Debuggers) }
	}
	if err := r.object("a policy", fields); err != nil {
		return err
	}
	if in != tightening && p.DefaultDecision == "" {
		return r.fail(at, "The policy has no default_decision.", `Write "default_decision": "allow", "approve" or "deny".`)
	}
	return nil
}

// agents reads the programs that go by a policy of their own, and the policy.
func (r *docReader) agents(p *Policy) error {
	at := r.start()
	p.Agents = &Agents{}
	err := r.object("agents", map[string]func() error{
		"files":  func() error { return r.texts("files", checkAgentFile, &p.Agents.Files) },
		"policy": func() error { return r.policy(&p.Agents.Policy, ofAgents) },
	})
	if err == nil && (len(p.Agents.Files) == 0 || p.Agents.Policy.DefaultDecision == "") {
		err = r.fail(at, "The agents have no files or no policy.", `Write "files": ["/path/of/the/program"] and "policy": {…}.`)
	}
	return err
}

// maxAgentFile is PATH_MAX without the NUL.
const maxAgentFile = 4095

func checkAgentFile(path string) (remedy string, err error) {
	if !strings.HasPrefix(path, "/") || len(path) > maxAgentFile || strings.ContainsRune(path, 0) {
		return "Write where the program is installed, from the root on.", errors.New("the file of an agent is not an absolute path")
	}
	return "", nil
}

// readRule reads one rule and the decision that it must have.
func readRule[R any](r *docReader, to *[]R, read func(*docReader, *R) (Decision, error)) error {
	at := r.start()
	var one R
	decision, err := read(r, &one)
	if err != nil {
		return err
	}
	if decision == "" {
		return r.fail(at, "The rule has no decision.", `Write "decision": "allow", "approve" or "deny".`)
	}
	*to = append(*to, one)
	return nil
}

func (r *docReader) pathRule(p *PathRule) (Decision, error) {
	at := r.start()
	err := r.object("a path rule", map[string]func() error{
		"id":       func() error { return r.words("id", maxID, &p.ID) },
		"pattern":  func() error { return r.checked("pattern", checkSocketPattern, &p.Pattern) },
		"decision": func() error { return r.decision(&p.Decision) },
		"message":  func() error { return r.words("message", maxMessage, &p.Message) },
		"advice":   func() error { return r.words("advice", maxMessage, &p.Advice) },
		"category": func() error { return r.category(&p.Category) },
		"off":      func() error { return r.truth("off", &p.Off) },
	})
	if err == nil && p.Pattern == "" {
		err = r.fail(at, "The rule has no pattern.", `Write "pattern": "/path/of/the/socket", or "@name" for an abstract one.`)
	}
	return p.Decision, err
}

func (r *docReader) commandRule(c *CommandRule) (Decision, error) {
	err := r.object("a command rule", map[string]func() error{
		"id":            func() error { return r.words("id", maxID, &c.ID) },
		"commands":      func() error { return r.texts("commands", checkCommand, &c.Commands) },
		"args_patterns": func() error { return r.texts("args_patterns", checkArguments, &c.ArgsPatterns) },
		"decision":      func() error { return r.decision(&c.Decision) },
		"message":       func() error { return r.words("message", maxMessage, &c.Message) },
		"advice":        func() error { return r.words("advice", maxMessage, &c.Advice) },
		"category":      func() error { return r.category(&c.Category) },
		"off":           func() error { return r.truth("off", &c.Off) },
	})
	return c.Decision, err
}

func (r *docReader) fileRule(f *FileRule) (Decision, error) {
	err := r.object("a file rule", map[string]func() error{
		"id":    func() error { return r.words("id", maxID, &f.ID) },
		"paths": func() error { return r.texts("paths", checkFilePattern, &f.Paths) },
		"operations": func() error {
			return r.list("operations", func() error {
				var op string
				err := r.checked("operation", checkOperation, &op)
				f.Operations = append(f.Operations, Operation(op))
				return err
			})
		},
		"decision": func() error { return r.decision(&f.Decision) },
		"message":  func() error { return r.words("message", maxMessage, &f.Message) },
		"advice":   func() error { return r.words("advice", maxMessage, &f.Advice) },
		"category": func() error { return r.category(&f.Category) },
		"off":      func() error { return r.truth("off", &f.Off) },
	})
	return f.Decision, err
}

func (r *docReader) siteRule(s *SiteRule) (Decision, error) {
	err := r.object("a site rule", map[string]func() error{
		"id":       func() error { return r.words("id", maxID, &s.ID) },
		"sites":    func() error { return r.texts("sites", checkSite, &s.Sites) },
		"decision": func() error { return r.decision(&s.Decision) },
		"message":  func() error { return r.words("message", maxMessage, &s.Message) },
		"advice":   func() error { return r.words("advice", maxMessage, &s.Advice) },
		"off":      func() error { return r.truth("off", &s.Off) },
	})
	return s.Decision, err
}

// checked reads a string that check takes.
func (r *docReader) checked(what string, check func(string) (remedy string, err error), to *string) error {
	s, at, err := r.text(what)
	if err != nil {
		return err
	}
	if remedy, err := check(s); err != nil {
		return r.fail(at, fmt.Sprintf("The %s %q is not valid: %s.", what, s, err.Error()), remedy)
	}
	*to = s
	return nil
}

func (r *docReader) texts(what string, check func(string) (string, error), to *[]string) error {
	return r.list(what, func() error {
		var s string
		err := r.checked(strings.TrimSuffix(what, "s"), check, &s)
		*to = append(*to, s)
		return err
	})
}

// words reads a text that a person sees on one line.
func (r *docReader) words(what string, most int, to *string) error {
	return r.checked(what, func(s string) (string, error) {
		switch {
		case len(s) > most:
			return "Shorten it.", fmt.Errorf("it has more than %d bytes", most)
		case strings.ContainsFunc(s, hidden):
			return "Remove it.", errors.New("it has a control character, or one that turns the direction of text")
		}
		return "", nil
	}, to)
}

// hidden are the characters that change what a person reads without being seen.
func hidden(c rune) bool {
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029'
}

func (r *docReader) decision(to *Decision) error {
	return r.checked("decision", func(s string) (string, error) {
		if d := Decision(s); d != Allow && d != Deny && d != Approve {
			return `Write "allow", "approve" or "deny".`, errors.New("nobody knows this decision")
		}
		return "", nil
	}, (*string)(to))
}

func (r *docReader) category(to *Category) error {
	known := []Category{Ordinary, Startup, Credential, Socket, Escape, GateOwn}
	return r.checked("category", func(s string) (string, error) {
		if !slices.Contains(known, Category(s)) {
			return `Write "startup", "credential", "socket", "escape" or "gate", or leave it out.`, errors.New("nobody knows this category")
		}
		return "", nil
	}, (*string)(to))
}

func checkOperation(s string) (string, error) {
	if _, ok := slotOf(Operation(s)); !ok {
		return "The operations are read, write, create, delete, stat, list, chmod, chown and link.", errors.New("nobody knows this operation")
	}
	return "", nil
}

func checkFilePattern(s string) (string, error) {
	_, err := parsePattern(s)
	if strings.HasPrefix(s, "~") {
		return "Write /home/* in place of “~”: it is any home.", err
	}
	return "Write an absolute glob, e.g. /work/**/*.key.", err
}

func checkSocketPattern(s string) (string, error) {
	_, _, err := parseSocket(s)
	return "Write an absolute glob, e.g. /run/*.sock, or “@name” for an abstract socket.", err
}

func checkSite(s string) (string, error) {
	_, err := parseSite(s)
	return "Write the host alone, as browsers do: example.com, *.example.com for what is below it, xn--… for other letters, " +
		"or * for all.", err
}

func checkCommand(s string) (string, error) {
	_, err := parseCommand(s)
	return "Write a glob for the base name, e.g. python3*.", err
}

func checkArguments(s string) (string, error) {
	_, err := regexp.Compile(s)
	return "Write a regular expression as RE2 takes it: no look-ahead and no back-references.", err
}
