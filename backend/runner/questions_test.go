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

func (r *rig) asked(ch core.ChannelID) core.Question {
	r.t.Helper()
	open, err := r.s.Questions(context.Background(), ch)
	if err != nil || len(open) != 1 {
		r.t.Fatalf("open questions %+v, %v", open, err)
	}
	return open[0]
}

func TestAskParksTheChannel(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, plays(recording(t, "ask"), 1), fine)
		r.start()
		defer func() { r.quit() }() // quits the launch that runs by then
		ids := r.prompts("c", "x", "waits")
		run := r.ended(ids[0], time.Minute)
		r.ended(r.prompt("d", "free").ID, time.Minute)
		if run.State != core.RunDone || run.Outcome.StopReason != "ask_user" || run.Outcome.Failure != nil {
			t.Fatalf("ended %s: %+v", run.State, run.Outcome)
		}
		q := r.asked("c")
		if q.Kind != core.QuestionAsk || q.RunID != ids[0] || len(q.Questions) != 1 || len(q.Questions[0].Options) != 2 {
			t.Errorf("question %+v", q)
		}
		r.pass(5 * time.Minute)
		if s := r.get(ids[1]).State; s != core.RunQueued {
			t.Errorf("%s while the agent waits for an answer", s)
		}

		// The question and the parking survive a restart of Loop.
		r.quit()
		r.start()
		r.pass(5 * time.Minute)
		if got := r.asked("c"); got.ID != q.ID || r.get(ids[1]).State != core.RunQueued {
			t.Errorf("after a restart: %+v", got)
		}
		for name, a := range map[string]core.Answer{
			"nothing":     {Action: core.AnswerGiven},
			"no option":   {Action: core.AnswerGiven, Choices: [][]string{{"Green"}}},
			"two of one":  {Action: core.AnswerGiven, Choices: [][]string{{"Red", "Blue"}}},
			"too many":    {Action: core.AnswerGiven, Choices: [][]string{{"Red"}, {"Red"}}},
			"approve":     {Action: core.AnswerApprove},
			"no action":   {},
			"NUL":         {Action: core.AnswerGiven, Texts: []string{"a\x00"}},
			"too long":    {Action: core.AnswerGiven, Texts: []string{strings.Repeat("x", maxAnswer+1)}},
			"not text":    {Action: core.AnswerGiven, Texts: []string{"\xff"}},
			"blank words": {Action: core.AnswerGiven, Texts: []string{"  "}},
		} {
			if _, err := r.s.Answer(ctx, q.ID, a); codeOf(err) != core.CodeInvalid {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := r.s.Answer(ctx, "none", core.Answer{Action: core.AnswerCancel}); codeOf(err) != core.CodeNotFound {
			t.Errorf("no question: %v", err)
		}
		got, err := r.s.Answer(ctx, q.ID, core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"Blue"}}, Texts: []string{"like the sea"}, AuthorID: "me"})
		if err != nil || got.State != core.QuestionAnswered {
			t.Fatalf("%v %+v", err, got)
		}
		if _, err := r.s.Answer(ctx, q.ID, core.Answer{Action: core.AnswerCancel}); codeOf(err) != core.CodeConflict {
			t.Errorf("a second answer: %v", err)
		}
		r.ended(ids[1], time.Minute)
		want := []string{"x", "My answer to “Which colour?”: Blue, like the sea @93c28384-f207-4760-ab6b-40745efc807a", "waits @sess"}
		spawned := cli.prompts()
		spawned = slices.DeleteFunc(spawned, func(s string) bool { return s == "free" })
		if !slices.Equal(spawned, want) {
			t.Errorf("spawned %q", spawned)
		}
		if len(r.told(ids[0], core.EventAskUser)) != 1 || len(r.told(ids[0], core.EventAskResolved)) != 1 {
			t.Errorf("told\n%s", r.dump(ids[0]))
		}
		var told core.Question
		_ = json.Unmarshal([]byte(r.told(ids[0], core.EventAskResolved)[0]), &told)
		if told.State != core.QuestionAnswered || told.Answer == nil || told.Answer.AuthorID != "me" {
			t.Errorf("resolved %+v", told)
		}
	})
}

