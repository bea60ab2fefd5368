package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// bash and the functions below return lines that the CLI prints besides its turns, as in
// transcript/testdata/claude-2.1.330.
func bash(id, command string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m%s","content":[`+
		`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}}`+"\n", id, id, command)
}

func toolAnswer(id string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"moved"}]}}`+"\n", id)
}

func tasksLine(descriptions ...string) string {
	list := []string{}
	for i, d := range descriptions {
		list = append(list, fmt.Sprintf(`{"task_id":"b%d","task_type":"local_bash","description":%q}`, i, d))
	}
	return `{"type":"system","subtype":"background_tasks_changed","tasks":[` + strings.Join(list, ",") + "]}\n"
}

const taskStarted = `{"type":"system","subtype":"task_started","task_id":"b0","tool_use_id":"t1","description":"Slow thing"}` + "\n"

// moved is a turn whose command was moved to the background at its time-out.
var moved = wardInit + bash("t1", "sleep 600\n&& touch late") + tasksLine("Slow thing") + taskStarted + toolAnswer("t1") +
	turn("It goes on.") + goodResult

func secondResult(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%q,"session_id":"sess","num_turns":1}`+"\n", text)
}

func (r *rig) notices(id core.RunID) string {
	return strings.Join(r.told(id, core.EventNotice), "\n")
}

// TestRunLastsAsLongAsItsBackgroundTasks: a result does not end the run while a task
// lives. The turn that follows the task's end gives the outcome.
func TestRunLastsAsLongAsItsBackgroundTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			p.print(moved)
			select {
			case <-time.After(10 * time.Minute):
			case <-p.killed:
				return
			}
			p.print(tasksLine())
			p.print(wardInit + turn("The file is there.") + secondResult("The file is there."))
			p.end(0)
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		r.pass(9 * time.Minute)
		if got := r.get(run.ID); got.State != core.RunRunning {
			t.Fatalf("after nine minutes the run is %s\n%s", got.State, r.dump(run.ID))
		}
		bg := r.told(run.ID, core.EventBackground)
		want := `{"tasks":[{"task_id":"b0","kind":"command","what":"sleep 600 \u0026\u0026 touch late"}],"waiting":true}`
		if len(bg) == 0 || bg[len(bg)-1] != want {
			t.Errorf("stored while it waits: %q\nwant the last to be %s", bg, want)
		}
		if n := len(r.told(run.ID, core.EventMessageCreated)); n != 2 {
			t.Errorf("%d messages are stored while it waits, want the prompt and the answer", n)
		}
		end := r.ended(run.ID, 2*time.Minute)
		if end.State != core.RunDone || end.Outcome.Text != "The file is there." || end.Outcome.NumTurns != 2 || r.did("kill") > 0 {
			t.Errorf("ended as %s %+v\n%s", end.State, end.Outcome, r.dump(run.ID))
		}
		if n := r.notices(run.ID); n != "" {
			t.Errorf("notices of a run that ended by itself: %s", n)
		}
	})
}

