//go:build docker

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"loop/backend/core"
)

// talksOf are the last words on each conversation of a terminal, in the order they began.
func talksOf(p timeline) (list []core.TerminalTalk) {
	at := map[core.RunID]int{}
	for _, e := range p.Events {
		var t core.TerminalTalk
		if e.Type != core.EventTalk || json.Unmarshal(e.Data, &t) != nil {
			continue
		}
		i, known := at[t.ID]
		if !known {
			i = len(list)
			at[t.ID], list = i, append(list, t)
		}
		list[i] = t
	}
	return list
}

// moves are what a program's screen is drawn with besides letters.
var moves = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]|\s`)

// TestTalkInATerminal: what a person says to the real CLI in a terminal is in the timeline of
// the channel, once, beside what runs have said in the same conversation. It counts as work and
// as cost, is found, and survives the end of Loop.
func TestTalkInATerminal(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	h := newHome(t, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k"}`, c.port))
	s := h.serve()
	ch := s.add(t.TempDir())
	c.steps["first"], c.steps["term"] = []step{bash("echo first")}, []step{bash("echo from-the-pane")}
	c.steps["second"], c.steps["third"] = []step{bash("echo second")}, []step{bash("echo third")}
	run := s.prompt(ch, "Do-first")
	s.finished(ch, run)

	pane := s.termClient(t)
	made := pane.create(fmt.Sprintf(`"channel_id":%q,"plain":true,"rows":40,"cols":120`, ch))
	var list []core.ChannelView
	s.must("Channels.List", &list)
	session := list[0].SessionID
	pane.typeIn(fmt.Sprintf("claude --resume %s --dangerously-skip-permissions\r", session))
	pane.shown("agents") // below the CLI's prompt
	say := func(words string) {
		t.Helper()
		pane.typeIn(words)
		pane.wait("what is typed", func() bool {
			return strings.Contains(moves.ReplaceAllString(string(pane.out), ""), strings.ReplaceAll(words, " ", ""))
		})
		pane.typeIn("\r")
	}
	talked := func(what string, ok func([]core.TerminalTalk) bool) ([]core.TerminalTalk, timeline) {
		t.Helper()
		p := s.until(ch, what, func(p timeline) bool { return ok(talksOf(p)) })
		return talksOf(p), p
	}
	working := func(want bool) func([]core.TerminalTalk) bool {
		return func(l []core.TerminalTalk) bool { return len(l) > 0 && l[len(l)-1].Working == want }
	}

	hold := make(chan struct{})
	c.mu.Lock()
	c.hold["Bash"], c.arrived["Bash"] = hold, make(chan struct{})
	c.mu.Unlock()
	say("Do-term please")
	talked("the turn", working(true))
	if s.must("Channels.List", &list); list[0].State != core.ChannelWorking || !list[0].Talking {
		t.Errorf("%+v", list[0])
	}
	close(hold)
	talks, page := talked("the end of the turn", working(false))
	first := talks[0]
	if len(talks) != 1 || first.Title != "Do-term please" || first.Prompts != 1 || first.TerminalID != made.SessionID || first.Demo || first.Broken {
		t.Errorf("%+v", talks)
	}
	var seen []core.EventType
	for _, e := range page.Events {
		if e.RunID == first.ID && e.Type != core.EventTalk {
			seen = append(seen, e.Type)
		}
	}
	if got := fmt.Sprint(seen); got != "[message.created tool.use tool.result message.created]" {
		t.Errorf("the talk has %s", got)
	}

	// A sub-agent is below its call, and the talk is at work until it has ended.
	c.mu.Lock()
	c.steps["lead"] = []step{{"Agent", map[string]any{"description": "look", "prompt": "Do-aside", "subagent_type": "general-purpose"}}}
	c.steps["aside"] = []step{bash("echo from-the-sub-agent")}
	hold = make(chan struct{})
	c.hold["Bash"], c.arrived["Bash"] = hold, make(chan struct{})
	c.mu.Unlock()
	say("Do-lead please")
	below := func(p timeline) (calls, ends int) {
		for _, e := range p.Events {
			var of struct {
				Parent string          `json:"parent_tool_use_id"`
				Agent  *core.AgentWork `json:"agent"`
			}
			if e.RunID != first.ID || json.Unmarshal(e.Data, &of) != nil || of.Parent == "" {
				continue
			}
			if e.Type == core.EventToolUse {
				calls++
			} else if of.Agent != nil && of.Agent.State == "completed" {
				ends++
			}
		}
		return calls, ends
	}
	page = s.until(ch, "the sub-agent's call", func(p timeline) bool { calls, _ := below(p); return calls == 1 })
	if talks = talksOf(page); len(talks) != 1 || !talks[0].Working {
		t.Errorf("while the sub-agent works: %+v", talks)
	}
	close(hold)
	talks, page = talked("the end of the sub-agent, and the count of all seven messages once", func(l []core.TerminalTalk) bool {
		return working(false)(l) && len(l[0].Models) == 1 && l[0].Models[0].Input == 70
	})
	if calls, ends := below(page); calls != 1 || ends != 1 || len(talks) != 1 || talks[0].Prompts != 2 {
		t.Errorf("%d calls, %d ends: %+v", calls, ends, talks)
	}
	var found core.FoundEvents
	if s.must("Channels.Find", &found, core.FindQuery{Words: "from-the-sub-agent", ChannelID: ch}); len(found.Found) == 0 {
		t.Error("what the sub-agent did is not found")
	}
	if s.must("Channels.Find", &found, core.FindQuery{Words: "from-the-pane", ChannelID: ch}); len(found.Found) == 0 {
		t.Error("it is not found")
	}

	// Its program says what it cost when it ends. A run goes on with the conversation, and what
	// is said then is a talk of its own.
	say("/exit")
	talks, _ = talked("the agent's count", func(l []core.TerminalTalk) bool { return l[0].CostUSD > 0 && !l[0].Estimated })
	if talks[0].CostUSD > 0.01 || len(talks[0].Models) != 1 || talks[0].Models[0].Input != 70 {
		t.Errorf("%+v", talks[0].Usage)
	}
	cost := talks[0].CostUSD
	var snap struct {
		CostToday core.DayCost `json:"cost_today"`
	}
	if s.must("System.Snapshot", &snap); snap.CostToday.CostUSD < talks[0].CostUSD {
		t.Errorf("today is said to have cost %v", snap.CostToday)
	}
	run = s.prompt(ch, "Do-second")
	s.finished(ch, run)
	if talks, _ = talked("nothing new", func([]core.TerminalTalk) bool { return true }); len(talks) != 1 {
		t.Errorf("the run is said to be a talk: %+v", talks)
	}

	// It is there after Loop has died, once.
	s.kill()
	s = h.serve()
	if talks, page = talked("the talk", func(l []core.TerminalTalk) bool { return len(l) > 0 }); len(talks) != 1 ||
		talks[0].CostUSD != cost || strings.Count(texts(page.Events), "Do-term please") > 1 {
		t.Errorf("%+v", talks)
	}
}
