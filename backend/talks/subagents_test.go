package talks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// nest are the sub-agents of a session.
type nest struct {
	notes, text map[string]string
	fail        error
}

func (n *nest) SubAgents() (ids []string, err error) {
	for id := range n.notes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, n.fail
}

func (n *nest) AgentNote(id string) ([]byte, error) { return []byte(n.notes[id]), n.fail }

func (n *nest) SubAgent(id string, offset int64) (io.ReadCloser, int64, error) {
	text, ok := n.text[id]
	if n.fail != nil || !ok {
		return nil, 0, errors.Join(n.fail, core.ErrNotFound)
	}
	size := int64(len(text))
	return io.NopCloser(strings.NewReader(text[min(offset, size):])), size, nil
}

// hatch writes the note of a sub-agent that a call has begun, and lines of it.
func (d *desk) hatch(id, call string, lines ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.nest == nil {
		d.nest = &nest{notes: map[string]string{}, text: map[string]string{}}
	}
	d.nest.notes[id] = fmt.Sprintf(`{"agentType":"Explore","description":"look","toolUseId":%q}`, call)
	for _, l := range lines {
		d.nest.text[id] += l + "\n"
	}
}

func call(id, tool string) string {
	return fmt.Sprintf(`{"type":"assistant","entrypoint":"cli","timestamp":%q,"message":{"id":"of %s","model":"claude-x","stop_reason":"tool_use",`+
		`"content":[{"type":"tool_use","id":%q,"name":%q,"input":{"description":"look","prompt":"Look"}}],"usage":{"input_tokens":100}}}`, stamp(), id, id, tool)
}

func answer(id, text string) string {
	return fmt.Sprintf(`{"type":"user","entrypoint":"cli","timestamp":%q,"message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}}`, stamp(), id, text)
}

const launched = "Async agent launched successfully. (This is internal)\nagentId: x"

func notified(agent, state string) string {
	return fmt.Sprintf(`{"type":"user","entrypoint":"cli","promptSource":"system","timestamp":%q,"message":{"content":%q}}`, stamp(),
		"<task-notification>\n<task-id>"+agent+"</task-id>\n<tool-use-id>t</tool-use-id>\n<status>"+state+"</status>\n</task-notification>")
}

// side makes of a line one of a sub-agent's.
func side(line string) string {
	return strings.Replace(line, `{"type"`, `{"isSidechain":true,"agentId":"x","type"`, 1)
}

// rows are the events of the first talk: what they are, and the call that they are below.
func (d *desk) rows() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, e := range d.events {
		var of struct {
			ID, Parent, Name, Activity, Content, Description string
			Agent                                            *core.AgentWork
		}
		var raw map[string]json.RawMessage
		if e.RunID != d.talks[0].ID || e.Type == core.EventTalk || json.Unmarshal(e.Data, &raw) != nil {
			continue
		}
		for key, to := range map[string]any{"tool_use_id": &of.ID, "parent_tool_use_id": &of.Parent, "tool_name": &of.Name, "activity": &of.Activity,
			"content": &of.Content, "description": &of.Description, "agent": &of.Agent} {
			if v, ok := raw[key]; ok {
				if err := json.Unmarshal(v, to); err != nil {
					d.Error(err)
				}
			}
		}
		row := of.ID + of.Activity + of.Content
		if e.Type == core.EventToolResult {
			row = "answer " + row
		}
		if of.Description != "" {
			row += ":" + of.Description
		}
		if of.Agent != nil {
			row += " " + of.Agent.State
		}
		if of.Parent != "" {
			row = of.Parent + "/" + row
		}
		out = append(out, row)
	}
	return strings.Join(out, ", ")
}

// TestSubAgentsInTheBackground: in a terminal a sub-agent's call is answered at once, and the talk
// is at work as long as it is. Its tokens count once.
func TestSubAgentsInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer func() { stop() }()
		d.write("s", prompt("Go"), call("a", "Agent"), answer("a", launched), reply("m1", "end_turn", "it works"))
		d.hatch("one", "a", side(prompt("Look")), side(call("b", "Bash")))
		d.hatch("other", "of a run", side(prompt("Look")), side(reply("r1", "end_turn", "not shown")))
		s.Asks(from, "s")()
		d.wants("at work", "Go 1 Go it works working")
		if got := d.rows(); got != "Go, a, answer a, a/task_started running, a/b, it works" {
			t.Errorf("rows %q", got)
		}
		pass(time.Minute)
		d.wants("a minute later", "Go 1 Go it works working")

		// Loop is away while it goes on: nothing is told, or counted, twice.
		stop()
		d.hatch("one", "a", side(answer("b", "fine")), side(reply("m2", "end_turn", "found")))
		s, stop = d.run()
		pass(time.Minute)
		d.wants("at its end", "Go 1 Go it works")
		const all = "Go, a, answer a, a/task_started running, a/b, it works, a/answer b, a/task_message:found, a/task_notification completed"
		if got := d.rows(); got != all {
			t.Errorf("rows %q", got)
		}
		if c := d.talks[0].Cost; c.CostUSD < 0.3999 || c.CostUSD > 0.4001 {
			t.Errorf("it cost %v", c.CostUSD)
		}

		// The agent is told, and answers. Its program's count covers all.
		d.write("s", notified("one", "completed"), reply("m3", "end_turn", "thanks"))
		s.Asks(from, "s")()
		pass(time.Minute)
		d.write("s", counted(0.6))
		d.mu.Lock()
		d.terminals[0].Shell = core.ShellPrompt
		d.mu.Unlock()
		s.Asks(from, "s")()
		pass(time.Minute)
		d.wants("when it was counted", "Go 1 Go it works thanks")
		if c := d.talks[0].Cost; c.CostUSD != 0.6 || c.Estimated {
			t.Errorf("it cost %+v", c)
		}
		stop()
		_, stop = d.run()
		d.write("s", prompt("More"), reply("m4", "end_turn", "yes"))
		s, stop = func() (*Service, func()) { stop(); return d.run() }()
		s.Asks(from, "s")()
		pass(time.Minute)
		if c := d.talks[0].Cost; c.CostUSD < 0.6999 || c.CostUSD > 0.7001 {
			t.Errorf("with another answer it cost %v", c.CostUSD)
		}
	})
}

