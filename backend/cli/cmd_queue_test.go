package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

// queued is Loop with prompts waiting in two channels, and the calls that change a
// queue.
type queued struct {
	*rig
	mu     sync.Mutex
	runs   []core.Run
	before func(method string) // runs before each change, as a change that races with it; the lock is held
	held   map[core.RunID]int
}

func newQueued(t *testing.T) *queued {
	q := &queued{rig: newRig(t), held: map[core.RunID]int{}}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	q.now = func() time.Time { return noon }
	wait := func(id string, ch core.ChannelID, prompt string) {
		q.runs = append(q.runs, core.Run{ID: core.RunID(id), ChannelID: ch, Prompt: prompt, State: core.RunQueued})
	}
	wait("aaaaaa11", "p1", "first\nthing")
	wait("aaaaaa22", "p1", "second \x1b]0;evil\a\x1b[2J\u202ething")
	wait("bbbbbb33", "p1", "third")
	wait("cccccc44", "t1", "aside")
	q.fake.channels = []map[string]any{
		{"channel_id": "p1", "name": "App", "kind": "project", "dir": q.dir, "queued": 3},
		{"channel_id": "t1", "name": "Aside", "kind": "thread", "dir": q.dir, "queued": 1},
		{"channel_id": "e1", "name": "Empty", "kind": "thread", "dir": q.dir},
	}
	q.fake.handle = q.handle
	t.Chdir(q.dir)
	t.Setenv("TMPDIR", t.TempDir())
	return q
}

var errLate = core.Fail(core.CodeConflict, core.ErrConflict, "This prompt has already been started or taken out of the queue.", "Reload the queue.")

func (q *queued) at(id core.RunID) int {
	return slices.IndexFunc(q.runs, func(r core.Run) bool { return r.ID == id })
}

func (q *queued) of(ch core.ChannelID) (list []core.Run) {
	for _, r := range q.runs {
		if r.ChannelID == ch {
			list = append(list, r)
		}
	}
	state := core.QueueState{Now: q.now()}
	if ch == "t1" {
		state.Question = &core.Question{ID: "q1", ChannelID: ch}
	}
	for i, w := range core.Waits(list, state) {
		list[i].WaitsFor = w
	}
	return list
}

func (q *queued) drop(id core.RunID) {
	q.runs = slices.DeleteFunc(q.runs, func(r core.Run) bool { return r.ID == id })
}

// order lists the beginnings of the ids that wait in a channel.
func (q *queued) order(ch core.ChannelID) string {
	var ids []string
	for _, r := range q.of(ch) {
		ids = append(ids, string(r.ID[:2])+string(r.ID[6:]))
	}
	return strings.Join(ids, " ")
}

func (q *queued) handle(method string, args []json.RawMessage) (any, bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var id, text string
	if len(args) > 0 {
		_ = json.Unmarshal(args[0], &id)
	}
	if len(args) > 1 {
		_ = json.Unmarshal(args[1], &text)
	}
	if q.before != nil && strings.HasPrefix(method, "Runs.") {
		q.before(method)
	}
	i := q.at(core.RunID(id))
	switch method {
	case "Channels.Timeline":
		return map[string]any{"queue": q.of(core.ChannelID(id))}, true, nil
	case "Runs.Prompt":
		var req bind.PromptRequest
		if err := json.Unmarshal(args[0], &req); err != nil {
			return nil, false, err
		}
		run := core.Run{ID: core.RunID(req.ClientID), ChannelID: core.ChannelID(req.ChannelID), Prompt: req.Prompt, State: core.RunQueued}
		if req.DelaySeconds > 0 {
			run.NotBefore = q.now().Add(time.Duration(req.DelaySeconds) * time.Second)
		}
		q.fake.request = req
		q.runs = append(q.runs, run)
		return run, true, nil
	case "Runs.Reorder":
		var ids []core.RunID
		if err := json.Unmarshal(args[1], &ids); err != nil {
			return nil, false, err
		}
		var sorted []core.Run
		for _, r := range ids {
			if n := q.at(r); n >= 0 {
				sorted = append(sorted, q.runs[n])
			}
		}
		if len(sorted) != len(ids) || len(ids) != len(q.of(core.ChannelID(id))) {
			return nil, false, core.Fail(core.CodeConflict, nil, "The queue has changed meanwhile.", "")
		}
		q.runs = append(slices.DeleteFunc(q.runs, func(r core.Run) bool { return r.ChannelID == core.ChannelID(id) }), sorted...)
		return sorted, true, nil
	case "Runs.Edit", "Runs.Hold", "Runs.Release", "Runs.Remove", "Runs.Steer":
		if i < 0 {
			return nil, false, errLate
		}
	default:
		return nil, false, nil
	}
	switch run := &q.runs[i]; method {
	case "Runs.Edit":
		run.Prompt, run.HoldUntil = text, time.Time{}
		return *run, true, nil
	case "Runs.Hold":
		q.held[run.ID]++
		run.HoldUntil = q.now().Add(5 * time.Minute)
		return *run, true, nil
	case "Runs.Release":
		q.held[run.ID] = 0
	case "Runs.Remove":
		q.drop(run.ID)
	}
	return map[string]any{}, true, nil
}