func TestCancelledQuestion(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, cli := newSpawnRig(t, plays(recording(t, "ask"), 1), fine)
		r.start()
		defer r.quit()
		ids := r.prompts("c", "x", "waits")
		r.ended(ids[0], time.Minute)
		if q, err := r.s.Answer(context.Background(), r.asked("c").ID, core.Answer{Action: core.AnswerCancel}); err != nil || q.State != core.QuestionCancelled {
			t.Fatal(err, q)
		}
		r.ended(ids[1], time.Minute)
		if got := cli.prompts(); len(got) != 2 || !strings.HasPrefix(got[1], "waits") {
			t.Errorf("spawned %q", got)
		}
	})
}

func TestPlanAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		a    core.Answer
		want string
	}{
		"approve": {core.Answer{Action: core.AnswerApprove}, "Your plan is approved. Carry it out now. @"},
		"revise":  {core.Answer{Action: core.AnswerRevise, Text: "smaller"}, "Your plan is not approved yet. Change it as follows and present it again:\n\nsmaller @"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r, cli := newSpawnRig(t, plays(recording(t, "plan"), 1), fine)
				r.start()
				defer r.quit()
				first, err := r.s.Prompt(context.Background(), core.Run{ChannelID: "c", Prompt: "x", Plan: true, Script: "s"})
				if err != nil {
					t.Fatal(err)
				}
				run := r.ended(first.ID, time.Minute)
				q := r.asked("c")
				if run.Outcome.StopReason != "exit_plan" || q.Kind != core.QuestionPlan || q.Plan != "# My plan" || !strings.HasSuffix(q.PlanFilePath, "/x.md") {
					t.Fatalf("%+v %+v", run.Outcome, q)
				}
				if _, err := r.s.Answer(context.Background(), q.ID, core.Answer{Action: core.AnswerRevise}); codeOf(err) != core.CodeInvalid {
					t.Errorf("a change that is not said: %v", err)
				}
				if _, err := r.s.Answer(context.Background(), q.ID, tc.a); err != nil {
					t.Fatal(err)
				}
				r.pass(5 * time.Second)
				got := cli.all()
				if len(got) != 2 || !strings.HasPrefix(cli.prompts()[1], tc.want) {
					t.Fatalf("spawned %q", cli.prompts())
				}
				for i, want := range []bool{true, name == "revise"} {
					if plan := slices.Contains(got[i].Argv, "plan"); plan != want || slices.Contains(got[i].Argv, `{"useAutoModeDuringPlan":false}`) != want {
						t.Errorf("run %d: plan mode %v", i, plan)
					}
				}
				if planned := r.boxes.planned(); !slices.Equal(planned, []bool{true, name == "revise"}) {
					t.Errorf("containers that plan: %v", planned)
				}
				if !q.ReadOnly {
					t.Error("the question does not say that its run could change nothing")
				}
				if len(r.told(first.ID, core.EventExitPlan)) != 1 || len(r.told(first.ID, core.EventPlanResolved)) != 1 {
					t.Errorf("told\n%s", r.dump(first.ID))
				}
			})
		})
	}
}

// TestQuestionSurvivesEveryCrash closes Loop at each moment of a run that ends with a
// question, while the store refuses calls in between. There is one question, once.
func TestQuestionSurvivesEveryCrash(t *testing.T) {
	for at := time.Duration(0); at < 800*time.Millisecond; at += 17 * time.Millisecond {
		inBubble(t, func(t *testing.T) {
			r, cli := newSpawnRig(t, plays(recording(t, "ask"), 1), fine)
			r.start()
			id := r.prompt("c", "x").ID
			r.pass(at)
			r.quit()
			r.pass(time.Second) // the CLI goes on without Loop
			r.start()
			defer r.quit()
			run := r.ended(id, time.Minute)
			if run.State != core.RunDone || run.Outcome.StopReason != "ask_user" {
				t.Fatalf("after %s: ended %s: %+v", at, run.State, run.Outcome)
			}
			r.asked("c")
			if n := len(r.told(id, core.EventAskUser)); n != 1 || len(cli.all()) != 1 {
				t.Errorf("after %s: %d questions told, %d spawns", at, n, len(cli.all()))
			}
		})
	}
}

