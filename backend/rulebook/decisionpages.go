package rulebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/gate/auditlog"
	"loop/backend/wire"
)

const (
	usualPage = 200
	mostPage  = 1000
	// mostSearched bounds the entries that one page with a text looks at.
	mostSearched = 50000
	mostGroups   = 2000
)

// wantedOf are the lines that a query means, without its text.
func wantedOf(q core.GateLogPageQuery) auditlog.Wanted {
	w := auditlog.Wanted{Run: string(q.RunID), NoRun: q.NoRun, Tool: q.ToolUseID, NoTool: q.NoTool, Kind: q.Kind}
	switch q.Decision {
	case decisionAsked:
		w.Asked = true
	case decisionRefused:
		w.Refused = true
	default:
		w.Decision = q.Decision
	}
	return w
}

// In queries these stand for what a person was asked, and for all that was not allowed.
const (
	decisionAsked   = "asked"
	decisionRefused = "refused"
)

// Page is one part of a channel's record, newest first.
func (g Decisions) Page(q core.GateLogPageQuery) (core.GateLogPage, error) {
	page := core.GateLogPage{}
	if q.ChannelID == "" {
		return page, noChannel()
	}
	limit := min(cmp.Or(max(q.Limit, 0), usualPage), mostPage)
	day, line, err := parsePlace(q.After)
	if err != nil {
		return page, err
	}
	text, searched := strings.ToLower(q.Text), 0
	err = g.Log.Before(string(q.ChannelID), wantedOf(q), day, line, func(e auditlog.Entry) bool {
		if searched++; text != "" && searched > mostSearched {
			return false
		}
		if text == "" || mentions(e.Record, text) {
			if n := len(page.Entries); n > 0 && alike(page.Entries[n-1].Record, e.Record) {
				last := &page.Entries[n-1]
				last.Alike++
				last.Record.Calls += e.Calls
				last.First = e.At
			} else if n >= limit {
				return false
			} else {
				page.Entries = append(page.Entries, entryOf(e))
			}
		}
		page.Next = e.Day + "." + strconv.Itoa(e.Line)
		return true
	})
	if err != nil {
		return page, err
	}
	if len(page.Entries) < limit && (text == "" || searched <= mostSearched) {
		page.Next = ""
	}
	return page, nil
}

func noChannel() error {
	return core.Fail(core.CodeInvalid, nil, "The query names no channel.", "Name one.")
}

// parsePlace reads the place after which a page begins.
func parsePlace(text string) (day string, line int, err error) {
	if text == "" {
		return "", 0, nil
	}
	day, number, _ := strings.Cut(text, ".")
	line, lerr := strconv.Atoi(number)
	if _, derr := time.Parse(time.DateOnly, day); derr != nil || lerr != nil || line < 1 {
		return "", 0, core.Fail(core.CodeInvalid, errors.Join(derr, lerr), "That is no place in the record.", "Begin with the first page.")
	}
	return day, line, nil
}

func entryOf(e auditlog.Entry) core.GateLogEntry {
	return core.GateLogEntry{Record: recordOf(e.Record), Day: e.Day, Entry: e.Line, Alike: 1, First: e.At, Asked: e.Digest != ""}
}

func mentions(r auditlog.Record, lower string) bool {
	return slices.ContainsFunc([]string{r.Target, r.Rule, r.Exe, r.Command, r.By, r.Operation}, func(s string) bool {
		return strings.Contains(strings.ToLower(s), lower)
	})
}

// alike says that two decisions next to each other are one line for a person. Questions
// are not.
func alike(a core.GateRecord, b auditlog.Record) bool {
	return a.Digest == "" && b.Digest == "" && a.ToolUseID == b.Tool && string(a.RunID) == b.Run && a.Kind == b.Kind &&
		a.Operation == b.Operation && a.Target == b.Target && a.Rule == b.Rule && a.Decision == b.Decision && a.By == b.By
}