func TestQueueList(t *testing.T) {
	q := newQueued(t)
	q.runs[1].NotBefore, q.runs[1].Trigger = q.now().Add(90*time.Minute), "agent"
	for _, args := range [][]string{{"queue"}, {"queue", "list", "--channel", "App"}, {"queue", "--dir", q.dir}} {
		if code := q.run(args...); code != exitOK {
			t.Fatal(code)
		}
		lines := strings.Split(q.out.String(), "\n")
		for i, want := range []string{
			"PLACE  PROMPT", "1      aaaaaa1  next           you       first thing",
			"2      aaaaaa2  at 13:30       an agent  second ␛]0;evil␇␛[2J<U+202E>thing", "3      bbbbbb   after 1 other  you       third",
		} {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("line %q, want %q", lines[i], want)
			}
		}
	}
	q.wantIn("err", "No Loop is running")
	if q.fake.opened != 0 || q.fake.idle != 3 {
		t.Errorf("Loop was opened %d times with its queue, %d times without", q.fake.opened, q.fake.idle)
	}
	if code := q.run("queue", "list", "--all"); code != exitOK {
		t.Fatal(code)
	}
	q.wantIn("out", "Aside    1      cccccc   after your answer")
	q.wantIn("err", "What waits for your answer starts after: loop answer --question q1")
	if code := q.run("queue", "--channel", "Empty"); code != exitOK || q.out.String() != "Nothing waits.\n" {
		t.Errorf("exit %d", code)
	}
	for channel, want := range map[string]int{"App": 3, "Empty": 0} {
		var runs []core.Run
		if code := q.run("queue", "--channel", channel, "--json"); code != exitOK || json.Unmarshal(q.out.Bytes(), &runs) != nil || len(runs) != want || runs == nil {
			t.Errorf("exit %d, %v", code, runs)
		}
		if strings.ContainsAny(q.out.String(), "\x1b\a\u202e") {
			t.Error("a prompt reached the terminal as it is")
		}
	}
}

// TestWaitWords: every reason has words, and a prompt that nothing keeps back has none.
func TestWaitWords(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	soon, tomorrow := now.Add(time.Minute), now.Add(24*time.Hour)
	for _, tc := range []struct {
		wait       core.Wait
		cell, says string
	}{
		{core.Wait{}, "next", ""},
		{core.Wait{Reason: core.WaitRun}, "next", "the end of its channel's run under way"},
		{core.Wait{Reason: core.WaitBehind, Ahead: 1}, "after 1 other", "behind 1 other of its channel"},
		{core.Wait{Reason: core.WaitBehind, Ahead: 12}, "after 12 others", "behind 12 others of its channel"},
		{core.Wait{Reason: core.WaitHeld, Until: soon}, "held until 12:01:00", "held until 12:01:00. “loop queue release” ends that"},
		{core.Wait{Reason: core.WaitDelayed, Until: tomorrow}, "on 2026-03-02 at 12:00", "Starts on 2026-03-02 at 12:00."},
		{core.Wait{Reason: core.WaitLimit}, "when another run ends", "a run in another channel"},
		{core.Wait{Reason: core.WaitQuestion, QuestionID: "q"}, "after your answer", "question. Answer it with: loop answer --question q"},
		{core.Wait{Reason: core.WaitPlan, QuestionID: "q", Until: soon}, "at 12:01:00, after your answer",
			"plan, and starts at 12:01:00 at the earliest. Give it with: loop answer --question q"},
	} {
		cell, says := waitWords(tc.wait, now)
		if cell != tc.cell || !strings.Contains(says, tc.says) || (says == "") != (tc.says == "") {
			t.Errorf("%+v: %q, %q", tc.wait, cell, says)
		}
	}
}