// TestContinueAfterLimit: a run that waits for the limit's end is queued once. It is
// queued only for a session limit whose end is known.
func TestContinueAfterLimit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limit := plays(limitLine(time.Unix(946692000, 0), "five_hour")+
			resultLine("You've hit your session limit", ""), 1)
		r, cli := newSpawnRig(t, limit, fine)
		r.launch.Retry.SessionLimitContinue = true
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Minute) // the bubble's clock begins at 2000-01-01 00:00 UTC
		if run.State != core.RunFailed || !strings.Contains(run.Outcome.Failure.Remedy, "goes on by itself") {
			t.Fatalf("%s %+v", run.State, run.Outcome.Failure)
		}
		queue, _ := r.store.Queue(context.Background(), "c")
		if len(queue) != 1 || queue[0].Trigger != TriggerContinue || !queue[0].NotBefore.Equal(time.Unix(946692000, 0).Add(time.Minute)) {
			t.Fatalf("queue %+v", queue)
		}
		r.pass(2*time.Hour + 30*time.Second)
		if len(cli.all()) != 1 {
			t.Error("went on before the limit was reset")
		}
		r.ended(queue[0].ID, 5*time.Minute)
		if got := cli.prompts(); len(got) != 2 || got[1] != continuePrompt+" @sess" {
			t.Errorf("spawned %q", got)
		}
	})
}

// limitLine is the CLI's message about a limit that the account has reached.
func limitLine(reset time.Time, kind string) string {
	return fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d,"rateLimitType":%q},"session_id":"sess"}`+"\n",
		reset.Unix(), kind)
}

func TestSessionReset(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		limit *transcript.Limit
		after time.Duration // negative: unknown, or too long to wait
	}{
		"session":  {&transcript.Limit{Status: "rejected", Type: "five_hour", ResetsAt: now.Add(time.Hour)}, time.Hour},
		"over":     {&transcript.Limit{Status: "rejected", Type: "five_hour", ResetsAt: now.Add(-time.Hour)}, 0},
		"weekly":   {&transcript.Limit{Status: "rejected", Type: "seven_day_opus", ResetsAt: now.Add(time.Hour)}, -1},
		"warned":   {&transcript.Limit{Status: "allowed_warning", Type: "five_hour", ResetsAt: now.Add(time.Hour)}, -1},
		"far off":  {&transcript.Limit{Status: "rejected", Type: "five_hour", ResetsAt: now.Add(25 * time.Hour)}, -1},
		"not said": {&transcript.Limit{Status: "rejected", Type: "five_hour"}, -1},
		"none":     {nil, -1},
	} {
		if at, ok := sessionReset(c.limit, now); ok != (c.after >= 0) || ok && !at.Equal(now.Add(c.after+resetSlack)) {
			t.Errorf("%s: %s %v", name, at, ok)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("answer", "Red", "own words", "text")
	f.Add("revise", "", "", "smaller")
	f.Add("approve", "", "\xff", "")
	f.Fuzz(func(t *testing.T, action, choice, own, text string) {
		for _, q := range []core.Question{
			{Kind: core.QuestionAsk, Questions: []core.AskQuestion{{Question: "Which?", Options: []core.AskOption{{Label: "Red"}}}}},
			{Kind: core.QuestionPlan, Plan: "p"},
		} {
			a := core.Answer{Action: core.AnswerAction(action), Choices: [][]string{{choice}}, Texts: []string{own}, Text: text}
			if checkAnswer(q, a) == nil && a.Action != core.AnswerCancel {
				if err := core.CheckText("prompt", answerPrompt(q, a), MaxPrompt); err != nil {
					t.Errorf("%+v: %v", a, err)
				}
			}
		}
	})
}