// TestEndedIsNamed: a run names the tasks that end with it, once, however it ends.
func TestEndedIsNamed(t *testing.T) {
	const task = "sleep 600 \\u0026\\u0026 touch late"
	waits := func(p *proc) { p.print(moved); <-p.killed }
	lost := func(p *proc) {
		p.changed(func() { p.detached = []string{"node server.js --key secret-of-the-run"} })
		p.print(wardInit + turn("Started.") + goodResult)
		p.end(0)
	}
	for name, c := range map[string]struct {
		cli   func(*proc)
		act   func(*rig, core.RunID)
		state core.RunState
		want  string
	}{
		"stopped while it waits": {cli: waits, act: (*rig).cancel, state: core.RunDone, want: "Ended with the run: " + task},
		"stopped in a command": {cli: func(p *proc) { p.print(wardInit + bash("t1", "make all")); <-p.killed },
			act: (*rig).cancel, state: core.RunCancelled, want: "Ended with the run: make all"},
		"the CLI takes them off its list as it dies": {cli: func(p *proc) { p.print(moved); <-p.killed; p.print(tasksLine()) },
			act: (*rig).cancel, state: core.RunDone, want: "Ended with the run: " + task},
		"time limit": {cli: waits, act: func(r *rig, _ core.RunID) { r.pass(time.Hour) }, state: core.RunDone,
			want: "The run took longer than 1h0m0s and was stopped. Ended with the run: " + task},
		"container removed": {cli: waits, act: func(r *rig, _ core.RunID) { r.boxes.die(0, 137) }, state: core.RunDone,
			want: "Ended with the run: " + task},
		"let go by the agent": {cli: lost, act: func(*rig, core.RunID) {}, state: core.RunDone,
			want: "Ended with the run: node server.js --key •••hidden•••"},
		"nothing": {cli: func(p *proc) {
			p.print(wardInit + bash("t1", "ls") + toolAnswer("t1") + turn("x") + goodResult)
			<-p.killed
		},
			act: func(*rig, core.RunID) {}, state: core.RunDone, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, c.cli)
				r.launch.Env = []core.EnvVar{{Name: "KEY", Value: "secret-of-the-run", Secret: true}}
				r.start()
				defer r.quit()
				run := r.prompt("c", "x")
				r.until(run.ID, time.Minute, core.RunRunning, core.RunDone)
				r.pass(time.Second)
				c.act(r, run.ID)
				end := r.ended(run.ID, time.Minute)
				said := []string{}
				for _, n := range r.told(run.ID, core.EventNotice) {
					if strings.Contains(n, "Ended with") {
						said = append(said, n)
					}
				}
				want := []string{}
				if c.want != "" {
					want = append(want, `{"level":"warning","text":"`+c.want+`"}`)
				}
				if end.State != c.state || !slices.Equal(said, want) {
					t.Errorf("%s, said %q, want %s and %q\n%s", end.State, said, c.state, want, r.dump(run.ID))
				}
			})
		})
	}
}

func (r *rig) cancel(id core.RunID) {
	r.t.Helper()
	if err := r.s.Cancel(context.Background(), id); err != nil {
		r.t.Error(err)
	}
}

// TestHangsAfterItsTasks: the last task has ended and no turn follows. The CLI then
// gets the same grace as after a result without tasks.
func TestHangsAfterItsTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			p.print(moved)
			<-time.After(time.Minute)
			p.print(tasksLine())
			<-p.killed
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		began := time.Now()
		end := r.ended(run.ID, 2*time.Minute)
		if took := time.Since(began); end.State != core.RunDone || took < 75*time.Second || took > 80*time.Second || r.notices(run.ID) != "" {
			t.Errorf("%s after %s, %s", end.State, took, r.notices(run.ID))
		}
	})
}

// TestFailsAfterItsAnswer: a turn after a background task fails. The answer stays, and
// the prompt is not sent again.
func TestFailsAfterItsAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(moved+tasksLine()+wardInit+resultLine("API Error: 529 Overloaded", `,"api_error_status":529`), 1))
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		end := r.ended(run.ID, time.Minute)
		if end.State != core.RunDone || end.Outcome.Text != "fine" || r.did("spawn") != 1 {
			t.Errorf("%s %+v, %d spawns", end.State, end.Outcome, r.did("spawn"))
		}
		if n := r.notices(run.ID); !strings.Contains(n, "could not go on after its answer. API Error: 529 Overloaded") {
			t.Errorf("notices: %s", n)
		}
	})
}

// TestQuestionEndsBackgroundTasks: a question to the person does not wait for
// background tasks.
func TestQuestionEndsBackgroundTasks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		asked := recording(t, "ask")
		i := strings.LastIndex(strings.TrimSpace(asked), "\n")
		r := newRig(t, func(p *proc) {
			p.print(asked[:i+1] + tasksLine("npm run dev") + asked[i+1:])
			<-p.killed
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		end := r.ended(run.ID, time.Minute)
		if open, err := r.store.OpenQuestions(context.Background(), "c"); end.State != core.RunDone || err != nil || len(open) != 1 {
			t.Errorf("%s with %d questions, %v", end.State, len(open), err)
		}
		if n := r.notices(run.ID); !strings.Contains(n, "Ended with the run: npm run dev") {
			t.Errorf("notices: %s", n)
		}
	})
}

