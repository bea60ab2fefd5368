package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
)

// A step is one call of the store as the story makes it.
type step struct {
	name string
	// at is the step's time after epoch: a step that is done again is done at the
	// same time.
	at time.Duration
	do func(ctx context.Context, s *Store) error
	// twice says that doing it again changes nothing: no second run, no second
	// claim, no second end.
	twice bool
}

// wants is for a step that has to be refused.
func wants(code error, err error) error {
	if errors.Is(err, code) {
		return nil
	}
	if err == nil {
		err = errors.New("it was not refused")
	}
	return err
}

func claims(ch core.ChannelID, want core.RunID) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, _, err := s.ClaimNext(ctx, ch)
		if err == nil && run.ID != want {
			return fmt.Errorf("claimed %q, not %q", run.ID, want)
		}
		return err
	}
}

func queues(run core.Run) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, _, _, err := s.Enqueue(ctx, run, notice(run.ChannelID, run.ID, "asked"))
		return err
	}
}

func appends(run core.RunID, from, to int64, evs ...core.Event) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, err := s.AppendEvents(ctx, run, from, to, evs...)
		return err
	}
}

// ends finishes a run as it is stored.
func ends(id core.RunID, state core.RunState, session core.SessionID) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, err := s.Run(ctx, id)
		if err != nil {
			return err
		}
		run.State, run.EndedAt, run.Outcome.SessionID = state, s.now(), session
		_, err = s.FinishRun(ctx, run, notice(run.ChannelID, id, "ended"))
		return err
	}
}

func runs(id core.RunID, attempt int) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, err := s.Run(ctx, id)
		if err != nil {
			return err
		}
		run.State, run.StartedAt, run.Attempt.Number = core.RunRunning, s.now(), attempt
		run.SpawnID, run.ContainerID = core.SpawnID(fmt.Sprint(id, attempt)), "box"
		_, err = s.UpdateRun(ctx, run, notice(run.ChannelID, id, "began"))
		return err
	}
}