func TestQueueAdd(t *testing.T) {
	q := newQueued(t)
	if code := q.run("queue", "add", "--channel", "App", "--plan", "one", "more"); code != exitOK {
		t.Fatal(code)
	}
	if r := q.fake.request; r.Prompt != "one more" || !r.Plan || r.ChannelID != "p1" || len(r.ClientID) != 32 {
		t.Errorf("%+v", r)
	}
	q.wantIn("out", "waits at place 4 of 4.")
	if code := q.run("queue", "add", "--channel", "Aside", "another"); code != exitOK {
		t.Fatal(code)
	}
	q.wantIn("out", "waits at place 2 of 2.")
	q.wantIn("err", "waits for your answer to the agent's question. Answer it with: loop answer --question q1")
	q.in = "from\na pipe\n"
	if code := q.run("queue", "add", "--dir", q.dir, "--json", "--start-at", "14:00", "-"); code != exitOK {
		t.Fatal(code)
	}
	var run core.Run
	if err := json.Unmarshal(q.out.Bytes(), &run); err != nil || run.Prompt != "from\na pipe" || q.fake.request.DelaySeconds != 7200 {
		t.Errorf("%v %+v", err, q.fake.request)
	}
	if code := q.run("queue", "add", "--channel", "App", "--delay", "3h", "later"); code != exitOK {
		t.Fatal(code)
	}
	q.wantIn("out", "starts at 15:00.")
	if code := q.run("queue", "add", "--channel", "App", "--interrupt", "now"); code != exitUsage || q.fake.request.Prompt == "now" {
		t.Errorf("exit %d", code)
	}
	q.wantIn("err", "No Loop is running that could stop a run.")
	q.serve()
	if code := q.run("queue", "add", "--channel", "App", "--interrupt", "now"); code != exitOK || !q.fake.request.Interrupt {
		t.Errorf("exit %d", code)
	}
	if q.fake.opened != 0 {
		t.Error("a Loop was started that works the queue")
	}
}

func TestQueueStartAt(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 28, 17, 0, 30, 500, berlin) // the clock goes forward that night
	for text, want := range map[string]string{
		"17:30": "2026-03-28T17:30:00+01:00", " 17:01 ": "2026-03-28T17:01:00+01:00", "17:00": "2026-03-29T17:00:00+02:00", "08:15:20": "2026-03-29T08:15:20+02:00",
		"2026-04-01 08:00": "2026-04-01T08:00:00+02:00", "2026-04-01T08:00:30": "2026-04-01T08:00:30+02:00", "2026-04-01T08:00:00Z": "2026-04-01T08:00:00Z",
		"17:00:30": "2026-03-29T17:00:30+02:00",
		"25:00":    "no time", "": "no time", "soon": "no time", "10m": "no time", "2026-03-28 17:00": "is over", "2020-01-01T00:00:00Z": "is over",
	} {
		at, err := startTime(text, now)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && at.Format(time.RFC3339) != want {
			t.Errorf("%q: %v %v, want %s", text, at, err, want)
		}
	}
	// Today lacks 02:30; tomorrow does not.
	if at, err := startTime("02:30", time.Date(2026, 3, 29, 4, 0, 0, 0, berlin)); err != nil || at.Format(time.RFC3339) != "2026-03-30T02:30:00+02:00" {
		t.Errorf("%v %v", at, err)
	}
	f := promptFlags{startAt: "17:30"}
	if req, err := f.request(now); err != nil || req.DelaySeconds != 29*60+30 {
		t.Errorf("%v %+v", err, req)
	}
}