// TestSubAgentsThatAreWaitedFor: their rows come before their report, also where all is read at
// once, and those of sub-agents of theirs below their calls.
func TestSubAgentsThatAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("Go"), call("a", "Task"), answer("a", "the report"), reply("m1", "end_turn", "done"))
		d.hatch("one", "a", side(prompt("Look")), side(call("b", "Agent")), side(answer("b", "inner")), side(call("a", "Bash")))
		d.hatch("two", "b", side(prompt("Look")), side(call("c", "Bash")), side(answer("c", "stopped here")))
		d.hatch("three", "c") // its transcript is not there yet
		s.Asks(from, "s")()
		pass(time.Minute)
		d.wants("the talk", "Go 1 Go done")
		if got := d.rows(); got != "Go, a, a/task_started running, a/b, b/task_started running, b/c, b/answer c, a/answer b, a/a, answer a, done" {
			t.Errorf("rows %q", got)
		}
		was := d.opened
		if pass(time.Hour); d.opened != was {
			t.Errorf("looked %d times while nothing goes on", d.opened-was)
		}
	})
}

// TestSubAgentsThatDoNotEnd: one that was ended, that failed, or whose program is gone.
func TestSubAgentsThatDoNotEnd(t *testing.T) {
	for state, end := range map[string]func(d *desk){
		"killed": func(d *desk) { d.write("s", notified("one", "killed"), reply("m3", "end_turn", "so")) },
		"failed": func(d *desk) {
			d.hatch("one", "a", side(strings.Replace(reply("", "stop_sequence", "API Error: 529"), `"type"`, `"isApiErrorMessage":true,"type"`, 1)))
		},
		"stopped": func(d *desk) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.terminals = nil
		},
	} {
		t.Run(state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				s, stop := d.run()
				defer stop()
				d.write("s", prompt("Go"), call("a", "Agent"), answer("a", launched), reply("m1", "end_turn", "it works"))
				d.hatch("one", "a", side(prompt("Look")), side(call("b", "Bash")))
				s.Asks(from, "s")()
				pass(time.Minute)
				d.wants("before", "Go 1 Go it works working")
				end(d)
				s.Asks(from, "s")()
				pass(time.Minute)
				synctest.Wait()
				if got := d.rows(); !strings.Contains(got, "a/task_notification "+state) || strings.Count(got, "task_notification") != 1 {
					t.Errorf("rows %q", got)
				}
				if talk := d.talks[0]; talk.Working || talk.Broken != (state == "stopped") {
					t.Errorf("%+v", talk.TerminalTalk)
				}
			})
		})
	}
}

// TestSubAgentsOfAnEarlierTalk go on below their call, and cost where they go on.
func TestSubAgentsOfAnEarlierTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("Go"), call("a", "Agent"), answer("a", launched), reply("m1", "end_turn", "it works"))
		d.hatch("one", "a", side(prompt("Look")), side(reply("m2", "end_turn", "found")))
		s.Asks(from, "s")()
		pass(time.Hour)
		d.write("s", prompt("Ask it again"), reply("m3", "end_turn", "asked"))
		d.hatch("one", "a", side(prompt("And?")), side(reply("m4", "end_turn", "more")))
		s.Asks(from, "s")()
		pass(time.Minute)
		d.wants("both", "Go 1 Go it works; Ask it again 1 Ask it again asked")
		want := "Go, a, answer a, it works, a/task_started running, a/task_message:found, a/task_notification completed, " +
			"a/task_started running, a/task_message:more, a/task_notification completed"
		if got := d.rows(); strings.ReplaceAll(got, "it works, ", "") != strings.ReplaceAll(want, "it works, ", "") {
			t.Errorf("rows %q", got)
		}
		if a, b := d.talks[0].CostUSD, d.talks[1].CostUSD; a < 0.2999 || a > 0.3001 || b < 0.1999 || b > 0.2001 {
			t.Errorf("they cost %v and %v", a, b)
		}
	})
}

