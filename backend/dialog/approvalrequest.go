package dialog

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"loop/backend/core"
)

// requestOf is the question of an approval, with the name of its channel and the number
// of approvals that wait beside it.
func requestOf(a core.Approval, channel string, others int, now time.Time) Request {
	r := Request{Title: titleOf(a), Target: a.Target, Note: noteOf(a, others, now)}
	add := func(label, text string) {
		if text != "" {
			r.Facts = append(r.Facts, Fact{Label: label, Text: text})
		}
	}
	if a.AskedAs != a.Target {
		add("Asked as", a.AskedAs)
	}
	add("From", a.From)
	add("Channel", channel)
	if who := chain(a.Processes); who.Text != "" {
		r.Facts = append(r.Facts, who)
	}
	for _, d := range a.Details {
		add(d.Label, d.Text)
	}
	add("Why asked", sentence(a.Why))
	add("If allowed", sentence(a.Risk))
	if a.Calls > 1 {
		add("Calls", fmt.Sprintf("%d calls wait for this one answer.", a.Calls))
	}
	if a.Diff != "" {
		add("Change", strings.TrimSpace(changeOf(a.Diff)+" "+a.DiffNote))
	} else {
		add("Change", a.DiffNote)
	}
	// One answer to a flood, which is many questions, takes the groups of the window.
	r.ReviewOnly = a.Kind == core.ApprovalFlood
	return r
}

// titleOf is “git wants to write to a start-up file”, of “Write to a start-up file”.
func titleOf(a core.Approval) string {
	first, size := utf8.DecodeRuneInString(a.Title)
	what := string(unicode.ToLower(first)) + a.Title[size:]
	switch {
	case a.Kind == core.ApprovalNavigate:
		return "The browser wants to " + what
	case a.Kind == core.ApprovalFlood, a.Title == "", len(a.Processes) == 0:
		return a.Title
	}
	return core.Shortened(programOf(a.Processes[0]), 32) + " wants to " + what
}

// programOf is the name of a process's program, as far as it is known.
func programOf(p core.ApprovalProcess) string {
	exe := p.Exe
	if exe == "" {
		exe, _, _ = strings.Cut(p.Command, " ")
	}
	if exe == "" {
		return "A program"
	}
	return path.Base(exe)
}

// chain is “claude → bash → git config --global …”: who began it comes first, and the
// command is that of the process that asks. A shell whose command is shown without what
// is around it is named before it, and so is a program that has another name than its
// command: that is what the process says of itself.
func chain(processes []core.ApprovalProcess) Fact {
	who := Fact{Label: "Who"}
	if len(processes) == 0 {
		return who
	}
	var words []string
	for _, p := range slices.Backward(processes[1:]) {
		words = append(words, programOf(p))
	}
	switch p := processes[0]; {
	case p.Short != "" && p.Short != programOf(p):
		words = append(words, programOf(p), p.Short)
		who.Whole = p.Command
	case p.Short != "":
		words = append(words, p.Short)
		who.Whole = p.Command
	case p.Command != "" && p.Exe != "" && calledAs(p.Command) != programOf(p):
		words = append(words, programOf(p)+" (says it is "+p.Command+")")
	case p.Command != "":
		words = append(words, p.Command)
	default:
		words = append(words, programOf(p))
	}
	for i := range words { // no name adds a step
		words[i] = strings.ReplaceAll(words[i], "→", "->")
	}
	who.Text = strings.Join(words, " → ")
	return who
}

// calledAs is the name that a command gives its program. A login shell's begins with a dash.
func calledAs(command string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(command, "-"), " ")
	return path.Base(name)
}

// sentence begins and ends a clause as sentences do.
func sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if clause == "" || first == utf8.RuneError {
		return clause
	}
	clause = string(unicode.ToUpper(first)) + clause[size:]
	if !strings.HasSuffix(clause, ".") && !strings.HasSuffix(clause, "…") {
		clause += "."
	}
	return clause
}

func changeOf(diff string) string {
	added, removed, body := 0, 0, false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			body = true
		case body && line[0] == '+':
			added++
		case body && line[0] == '-':
			removed++
		}
	}
	return fmt.Sprintf("%s added, %s removed. Loop shows them.", lines(added), lines(removed))
}

func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// noteOf says when the approval is denied by itself, in the clock's time: nothing counts
// down in the dialog.
func noteOf(a core.Approval, others int, now time.Time) string {
	note := endOf(a, now) + " Enter and Esc deny."
	switch {
	case others == 1:
		note += " 1 more waits in Loop."
	case others > 1:
		note += fmt.Sprintf(" %d more wait in Loop.", others)
	}
	return note
}

// endOf says how long an approval waits.
func endOf(a core.Approval, now time.Time) string {
	if a.Deadline.IsZero() {
		return "It waits until you answer."
	}
	at := a.Deadline.In(now.Location())
	when := at.Format("15:04")
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		when = at.Format("15:04 on 2 January")
	}
	return "Denied at " + when + " if nobody answers."
}
