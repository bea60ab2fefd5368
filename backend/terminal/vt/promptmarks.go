package vt

import (
	"regexp"
	"strings"
)

// mark is a shell's announcement with the cursor in a line: A prompt, C output,
// D end. Lines keep their marks so that a snapshot can repeat them in the same
// places; the page makes its list of commands from them.
type mark struct {
	kind byte
	arg  string // of D the exit status, of C the command as OSC 633;E had it
}

const (
	marksPerLine = 6  // an empty prompt's beginning and end, and some more
	markCost     = 40 // bytes a mark costs besides its text
)

// mark takes a shell's mark: a letter, and what follows it.
func (t *Terminal) mark(data string) {
	kind, arg, _ := strings.Cut(data, ";")
	if len(kind) != 1 || len(arg) > maxMark {
		return
	}
	text := arg
	switch kind[0] {
	case 'A', 'B', 'C', 'D':
	case 'E':
		raw, _, _ := strings.Cut(arg, ";") // a nonce may follow
		t.command = raw
		text = unescape633(raw)
	default:
		return
	}
	t.keepMark(kind[0], arg)
	if t.o.Mark != nil {
		t.o.Mark(kind[0], text)
	}
}

var exitStatus = regexp.MustCompile(`^-?[0-9]{1,10}$`)

// keepMark notes a mark in the cursor's line. The alternate screen is no place
// of commands.
func (t *Terminal) keepMark(kind byte, arg string) {
	switch kind {
	case 'A':
		arg = ""
	case 'C':
		arg, t.command = t.command, ""
	case 'D':
		if arg, _, _ = strings.Cut(arg, ";"); !exitStatus.MatchString(arg) {
			arg = ""
		}
	default:
		return
	}
	if t.b != t.normal {
		return
	}
	l := t.b.row(t.b.y)
	if !l.takes(kind) || !t.markBytes.spend(len(arg)+markCost, t.countMarks) {
		return
	}
	l.marks = append(l.marks, mark{kind, arg})
}

func (t *Terminal) countMarks() int {
	n := 0
	t.eachLine(func(l *line) {
		for _, m := range l.marks {
			n += len(m.arg) + markCost
		}
	})
	return n
}

// takes says whether the line takes one more: a prompt that is drawn again is the
// same prompt.
func (l *line) takes(kind byte) bool {
	n := len(l.marks)
	return n == 0 || n < marksPerLine && l.marks[n-1].kind != kind
}

// takeMarks adds those of a line that is joined to this one.
func (l *line) takeMarks(from *line) {
	for _, m := range from.marks {
		if l.takes(m.kind) {
			l.marks = append(l.marks, m)
		}
	}
	from.marks = nil
}

// marks says a line's marks again; the cursor is in it.
func (s *snapshot) marks(l *line) {
	for _, m := range l.marks {
		if m.kind == 'C' {
			s.command(m.arg)
		}
		s.str("\x1b]133;")
		s.out = append(s.out, m.kind)
		if m.kind == 'D' && m.arg != "" {
			s.str(";")
			s.str(m.arg)
		}
		s.str("\x1b\\")
	}
}

func (s *snapshot) command(raw string) {
	if raw != "" {
		s.str("\x1b]633;E;")
		s.str(raw)
		s.str("\x1b\\")
	}
}