// story uses every call that writes.
func story() []step {
	const hour = time.Hour
	ch := func(id core.ChannelID) core.Channel {
		return core.Channel{ID: id, Kind: core.KindProject, Name: string(id), Dir: "/" + string(id), DemoSessionID: "d0", CreatedAt: epoch}
	}
	run := func(id core.RunID, ch core.ChannelID) core.Run {
		return core.Run{ID: id, ChannelID: ch, Prompt: "do " + string(id), CreatedAt: epoch}
	}
	later, scripted := run("later", "c"), run("scripted", "c")
	later.NotBefore, scripted.Demo = epoch.Add(30*hour), true
	cont := run("cont", "")
	return []step{
		{"add channel", 0, func(ctx context.Context, s *Store) error { return s.AddChannel(ctx, ch("c")) }, true},
		{"add another", 0, func(ctx context.Context, s *Store) error { return s.AddChannel(ctx, ch("k")) }, true},
		{"rename", 0, func(ctx context.Context, s *Store) error { return s.RenameChannel(ctx, "k", "new") }, true},
		{"enqueue a", 0, queues(run("a", "c")), true},
		{"enqueue b", 0, queues(run("b", "c")), true},
		{"enqueue unwanted", 0, queues(run("unwanted", "c")), true},
		{"enqueue the id again", 0, queues(run("a", "c")), true},
		{"enqueue another prompt with the id", 0, func(ctx context.Context, s *Store) error {
			other := run("a", "c")
			other.Prompt = "something else"
			return wants(core.ErrConflict, queues(other)(ctx, s))
		}, true},
		{"enqueue nowhere", 0, func(ctx context.Context, s *Store) error {
			return wants(core.ErrNotFound, queues(run("lost", "nowhere"))(ctx, s))
		}, true},
		{"hold", 0, func(ctx context.Context, s *Store) error {
			_, err := s.HoldQueued(ctx, "b", epoch.Add(5*time.Minute))
			return err
		}, true},
		{"edit", 0, func(ctx context.Context, s *Store) error {
			_, _, err := s.EditQueued(ctx, "b", "do better", notice("c", "b", "edited"))
			return err
		}, false},
		{"promote", 0, func(ctx context.Context, s *Store) error { _, err := s.PromoteQueued(ctx, "b"); return err }, false},
		{"reorder", 0, func(ctx context.Context, s *Store) error {
			_, err := s.ReorderQueue(ctx, "c", []core.RunID{"a", "b", "unwanted"})
			return err
		}, true},
		{"reorder what is not the queue", 0, func(ctx context.Context, s *Store) error {
			_, err := s.ReorderQueue(ctx, "c", []core.RunID{"b", "a"})
			return wants(core.ErrConflict, err)
		}, true},
		{"remove from the queue", 0, ends("unwanted", core.RunCancelled, ""), true},
		{"begin with a fork", 0, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", false, core.SessionStart{Mode: core.SessionFork, SessionID: "old"})
		}, true},
		{"claim a", hour, claims("c", "a"), true},
		{"claim beside a run", hour, claims("c", ""), true},
		{"start a", hour, runs("a", 1), false},
		{"start a again", hour, runs("a", 2), false},
		{"output of a", hour, appends("a", 0, 10, notice("c", "a", "turn"), notice("c", "a", "tool")), true},
		{"a asks", hour, appends("a", 10, 20, asked("c", "a", "q1")), true},
		{"the same output", hour, func(ctx context.Context, s *Store) error {
			return wants(core.ErrConflict, appends("a", 0, 10, notice("c", "a", "turn"))(ctx, s))
		}, true},
		{"a is done", hour, ends("a", core.RunDone, "s1"), true},
		{"claim while parked", 2 * hour, claims("c", ""), true},
		{"answer", 2 * hour, func(ctx context.Context, s *Store) error {
			_, _, _, err := s.AnswerQuestion(ctx, "q1", core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"this"}}}, &cont, notice("c", "a", "answered"))
			return err
		}, true},
		{"answer twice", 2 * hour, func(ctx context.Context, s *Store) error {
			other := run("cont2", "")
			_, _, _, err := s.AnswerQuestion(ctx, "q1", core.Answer{Action: core.AnswerCancel}, &other)
			return wants(core.ErrConflict, err)
		}, true},
		{"claim the continuation", 2 * hour, claims("c", "cont"), true},
		{"start it", 2 * hour, runs("cont", 1), false},
		{"it asks", 2 * hour, appends("cont", 0, 7, asked("c", "cont", "q2")), true},
		{"resume another meanwhile", 2 * hour, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", false, core.SessionStart{Mode: core.SessionResume, SessionID: "older"})
		}, true},
		{"it is interrupted", 2 * hour, ends("cont", core.RunInterrupted, "s2"), true},
		{"cancel its question", 2 * hour, func(ctx context.Context, s *Store) error {
			_, _, _, err := s.AnswerQuestion(ctx, "q2", core.Answer{Action: core.AnswerCancel}, nil)
			return err
		}, true},
		{"claim b", 2 * hour, claims("c", "b"), true},
		{"b could not start", 2 * hour, func(ctx context.Context, s *Store) error {
			b, err := s.Run(ctx, "b")
			if err != nil {
				return err
			}
			b.State = core.RunQueued
			_, err = s.UpdateRun(ctx, b)
			return err
		}, false},
		{"claim b again", 3 * hour, claims("c", "b"), true},
		{"b is done", 3 * hour, ends("b", core.RunDone, "s3"), true},
		{"enqueue later", 3 * hour, queues(later), true},
		{"claim with the clock back a day", -21 * hour, claims("c", ""), false},
		{"claim later", 9*hour + 1, claims("c", "later"), true},
		{"later fails", 9 * hour, ends("later", core.RunFailed, "s4"), true},
		{"another session", 9 * hour, func(ctx context.Context, s *Store) error { return s.SetChannelSession(ctx, "c", false, "s5") }, true},
		{"another demo session", 9 * hour, func(ctx context.Context, s *Store) error { return s.SetChannelSession(ctx, "c", true, "d1") }, true},
		{"begin the demo afresh", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", true, core.SessionStart{Mode: core.SessionFresh})
		}, true},
		{"enqueue a demo", 9 * hour, queues(scripted), true},
		{"claim it", 9 * hour, claims("c", "scripted"), true},
		{"the demo is done", 9 * hour, ends("scripted", core.RunDone, "d2"), true},
		{"reserve a container", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.ReserveContainer(ctx, core.Container{Name: "box", ChannelID: "c", Type: core.TypeAgent})
		}, true},
		{"its id", 9 * hour, func(ctx context.Context, s *Store) error { return s.SetContainerID(ctx, "box", "1234") }, true},
		{"its status", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.SetContainerStatus(ctx, "box", core.ContainerStopped, epoch.Add(20*hour))
		}, true},
		{"it is gone", 9 * hour, func(ctx context.Context, s *Store) error { return s.DropContainer(ctx, "box") }, true},
		{"events", 9 * hour, func(ctx context.Context, s *Store) error {
			_, err := s.AddEvents(ctx, notice("k", "", "one"), notice("k", "", "two"))
			return err
		}, false},
		{"remove channel", 9 * hour, func(ctx context.Context, s *Store) error { return s.RemoveChannel(ctx, "k") }, true},
	}
}