func TestQueueNames(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
		left string
	}{
		"place":             {[]string{"remove", "3"}, exitOK, "Removed bbbbbb", "aa11 aa22"},
		"beginning":         {[]string{"remove", "b"}, exitOK, "third", "aa11 aa22"},
		"whole":             {[]string{"remove", "aaaaaa11"}, exitOK, "first\nthing", "aa22 bb33"},
		"several":           {[]string{"remove", "1", "b", "aaaaaa2"}, exitOK, "Removed bbbbbb", ""},
		"of another":        {[]string{"remove", "ccc"}, exitOK, "aside", "aa11 aa22 bb33"},
		"harmless":          {[]string{"remove", "2"}, exitOK, "second ␛]0;evil␇␛[2J<U+202E>thing", "aa11 bb33"},
		"not there":         {[]string{"remove", "--channel", "App", "ccc"}, exitUsage, "No prompt that waits", "aa11 aa22 bb33"},
		"many":              {[]string{"remove", "aaaaaa"}, exitUsage, "2 prompts that wait", "aa11 aa22 bb33"},
		"twice":             {[]string{"remove", "3", "b"}, exitUsage, "named twice", "aa11 aa22 bb33"},
		"no place":          {[]string{"remove", "4"}, exitUsage, "3 prompts wait", "aa11 aa22 bb33"},
		"place nought":      {[]string{"remove", "0"}, exitUsage, "no place 0", "aa11 aa22 bb33"},
		"none":              {[]string{"remove"}, exitUsage, "the prompt is missing", "aa11 aa22 bb33"},
		"empty":             {[]string{"remove", ""}, exitUsage, "the prompt is empty", "aa11 aa22 bb33"},
		"nothing but space": {[]string{"hold", " "}, exitUsage, "the prompt is empty", "aa11 aa22 bb33"},
		"no command":        {[]string{"twist"}, exitUsage, "there is no “loop queue twist”", "aa11 aa22 bb33"},
		"all and one":       {[]string{"list", "--all", "--channel", "App"}, exitUsage, "do not go together", "aa11 aa22 bb33"},
		"first":             {[]string{"move", "3", "first"}, exitOK, "bbbbbb is at place 1 of 3.", "bb33 aa11 aa22"},
		"last":              {[]string{"move", "1", "last"}, exitOK, "place 3", "aa22 bb33 aa11"},
		"up":                {[]string{"move", "b", "up"}, exitOK, "place 2", "aa11 bb33 aa22"},
		"down":              {[]string{"move", "2", "down"}, exitOK, "place 3", "aa11 bb33 aa22"},
		"up at the top":     {[]string{"move", "1", "up"}, exitOK, "place 1", "aa11 aa22 bb33"},
		"to a number":       {[]string{"move", "1", "2"}, exitOK, "place 2", "aa22 aa11 bb33"},
		"too far":           {[]string{"move", "1", "4"}, exitUsage, "no place 4", "aa11 aa22 bb33"},
		"no number":         {[]string{"move", "1", "-1"}, exitUsage, "", "aa11 aa22 bb33"},
		"sideways":          {[]string{"move", "1", "left"}, exitUsage, "no place", "aa11 aa22 bb33"},
		"no place to go":    {[]string{"move", "1"}, exitUsage, "the place is missing", "aa11 aa22 bb33"},
		"hold":              {[]string{"hold", "1"}, exitOK, "until 12:05:00", "aa11 aa22 bb33"},
		"release":           {[]string{"release", "1"}, exitOK, "is not held", "aa11 aa22 bb33"},
		"steer":             {[]string{"steer", "1"}, exitUsage, "No Loop is running", "aa11 aa22 bb33"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueued(t)
			if code := q.run(append([]string{"queue"}, tc.args...)...); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			where := "out"
			if tc.code != exitOK {
				where = "err"
			}
			q.wantIn(where, tc.says)
			if got := q.order("p1"); got != tc.left {
				t.Errorf("left %q, want %q", got, tc.left)
			}
			if strings.ContainsAny(q.out.String()+q.err.String(), "\x1b\a\u202e") {
				t.Error("a prompt reached the terminal as it is")
			}
		})
	}
}