// Summary counts the entries of a channel, a run or a tool call.
func (g Decisions) Summary(q core.GateLogPageQuery) (core.GateLogSummary, error) {
	s := core.GateLogSummary{}
	if q.ChannelID == "" {
		return s, noChannel()
	}
	type key struct{ run, tool string }
	groups, took := map[key]*core.GateLogGroup{}, int64(0)
	w := auditlog.Wanted{Run: string(q.RunID), NoRun: q.NoRun, Tool: q.ToolUseID, NoTool: q.NoTool}
	err := g.Log.Lines(string(q.ChannelID), w, func(l auditlog.Line) {
		k := key{l.Run, l.Tool}
		at := groups[k]
		if at == nil {
			at = &core.GateLogGroup{RunID: core.RunID(l.Run), ToolUseID: l.Tool, First: l.At, Last: l.At}
			groups[k] = at
		}
		if l.At.Before(at.First) {
			at.First = l.At
		}
		if l.At.After(at.Last) {
			at.Last = l.At
		}
		s.Entries, at.Entries = s.Entries+1, at.Entries+1
		s.Calls, at.Calls = s.Calls+l.Calls, at.Calls+l.Calls
		if l.Asked {
			s.Asked, at.Asked = s.Asked+1, at.Asked+1
			took += l.TookMs
		}
		if l.State != string(core.ApprovalAllowed) && l.Kind != auditlog.KindLog {
			s.Denied, at.Denied = s.Denied+1, at.Denied+1
		}
		switch l.Kind {
		case wire.KindFile:
			s.Files++
		case wire.KindExec:
			s.Programs++
		case wire.KindConnect:
			s.Sockets++
		case string(core.ApprovalNavigate):
			s.Sites++
		case "counted":
			s.Counted++
		}
	})
	if err != nil {
		return s, err
	}
	if s.Asked > 0 {
		s.AnswerMs = took / int64(s.Asked)
	}
	for _, at := range groups {
		s.Groups = append(s.Groups, *at)
	}
	slices.SortFunc(s.Groups, func(a, b core.GateLogGroup) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.ToolUseID, b.ToolUseID), cmp.Compare(a.RunID, b.RunID))
	})
	if s.Older = len(s.Groups) > mostGroups; s.Older {
		s.Groups = s.Groups[:mostGroups]
	}
	return s, nil
}

// Why is all that is known of one entry.
func (g Decisions) Why(ctx context.Context, ch core.ChannelID, id string) (core.GateWhy, error) {
	found, many, err := g.Log.Find(string(ch), id)
	switch {
	case err != nil:
		return core.GateWhy{}, err
	case found.ID == "":
		return core.GateWhy{}, core.Fail(core.CodeNotFound, core.ErrNotFound,
			fmt.Sprintf("No decision has an id that begins with %q.", core.Shortened(id, 80)),
			"“loop gate log” lists what was decided in the last 30 days.")
	case many:
		return core.GateWhy{}, core.Fail(core.CodeInvalid, nil, "Several ids begin so.", "Write more of it.")
	}
	w := core.GateWhy{Entry: entryOf(found)}
	if w.Of, w.Broken, err = g.Log.Holds(found); err != nil {
		return w, err
	}
	w.Holds = w.Broken == ""
	w.Rule = g.Rules.RuleOf(ctx, core.ChannelID(found.Channel), found.Rule)
	return w, nil
}

// Chain looks whether a channel's whole record is as it was written.
func (g Decisions) Chain(ch core.ChannelID) (core.GateChain, error) {
	list, err := g.Log.VerifyChannel(string(ch))
	if err != nil {
		return core.GateChain{}, err
	}
	c := core.GateChain{At: time.Now(), Days: len(list)}
	for _, f := range list {
		c.Entries += f.Records
		if f.Err == nil {
			continue
		}
		at := core.ChainBreak{Day: f.Day, Text: f.Err.Error()}
		if b, ok := errors.AsType[*auditlog.BrokenError](f.Err); ok {
			at.Entry, at.Text = b.Line, b.Sentence()
		}
		c.Breaks = append(c.Breaks, at)
	}
	return c, nil
}
