package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

var (
	colour = core.Question{ID: "q1", ChannelID: "ch1", Kind: core.QuestionAsk, State: core.QuestionOpen, CreatedAt: time.Now(), Questions: []core.AskQuestion{
		{Question: "Which colour?", Options: []core.AskOption{{Label: "Red", Description: "Warm\x1b[2J"}, {Label: "Blue, dark"}}, MultiSelect: true},
		{Question: "How much?", Options: []core.AskOption{{Label: "1"}, {Label: "2"}}},
	}}
	plan = core.Question{ID: "q2", ChannelID: "ch1", Kind: core.QuestionPlan, State: core.QuestionOpen, Plan: "# Do it"}
)

func TestAnswerFlags(t *testing.T) {
	for name, tc := range map[string]struct {
		open []core.Question
		args []string
		want core.Answer
		err  string
	}{
		"numbers":        {open: []core.Question{colour}, args: []string{"--choose", "1,2", "--choose", "2"}, want: core.Answer{Action: "answer", Choices: [][]string{{"Red", "Blue, dark"}, {"2"}}}},
		"labels first":   {open: []core.Question{colour}, args: []string{"--choose", "Blue, dark", "--choose", "1"}, want: core.Answer{Action: "answer", Choices: [][]string{{"Blue, dark"}, {"1"}}}},
		"text":           {open: []core.Question{colour}, args: []string{"--text", "as you like"}, want: core.Answer{Action: "answer", Text: "as you like"}},
		"approve":        {open: []core.Question{plan}, args: []string{"--approve"}, want: core.Answer{Action: "approve"}},
		"revise":         {open: []core.Question{colour, plan}, args: []string{"--question", "q2", "--revise", "less"}, want: core.Answer{Action: "revise", Text: "less"}},
		"cancel":         {open: []core.Question{plan}, args: []string{"--decline"}, want: core.Answer{Action: "cancel"}},
		"no such option": {open: []core.Question{colour}, args: []string{"--choose", "3"}, err: "is no option"},
		"too many":       {open: []core.Question{colour}, args: []string{"--choose", "1", "--choose", "1", "--choose", "1"}, err: "3 answers to 2"},
		"choice of plan": {open: []core.Question{plan}, args: []string{"--choose", "1"}, err: "this is a plan"},
		"two at once":    {open: []core.Question{plan}, args: []string{"--approve", "--decline"}, err: "do not go together"},
		"which":          {open: []core.Question{colour, plan}, args: []string{"--approve"}, err: "2 questions are open"},
		"none":           {args: []string{"--approve"}, err: "No agent waits"},
		"unknown":        {open: []core.Question{plan}, args: []string{"--question", "x", "--approve"}, err: "no open question"},
		"nothing":        {open: []core.Question{plan}, err: "the answer is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.answers["Runs.Questions"] = tc.open
			answered := core.Question{ID: "q", State: core.QuestionAnswered, ChannelID: "ch1"}
			if tc.want.Action == core.AnswerCancel {
				answered.State = core.QuestionCancelled
			}
			r.fake.answers["Runs.Answer"] = answered
			code := r.run(append([]string{"answer", "--no-follow"}, tc.args...)...)
			if tc.err != "" {
				if code == exitOK || !strings.Contains(r.err.String(), tc.err) {
					t.Errorf("exit %d, said %q", code, r.err.String())
				}
				return
			}
			if code != exitOK {
				t.Fatalf("exit %d: %s", code, r.err.String())
			}
			var got core.Answer
			if err := json.Unmarshal(r.fake.last["Runs.Answer"][1], &got); err != nil {
				t.Fatal(err)
			}
			if a, b := mustJSON(got), mustJSON(tc.want); a != b {
				t.Errorf("answered %s, want %s", a, b)
			}
		})
	}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestAnswerFollows: loop answer follows the run that brings the answer to the agent,