func TestQueueChangesAsJSON(t *testing.T) {
	q := newQueued(t)
	q.serve()
	var run core.Run
	var runs []core.Run
	for _, tc := range []struct {
		args []string
		into any
		ok   func() bool
	}{
		{[]string{"hold", "1"}, &run, func() bool { return run.ID == "aaaaaa11" && !run.HoldUntil.IsZero() }},
		{[]string{"edit", "1", "new"}, &run, func() bool { return run.Prompt == "new" }},
		{[]string{"steer", "b"}, &run, func() bool { return run.ID == "bbbbbb33" }},
		{[]string{"release", "b"}, &run, func() bool { return run.ID == "bbbbbb33" }},
		{[]string{"move", "b", "1"}, &runs, func() bool { return len(runs) == 3 && runs[0].ID == "bbbbbb33" }},
		{[]string{"remove", "b", "1"}, &runs, func() bool { return false }},
		{[]string{"remove", "b"}, &runs, func() bool { return len(runs) == 1 && runs[0].Prompt == "third" }},
	} {
		code := q.run(append(append([]string{"queue"}, tc.args...), "--json")...)
		if tc.args[0] == "remove" && len(tc.args) == 3 { // both arguments name the same prompt
			if code != exitUsage {
				t.Errorf("exit %d", code)
			}
			continue
		}
		if err := json.Unmarshal(q.out.Bytes(), tc.into); code != exitOK || err != nil || !tc.ok() {
			t.Errorf("%v: exit %d, %v: %s", tc.args, code, err, q.out.String())
		}
	}
}