// TestQuestionStaysOpen: a task ends before the CLI does, and the agent goes on in
// another turn. The question is still open for the person.
func TestQuestionStaysOpen(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		asked := recording(t, "ask")
		i := strings.LastIndex(strings.TrimSpace(asked), "\n")
		r := newRig(t, func(p *proc) {
			p.print(asked[:i+1] + tasksLine("npm test") + asked[i+1:])
			<-time.After(5 * time.Second)
			p.print(tasksLine() + wardInit + turn("I choose A.") + secondResult("chose A"))
			<-p.killed
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		end := r.ended(run.ID, time.Minute)
		open, err := r.store.OpenQuestions(context.Background(), "c")
		if end.State != core.RunDone || end.Outcome.Text == "chose A" || err != nil || len(open) != 1 {
			t.Errorf("%s %q with %d questions, %v", end.State, end.Outcome.Text, len(open), err)
		}
	})
}

// TestCutShortAfterItsAnswer: the run has succeeded, and a later turn is cut short. The
// timeline says why.
func TestCutShortAfterItsAnswer(t *testing.T) {
	begun := moved + tasksLine() + wardInit + turn("Now the next.")
	for name, c := range map[string]struct {
		cli  func(p *proc)
		want string
	}{
		"time limit": {func(p *proc) { p.print(begun); <-p.killed }, "The run took longer than 1h0m0s and was stopped."},
		"killed":     {plays(begun, 137), "ended in the middle of a turn that it had begun after its answer."},
		"as usual":   {plays(begun+secondResult("good"), 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, c.cli)
				r.start()
				defer r.quit()
				run := r.prompt("c", "x")
				end := r.ended(run.ID, 2*time.Hour)
				if n := r.notices(run.ID); end.State != core.RunDone || !strings.Contains(n, c.want) || c.want == "" && n != "" {
					t.Errorf("%s, notices: %s", end.State, n)
				}
			})
		})
	}
}

// TestLeftOutStillCounts: a command's answer came when the timeline was full. The
// command must not be named as ended with the run.
func TestLeftOutStillCounts(t *testing.T) {
	w := &work{told: maxEvents - 1}
	use := transcript.Item{Type: core.EventToolUse, Data: core.ToolUse{ToolUseID: "t1", Name: "Bash", Input: []byte(`{"command":"make all"}`)}}
	answer := transcript.Item{Type: core.EventToolResult, Data: core.ToolResult{ToolUseID: "t1"}}
	for _, it := range w.bounded([]transcript.Item{use}) {
		w.track(it)
	}
	if kept := w.bounded([]transcript.Item{answer}); len(kept) != 1 || kept[0].Type != core.EventNotice || len(w.under.calls) > 0 {
		t.Errorf("kept %v, under way %v", kept, w.under.calls)
	}
}

// cutRow is a stored message that was cut off.
type cutRow struct {
	Type    core.EventType
	Content string `json:"content"`
	Text    string `json:"text"`
	Name    string `json:"tool_name"`
	Cut     bool   `json:"cut"`
}

func (r *rig) cutRows(id core.RunID) (out []string) {
	for _, e := range r.store.timeline(id) {
		var c cutRow
		if json.Unmarshal(e.Data, &c) == nil && c.Cut {
			out = append(out, fmt.Sprintf("%s %s", e.Type, c.Content+c.Text+c.Name))
		}
	}
	return out
}

func piece(block int, kind, text string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":%d,`+
		`"delta":{"type":"%s_delta",%q:%q}}}`+"\n", block, kind, kind, text)
}