// to its end.
func TestAnswerFollows(t *testing.T) {
	r := newRig(t)
	r.fake.answers["Runs.Questions"] = []core.Question{plan}
	r.fake.answers["Runs.Answer"] = core.Question{ID: "q2", ChannelID: "ch1", State: core.QuestionAnswered, NextRunID: "r2"}
	r.fake.onCall = func(method string) {
		if method != "Runs.Answer" {
			return
		}
		r.fake.publish(core.EventQueueChanged, "r2", false, core.Run{ID: "r2", ChannelID: "ch1", State: core.RunQueued, Trigger: "answer"})
		if err := ends(core.RunDone, nil)(r.fake, bind.PromptRequest{ClientID: "r2", ChannelID: "ch1"}); err != nil {
			t.Error(err)
		}
	}
	if code := r.run("answer", "--approve"); code != exitOK {
		t.Fatalf("exit %d: %s", code, r.err.String())
	}
	r.wantIn("out", "Hello there.")
	r.wantIn("err", "Done")
}

func TestAskInTerminal(t *testing.T) {
	r := newRig(t)
	a := r.app("\n1,2\nas much as there is\n")
	ans, err := a.ask(colour)
	want := core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"Red", "Blue, dark"}, {}}, Texts: []string{"", "as much as there is"}}
	if err != nil || mustJSON(ans) != mustJSON(want) {
		t.Errorf("%v %s", err, mustJSON(ans))
	}
	if said := r.err.String(); !strings.Contains(said, "Which colour?") || strings.Contains(said, "\x1b[2J") {
		t.Errorf("said %q", said)
	}
	for in, action := range map[string]core.AnswerAction{"approve\n": core.AnswerApprove, "\n\ndecline\n": core.AnswerCancel, "less of it\n": core.AnswerRevise} {
		if ans, err := r.app(in).ask(plan); err != nil || ans.Action != action {
			t.Errorf("%q: %v %+v", in, err, ans)
		}
	}
	if _, err := r.app("\n").ask(plan); err == nil {
		t.Error("an empty line is an answer")
	}
}

func TestQuestionList(t *testing.T) {
	r := newRig(t)
	r.fake.answers["Runs.Questions"] = []core.Question{colour, plan}
	if code := r.run("answer", "--list"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	for _, want := range []string{"q1", "Which colour? / How much?", "Plan: # Do it"} {
		r.wantIn("out", want)
	}
}

func TestRunWishes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want bind.PromptRequest
		err  string
	}{
		"interrupt": {args: []string{"--interrupt"}, want: bind.PromptRequest{Interrupt: true}},
		"delay":     {args: []string{"--delay", "90s"}, want: bind.PromptRequest{DelaySeconds: 90}},
		"plan":      {args: []string{"--plan"}, want: bind.PromptRequest{Plan: true}},
		"resume":    {args: []string{"--session", "s"}, want: bind.PromptRequest{Session: core.SessionStart{Mode: core.SessionResume, SessionID: "s"}}},
		"fork":      {args: []string{"--fork", "--session", "s", "--at", "m"}, want: bind.PromptRequest{Session: core.SessionStart{Mode: core.SessionFork, SessionID: "s", At: "m"}}},
		"fresh":     {args: []string{"--fresh"}, want: bind.PromptRequest{Session: core.SessionStart{Mode: core.SessionFresh}}},
		"at alone":  {args: []string{"--at", "m"}, err: "--at needs --fork"},
		"both":      {args: []string{"--fresh", "--fork"}, err: "do not go together"},
		"too short": {args: []string{"--delay", "1ms"}, err: "a second or more"},
		"backwards": {args: []string{"--delay", "-1m"}, err: "a second or more"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			code := r.run(slices.Concat([]string{"run", "--dir", r.dir}, tc.args, []string{"x"})...)
			if tc.err != "" {
				if code != exitUsage || !strings.Contains(r.err.String(), tc.err) {
					t.Errorf("exit %d, said %q", code, r.err.String())
				}
				return
			}
			got := r.fake.request
			got.ClientID, got.ChannelID, got.Prompt = "", "", ""
			if code != exitOK || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("exit %d, request %+v", code, got)
			}
		})
	}
}