// TestQueueTooLate: somebody started, removed or moved the prompt meanwhile.
func TestQueueTooLate(t *testing.T) {
	for _, args := range [][]string{{"remove", "1"}, {"edit", "1", "x"}, {"hold", "1"}, {"release", "1"}, {"move", "1", "last"}, {"steer", "1"}} {
		q := newQueued(t)
		q.serve()
		q.before = func(string) { q.drop("aaaaaa11") }
		if code := q.run(append([]string{"queue"}, args...)...); code != exitFailed {
			t.Errorf("%v: exit %d", args, code)
		}
		q.wantIn("err", "Prompt aaaaaa1 has been started or taken out of the queue meanwhile.")
		if q.order("p1") != "aa22 bb33" {
			t.Errorf("%v: left %s", args, q.order("p1"))
		}
	}
	q := newQueued(t)
	q.before = func(string) { q.drop("aaaaaa11") }
	if code := q.run("queue", "remove", "1", "2"); code != exitFailed || q.order("p1") != "bb33" {
		t.Errorf("exit %d, left %s", code, q.order("p1"))
	}
	q.wantIn("out", "Removed aaaaaa2")
	q.wantIn("err", "Prompt aaaaaa1 has been started")

	q = newQueued(t) // a refusal for another reason is shown unchanged
	q.serve()
	q.fake.fails["Runs.Steer"] = core.Fail(core.CodeConflict, nil, "Loop is not looking after this run at the moment.", "Try again.")
	if code := q.run("queue", "steer", "1"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	q.wantIn("err", "Loop is not looking after this run")
}

// TestQueueMoveWhileItChanges: a move is refused when the queue is no longer the one it
// was made for.
func TestQueueMoveWhileItChanges(t *testing.T) {
	q := newQueued(t)
	q.before = func(string) { q.drop("aaaaaa11") }
	if code := q.run("queue", "move", "2", "last"); code != exitFailed || q.order("p1") != "aa22 bb33" {
		t.Errorf("exit %d, left %s", code, q.order("p1"))
	}
	q.wantIn("err", "The queue has changed meanwhile.")
}

func TestQueueEditText(t *testing.T) {
	q := newQueued(t)
	if code := q.run("queue", "edit", "2", "in", "words"); code != exitOK || q.runs[1].Prompt != "in words" {
		t.Errorf("exit %d, %q", code, q.runs[1].Prompt)
	}
	q.wantIn("out", "It said before:\nsecond ␛]0;evil")
	for _, args := range [][]string{{"queue", "edit", "b"}, {"queue", "edit", "b", "-"}} {
		q.in, q.runs[2].Prompt = "a pipe\n", "third"
		if code := q.run(args...); code != exitOK || q.runs[2].Prompt != "a pipe" {
			t.Errorf("exit %d, %q", code, q.runs[2].Prompt)
		}
	}
	for in, says := range map[string]string{"": "prompt is empty", "\xff": "not plain text", "a\x00": "not plain text"} {
		q.in = in
		if code := q.run("queue", "edit", "b", "-"); code != exitUsage || q.runs[2].Prompt != "a pipe" {
			t.Errorf("exit %d", code)
		}
		q.wantIn("err", says)
	}
	q.in = "too late"
	q.before = func(string) { q.drop("bbbbbb33") }
	if code := q.run("queue", "edit", "b", "-"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if text, err := os.ReadFile(q.kept()); err != nil || string(text) != "too late\n" {
		t.Errorf("%q %v", text, err)
	}
}

// kept is the file that a refused text was written to.
func (q *queued) kept() string {
	_, rest, _ := strings.Cut(q.err.String(), "Your text is in ")
	name, _, _ := strings.Cut(rest, ".md")
	return name + ".md"
}

// writes is an editor in which a person leaves this text.
func writes(text string) func(context.Context, string) error {
	return func(_ context.Context, file string) error { return os.WriteFile(file, []byte(text), 0o600) }
}

func (q *queued) leftovers() int {
	list, err := os.ReadDir(os.TempDir())
	if err != nil {
		q.t.Fatal(err)
	}
	return len(list)
}

func TestQueueEditor(t *testing.T) {
	q := newQueued(t)
	q.editor = func(_ context.Context, file string) error {
		q.interrupts <- os.Interrupt // the interrupt is meant for the editor
		if q.held["bbbbbb33"] != 1 {
			t.Error("it is not held")
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		text, err := os.ReadFile(file)
		if err != nil || string(text) != "third\n" {
			t.Errorf("%q %v", text, err)
		}
		return os.WriteFile(file, []byte("third,\nbut better\n"), 0o600)
	}
	if code := q.run("queue", "edit", "3"); code != exitOK || q.runs[2].Prompt != "third,\nbut better" || !q.runs[2].HoldUntil.IsZero() {
		t.Errorf("exit %d, %+v", code, q.runs[2])
	}
	q.wantIn("out", "bbbbbb is changed.")
	if q.leftovers() != 0 {
		t.Error("a file was left behind")
	}
}

func TestQueueEditorComesToNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		editor func(q *queued) func(context.Context, string) error
		before func(q *queued) func(string)
		code   int
		says   string
		text   string // of the named file
	}{
		"as it was": {editor: func(*queued) func(context.Context, string) error { return writes("third\n\n") }, code: exitOK, says: "The text is as it was."},
		"emptied":   {editor: func(*queued) func(context.Context, string) error { return writes(" \n") }, code: exitUsage, says: "prompt is empty", text: " \n"},
		"editor is gone": {editor: func(*queued) func(context.Context, string) error {
			return func(context.Context, string) error { return errFake }
		}, code: exitFailed},
		"editor fails": {editor: func(*queued) func(context.Context, string) error {
			return func(ctx context.Context, f string) error { return errors.Join(writes("half")(ctx, f), errFake) }
		}, code: exitFailed, says: "left as it was", text: "half"},
		"file is removed": {editor: func(*queued) func(context.Context, string) error {
			return func(_ context.Context, f string) error { return os.Remove(f) }
		}, code: exitUsage, says: "left no file"},
		"started": {editor: func(q *queued) func(context.Context, string) error {
			return func(ctx context.Context, f string) error {
				q.mu.Lock()
				defer q.mu.Unlock()
				q.drop("bbbbbb33")
				return writes("late")(ctx, f)
			}
		}, code: exitFailed, says: "Prompt bbbbbb has been started", text: "late"},
		"edited by another": {editor: func(q *queued) func(context.Context, string) error {
			return func(ctx context.Context, f string) error {
				q.mu.Lock()
				defer q.mu.Unlock()
				q.runs[2].Prompt = "theirs"
				return writes("mine")(ctx, f)
			}
		}, code: exitFailed, says: "edited by somebody else", text: "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueued(t)
			q.editor = tc.editor(q)
			if code := q.run("queue", "edit", "--channel", "App", "b"); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			q.wantIn("err", tc.says)
			if i := q.at("bbbbbb33"); i >= 0 && q.runs[i].Prompt != "third" && q.runs[i].Prompt != "theirs" {
				t.Errorf("it says %q", q.runs[i].Prompt)
			}
			if q.held["bbbbbb33"] > 0 && q.at("bbbbbb33") >= 0 {
				t.Error("it is still held")
			}
			if tc.text == "" {
				return
			}
			if text, err := os.ReadFile(q.kept()); err != nil || string(text) != tc.text {
				t.Errorf("%q %v", text, err)
			}
		})
	}
	q := newQueued(t)
	q.editor = func(context.Context, string) error { t.Error("the editor was opened"); return nil }
	q.before = func(string) { q.drop("bbbbbb33") }
	if code := q.run("queue", "edit", "b"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
}