const (
	messageStart = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}` + "\n"
	toolBegins   = `{"type":"stream_event","event":{"type":"content_block_start","index":2,` +
		`"content_block":{"type":"tool_use","id":"t9","name":"Write","input":{}}}}` + "\n"
)

// streamed is a message that the CLI has not finished: a thought, a text and a tool
// call.
var streamed = wardInit + turn("whole") + messageStart + piece(0, "thinking", "Let me ") + piece(0, "thinking", "think.") +
	piece(1, "text", "The key is secret-of-") + piece(1, "text", "the-run, and so") + toolBegins

var cutOff = []string{"agent.thinking Let me think.", "message.created The key is •••hidden•••, and so", "tool.use Write"}

// TestWhatWasSaidIsKept ends runs in the middle of a message in every possible way. The
// streamed part is stored once, marked as cut, without keys.
func TestWhatWasSaidIsKept(t *testing.T) {
	hangs := func(p *proc) { p.print(streamed); <-p.killed }
	wholeWhen := func(p *proc, when <-chan struct{}) {
		p.print(streamed)
		<-when
		p.print(`{"type":"assistant","message":{"id":"m2","content":[{"type":"thinking","thinking":"Let me think."}]}}` + "\n" +
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"The key is nothing."}]}}` + "\n" +
			`{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t9","name":"Write","input":{}}]}}` + "\n")
		<-p.killed
	}
	soon := func() <-chan struct{} {
		when := make(chan struct{})
		time.AfterFunc(500*time.Millisecond, func() { close(when) })
		return when
	}
	for name, c := range map[string]struct {
		cli   func(*proc)
		act   func(*rig, core.RunID)
		state core.RunState
		want  []string
	}{
		"stopped":    {hangs, (*rig).cancel, core.RunCancelled, cutOff},
		"time limit": {hangs, func(r *rig, _ core.RunID) { r.pass(time.Hour) }, core.RunFailed, cutOff},
		"the CLI crashes": {func(p *proc) { p.print(streamed); <-time.After(2 * time.Second); p.end(1) }, func(*rig, core.RunID) {},
			core.RunFailed, cutOff},
		"the container dies": {hangs, func(r *rig, _ core.RunID) { r.boxes.die(0, 137) }, core.RunFailed, cutOff},
		"the link breaks": {hangs, func(r *rig, id core.RunID) {
			r.boxes.breakLinks()
			r.pass(time.Minute)
			r.cancel(id)
		}, core.RunCancelled, cutOff},
		"Loop is killed, then the container": {hangs, func(r *rig, _ core.RunID) {
			r.quit()
			r.boxes.die(0, 137)
			r.start()
		}, core.RunInterrupted, cutOff},
		"Loop is killed, then stopped": {hangs, func(r *rig, id core.RunID) {
			r.quit()
			r.start()
			r.pass(time.Second)
			r.cancel(id)
		}, core.RunCancelled, cutOff},
		"it came whole after all": {func(p *proc) { wholeWhen(p, soon()) }, (*rig).cancel, core.RunCancelled, nil},
		"it came whole to the next launch": {func(p *proc) { wholeWhen(p, p.killed) }, func(r *rig, _ core.RunID) {
			r.quit()
			r.boxes.die(0, 137)
			r.pass(time.Second)
			r.start()
		}, core.RunInterrupted, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, c.cli)
				r.launch.Env = []core.EnvVar{{Name: "KEY", Value: "secret-of-the-run", Secret: true}}
				r.start()
				defer func() { r.quit() }()
				run := r.prompt("c", "x")
				r.until(run.ID, time.Minute, core.RunRunning)
				r.pass(time.Second)
				c.act(r, run.ID)
				end := r.ended(run.ID, time.Minute)
				if got := r.cutRows(run.ID); end.State != c.state || fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("%s with %q, want %s with %q\n%s", end.State, got, c.state, c.want, r.dump(run.ID))
				}
				if n := strings.Count(r.dump(run.ID), `"content":"whole"`); n != 1 {
					t.Errorf("what was stored before is there %d times", n)
				}
			})
		})
	}
}

// TestCutByTheModel: a message broke off before another try. It stays, marked as cut,
// before that try.
func TestCutByTheModel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		n := 0
		r := newRig(t, func(p *proc) {
			if n++; n == 1 {
				plays(wardInit+messageStart+piece(0, "text", "Half a")+resultLine("API Error: Connection dropped", ""), 1)(p)
				return
			}
			plays(wardInit+turn("again")+goodResult, 0)(p)
		})
		r.start()
		defer r.quit()
		run := r.prompt("c", "x")
		end := r.ended(run.ID, 5*time.Minute)
		if got := r.cutRows(run.ID); end.State != core.RunDone || fmt.Sprint(got) != "[message.created Half a]" {
			t.Errorf("%s with %q", end.State, got)
		}
		all := r.dump(run.ID)
		if strings.Index(all, "Half a") > strings.Index(all, string(core.EventAttempt)) {
			t.Errorf("the cut message does not stand in front of the next try\n%s", all)
		}
	})
}
