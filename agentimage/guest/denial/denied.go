//go:build linux

package denial

import (
	"cmp"
	"strings"
	"unicode"

	"loop/backend/policy"
	"loop/backend/wire"
)

// Operations of denials that are not operations on files.
const (
	Run     = "run"
	Connect = "connect"
)

// What else Denial.By says besides the id of a rule and the words of wire.Answer.By.
const (
	ByDefault = "default" // no rule covers it
	ByLoop    = "loop"    // nobody could be asked
)

// Denial is one denied call.
type Denial struct {
	Number    int64  `json:"n"`  // counts a spawn's denials from 1
	At        int64  `json:"at"` // Unix milliseconds
	Call      string `json:"call"`
	Operation string `json:"operation"` // of package policy, or one of those above
	Target    string `json:"target"`    // the resolved path, or the command line
	By        string `json:"by"`
	Why       string `json:"why,omitempty"` // the rule's message, or the reason of who decided
	PID       int    `json:"pid"`
}

var acts = map[string]string{
	string(policy.Read): "reading", string(policy.Write): "the write to", string(policy.Create): "creating",
	string(policy.Delete): "deleting", string(policy.Chmod): "changing the attributes of",
	string(policy.Chown): "changing the owner of", string(policy.Link): "a second name for",
	Run: "running", Connect: "the connection to",
}

// What the agent can do about it. Whoever denied it meant the act, and not the way.
const (
	another = "Do not try again another way; tell the person what you wanted and why, or go on without it."
	askThem = "Do not try again another way; go on without it, or ask the person in your answer."
	later   = "Go on without it, and say in your answer what you wanted."
)

// Text says to an agent what was denied, why, and what it can do now. It is one line.
func (d Denial) Text() string {
	text := "Loop's gate denied " + cmp.Or(acts[d.Operation], "a call about")
	if target := line(d.Target, 300); target != "" {
		text += " " + target
	} else {
		text += " something"
	}
	why, then := d.reason()
	return text + ": " + sentence(why) + " " + then
}

func (d Denial) reason() (why, then string) {
	said := line(d.Why, 1000)
	switch d.By {
	case wire.ByPerson:
		if said != "" {
			return "the person said no: " + said, another
		}
		return "the person said no", another
	case wire.ByTime:
		return cmp.Or(said, "nobody answered in time"), askThem
	case wire.ByRun:
		return cmp.Or(said, "nobody can allow it in this run"), another
	case ByLoop, "":
		return cmp.Or(said, "nobody could be asked"), later
	case ByDefault:
		return "no rule allows it", another
	}
	return cmp.Or(said, "the rule "+line(d.By, 80)+" forbids it"), another
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

// line makes a text one line of at most so many bytes that acts on no terminal.
func line(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s[:min(len(s), 4*most)], "\ufffd"))
	s = strings.TrimSpace(s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