// opened is a store whose clock and faults the test holds.
type opened struct {
	*Store
	f   *faults
	now time.Time
}

func openFaulty(t *testing.T, path string, f *faults) *opened {
	t.Helper()
	faulty.byPath.Store(path, f)
	o := &opened{f: f}
	var err error
	if o.Store, err = Open(context.Background(), path, Options{Now: func() time.Time { return o.now }, driver: "sqlite with faults"}); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *opened) close(t *testing.T) {
	t.Helper()
	faulty.byPath.Delete(o.Path())
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func (o *opened) do(st step) error {
	o.now = epoch.Add(st.at)
	return st.do(context.Background(), o.Store)
}

// goOn takes the steps from first to the end and compares what is there then.
func (o *opened) goOn(t *testing.T, steps []step, dumps []string, first int) {
	t.Helper()
	for _, st := range steps[first:] {
		if err := o.do(st); err != nil {
			t.Fatalf("%s, afterwards: %v", st.name, err)
		}
	}
	if got := o.dump(t); got != dumps[len(steps)] {
		t.Fatalf("another end:\n%s\nwant\n%s", got, dumps[len(steps)])
	}
}

// dump is everything in the database but its own name.
func (o *opened) dump(t *testing.T) string {
	t.Helper()
	return dump(t, o.reader)
}

func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"channels", "runs", "events", "questions", "containers"} {
		list, err := db.Query("select * from " + table + " order by 1")
		if err != nil {
			t.Fatal(err)
		}
		cols, err := list.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for list.Next() {
			row := make([]any, len(cols))
			for i := range row {
				row[i] = new(any)
			}
			if err := list.Scan(row...); err != nil {
				t.Fatal(err)
			}
			b.WriteString(table)
			for i, v := range row {
				fmt.Fprintf(&b, " %s=%v", cols[i], *v.(*any))
			}
			b.WriteByte('\n')
		}
		if err := errors.Join(list.Err(), list.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// copyDatabase takes what a killed process leaves: the file and its log as they
// are at this moment.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(from + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+end, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// killed is a copy of the database taken at one point of one step.
type killed struct {
	path, site    string
	step, n       int
	after, commit bool
}

// TestACrashAtEveryCall: at every begin, statement and commit of every call that
// writes, before and after it took effect, Loop is killed (a copy of the files
// is opened) or the call fails. The step is there as a whole or not at all, and
// the rest of the story ends the same: nothing is lost and nothing done twice.
func TestACrashAtEveryCall(t *testing.T) {
	steps := story()
	dir := t.TempDir()
	sites := map[string]int{}
	var copies []killed
	dumps := make([]string, len(steps)+1)
	calls := make([]int, len(steps))
	commits := make([]int, len(steps)) // which of the calls is the commit, 0 without one
	before := make([]string, len(steps))

	f := &faults{}
	whole := openFaulty(t, filepath.Join(dir, "whole", "loop.db"), f)
	dumps[0] = whole.dump(t)
	for i, st := range steps {
		before[i] = filepath.Join(dir, fmt.Sprint("before", i), "loop.db")
		copyDatabase(t, whole.Path(), before[i])
		f.look = func(n int, after, commit bool, site string) {
			sites[site]++
			if commit {
				commits[i] = n
			}
			if !after && n > 1 {
				return // the same moment as after the call before
			}
			k := killed{filepath.Join(dir, fmt.Sprint("killed", len(copies)), "loop.db"), site, i, n, after, commit}
			copyDatabase(t, whole.Path(), k.path)
			copies = append(copies, k)
		}
		f.arm(0, false)
		if err := whole.do(st); err != nil {
			t.Fatalf("%s: %v", st.name, err)
		}
		calls[i], _ = f.disarm()
		dumps[i+1] = whole.dump(t)
	}
	whole.close(t)

	for _, k := range copies {
		raw, err := sql.Open("sqlite", dsn(k.path, ""))
		if err != nil {
			t.Fatal(err)
		}
		next, got := k.step, dump(t, raw)
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		if k.after && k.commit {
			next++
		}
		if got != dumps[next] {
			t.Fatalf("killed in %s, call %d at %s, after %v: neither there nor not there:\n%s", steps[k.step].name, k.n, k.site, k.after, got)
		}
		if !k.commit {
			continue // what was there before the step; the story's own end shows how it goes on
		}
		o := openFaulty(t, k.path, &faults{})
		if next > k.step && steps[k.step].twice {
			_ = o.do(steps[k.step]) // an error is fine, a second effect is not
			if got := o.dump(t); got != dumps[next] {
				t.Fatalf("%s was done twice:\n%s\nwant\n%s", steps[k.step].name, got, dumps[next])
			}
		}
		o.goOn(t, steps, dumps, next)
		o.close(t)
		if err := os.RemoveAll(filepath.Dir(k.path)); err != nil {
			t.Fatal(err)
		}
	}

	points := 0
	for i, st := range steps {
		o := openFaulty(t, before[i], &faults{})
		next := i
		for n := 1; n <= calls[i]; n++ {
			for _, after := range []bool{false, true} {
				points++
				o.f.arm(n, after)
				err := o.do(st)
				if _, hit := o.f.disarm(); !hit {
					t.Fatalf("%s: call %d did not come", st.name, n)
				}
				if !errors.Is(err, errFault) {
					t.Fatalf("%s, call %d fails and the caller is told %v", st.name, n, err)
				}
				if n == commits[i] && after {
					next++ // the last of them
				}
				if got := o.dump(t); got != dumps[next] {
					t.Fatalf("%s, call %d failed, after %v: neither there nor not there:\n%s", st.name, n, after, got)
				}
			}
		}
		o.goOn(t, steps, dumps, next)
		o.close(t)
	}
	t.Logf("%d steps, %d kills, %d failures, %d call sites", len(steps), len(copies), points, len(sites))
	for _, site := range writes(t) {
		if sites[site] == 0 {
			t.Errorf("nothing crashed at %s", site)
		}
	}
}

// TestAKillWhileOpening: a database that is being made or brought up to date is
// complete after the next start, with what was in it.
func TestAKillWhileOpening(t *testing.T) {
	dir := t.TempDir()
	var copies []string
	path := filepath.Join(dir, "new", "loop.db")
	f := &faults{}
	f.look = func(int, bool, bool, string) {
		to := filepath.Join(dir, fmt.Sprint("killed", len(copies)), "loop.db")
		copyDatabase(t, path, to)
		copies = append(copies, to)
	}
	f.arm(0, false)
	openFaulty(t, path, f).close(t)
	f.disarm()
	if len(copies) < 10 {
		t.Fatalf("only %d calls", len(copies))
	}
	for _, p := range copies {
		s := openAt(t, p)
		addChannel(t, s, "c")
		if s.InstallID() == "" {
			t.Error("no name")
		}
	}
}

// writes are the places in this package's source that run a statement inside a
// transaction, begin one or commit one.
func writes(t *testing.T) (out []string) {
	t.Helper()
	queries := map[string]bool{}
	for m := range reflect.TypeFor[*rows.Queries]().Methods() {
		queries[m.Name] = m.Name != "WithTx" && m.Name != "Close"
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			on, _ := method.X.(*ast.Ident)
			if on != nil && on.Name == "q" && queries[method.Sel.Name] || method.Sel.Name == "BeginTx" || on != nil && on.Name == "tx" && method.Sel.Name == "Commit" {
				out = append(out, fmt.Sprintf("%s:%d", name, fset.Position(method.Sel.Pos()).Line))
			}
			return true
		})
	}
	if len(out) < 30 {
		t.Fatalf("found only %d", len(out))
	}
	return out
}