// TestSubAgentsThatCannotBeRead cost their own rows alone, and nothing is counted for less.
func TestSubAgentsThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		d.write("s", prompt("Go"), call("a", "Agent"), answer("a", launched), reply("m1", "end_turn", "it works"))
		d.hatch("one", "a", side(prompt("Look")), side(reply("m2", "end_turn", "found")))
		s.Asks(from, "s")()
		pass(time.Minute)
		was := d.talks[0].CostUSD
		stop()
		d.mu.Lock()
		d.nest.fail = core.ErrConflict
		d.mu.Unlock()
		d.write("s", reply("m3", "end_turn", "more"))
		s, stop = d.run()
		defer stop()
		s.Asks(from, "s")()
		pass(time.Minute)
		d.wants("the talk", "Go 1 Go it works more")
		if c := d.talks[0].CostUSD; c < was {
			t.Errorf("it cost %v, and %v before", c, was)
		}
	})
}

// TestManySubAgents: what an agent writes is bounded in what is stored.
func TestManySubAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		s, stop := d.run()
		defer stop()
		d.write("s", prompt("Go"))
		for i := range 2 * maxAgents {
			id := fmt.Sprint("a", i)
			d.write("s", call(id, "Agent"), answer(id, "fine"))
			d.hatch(id, id, side(prompt("Look")), side(reply("m"+id, "end_turn", "found")))
		}
		d.hatch("bad", "")
		d.write("s", reply("m", "end_turn", "done"))
		s.Asks(from, "s")()
		pass(time.Minute)
		synctest.Wait()
		if n := len(d.talks[0].Agents); n != maxAgents || d.talks[0].Working {
			t.Errorf("%d sub-agents, working %v", n, d.talks[0].Working)
		}
		pass(time.Hour)
		d.write("s", prompt("More"), call("new", "Agent"), answer("new", "fine"), reply("z", "end_turn", "done"))
		d.hatch("new", "new", side(prompt("Look")), side(reply("y", "end_turn", "found")))
		was := len(d.events)
		s.Asks(from, "s")()
		pass(time.Minute)
		synctest.Wait()
		if n := len(d.talks[1].Agents); n != maxKept+1 {
			t.Errorf("%d sub-agents in the next talk", n)
		}
		if n := len(d.events) - was; n > 12 {
			t.Errorf("%d events: earlier ones are told again", n)
		}
	})
}

// TestRecordedSubAgents reads what the pinned CLI kept of a conversation in a terminal, whose
// sub-agent had a sub-agent.
func TestRecordedSubAgents(t *testing.T) {
	const dir = "../runner/transcript/testdata/kept-subagents"
	d := newDesk(t)
	s := New(Options{Store: d, Open: d.open, Now: time.Now, Log: slog.New(slog.DiscardHandler), Publish: func(...core.Event) {},
		Terminals: func(core.ChannelID) []core.TerminalInfo { return nil }})
	d.nest = &nest{notes: map[string]string{}, text: map[string]string{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch id := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(f.Name(), ".jsonl"), ".meta.json"), "agent-"); {
		case strings.HasSuffix(f.Name(), ".meta.json"):
			d.nest.notes[id] = string(text)
		case strings.HasPrefix(f.Name(), "agent-"):
			d.nest.text[id] = string(text)
		default:
			d.text["s"] = string(text)
		}
	}
	whole := d.text["s"]
	d.text["s"], _, _ = strings.Cut(whole, `{"type":"cost-state"`)
	d.rates = map[string]core.ModelRate{"claude-opus-5-5": {InputUSD: 0.001}}
	r := &reading{s: s, key: key{"c", "s"}, brood: newBrood()}
	used := func(what string, estimated bool) {
		t.Helper()
		for range 2 {
			r.look(t.Context(), "t", false)
		}
		c := d.talks[0]
		if m := c.Models; len(c.Agents) != 2 || c.Working || c.Estimated != estimated || len(m) != 1 || m[0].Input != 90 || m[0].Output != 45 {
			t.Errorf("%s: %+v", what, c)
		}
	}
	used("estimated", true)
	r = &reading{s: s, key: key{"c", "s"}, brood: newBrood()}
	used("after a restart", true)
	d.text["s"] = whole
	used("counted", false)
	const first, second = "toolu_0002", "toolu_0007"
	want := "Find every fixed wait, " + first + ", answer " + first + ", " +
		first + "/task_started running, " + first + "/task_message:I look, " + first + "/toolu_0005, " + first + "/answer toolu_0005, " +
		first + "/" + second + ", " + first + "/answer " + second + ", " + first + "/task_message:inner found it, " +
		first + "/task_message:inner found it, " + first + "/task_notification completed, " +
		second + "/task_started running, " + second + "/toolu_0010, " + second + "/answer toolu_0010, " +
		second + "/task_message:inner two says, " + second + "/task_notification completed, done words, done words"
	if got := d.rows(); got != want {
		t.Errorf("rows %q", got)
	}
}
