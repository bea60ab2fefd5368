package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("LOOP_STORE_CRASH_DB"); path != "" {
		crashChild(path)
		return
	}
	goleak.VerifyTestMain(leaktest.Patient(m))
}

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, Options{Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func open(t testing.TB) *Store {
	return openAt(t, filepath.Join(t.TempDir(), "loop home", "loop.db"))
}

func addChannel(t testing.TB, s *Store, id core.ChannelID) core.Channel {
	t.Helper()
	c := core.Channel{ID: id, Kind: core.KindProject, Name: string(id), Dir: "/repo/" + string(id), CreatedAt: epoch}
	if err := s.AddChannel(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func enqueue(t testing.TB, s *Store, r core.Run) core.Run {
	t.Helper()
	got, _, created, err := s.Enqueue(context.Background(), r)
	if err != nil || !created {
		t.Fatalf("enqueue %s: created %v, %v", r.ID, created, err)
	}
	return got
}

func notice(ch core.ChannelID, run core.RunID, text string) core.Event {
	return core.NewEvent(core.EventNotice, ch, run, epoch, core.Notice{Level: "info", Text: text})
}

// runEvents returns the stored events of a run, oldest first.
func runEvents(ctx context.Context, s *Store, id core.RunID) ([]core.Event, error) {
	run, err := s.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	list, _, err := s.Timeline(ctx, run.ChannelID, 0, maxPage)
	return slices.DeleteFunc(list, func(e core.Event) bool { return e.RunID != id }), err
}

func TestFilesArePrivateWhateverThePath(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the folder's ACL decides there
	}
	dir := filepath.Join(t.TempDir(), `odd ?#% "name" é`)
	s := openAt(t, filepath.Join(dir, "loop.db"))
	addChannel(t, s, "c")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]os.FileMode{}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Name()] = fi.Mode().Perm()
	}
	for _, name := range []string{"loop.db", "loop.db-wal", "loop.db-shm"} {
		if seen[name] != 0o600 {
			t.Errorf("%s has mode %v; all files: %v", name, seen[name], seen)
		}
	}
	if fi, _ := os.Stat(dir); fi.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %v", fi.Mode().Perm())
	}
}

func TestSQLiteIsNewEnoughAndSetUpAsPromised(t *testing.T) {
	s := open(t)
	ask := func(q string) (v string) {
		if err := s.writer.QueryRow(q).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	var a, b, c int
	if fmt.Sscanf(ask("select sqlite_version()"), "%d.%d.%d", &a, &b, &c); a*1e6+b*1e3+c < 3051003 {
		t.Errorf("SQLite %d.%d.%d can damage a WAL database; 3.51.3 is the first that cannot", a, b, c)
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "5000", "foreign_keys": "1"} {
		if got := ask("pragma " + pragma); got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	if _, err := s.reader.Exec("delete from meta"); err == nil {
		t.Error("a reading connection can write")
	}
}

func TestChannelsComeBackWhole(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "loop.db")
	s := openAt(t, path)
	want := core.Channel{ID: "a", ParentID: "p", Kind: core.KindThread, Name: "naïve", Dir: "/with\nnewline", SessionID: "s", CreatedAt: epoch.Local()}
	if err := s.AddChannel(ctx, want); err != nil {
		t.Fatal(err)
	}
	if err := s.AddChannel(ctx, want); !errors.Is(err, core.ErrConflict) {
		t.Errorf("second channel with the id: %v", err)
	}
	install := s.InstallID()
	s.Close()

	s = openAt(t, path)
	if s.InstallID() != install || len(install) != 32 {
		t.Errorf("install id %q became %q", install, s.InstallID())
	}
	got, err := s.Channel(ctx, "a")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if err := s.RenameChannel(ctx, "a", "new"); err != nil {
		t.Fatal(err)
	}
	thread := core.Channel{ID: "t", ParentID: "a", StateID: "a", Kind: core.KindThread, Name: "t"}
	if err := s.AddChannel(ctx, thread); err != nil {
		t.Fatal(err)
	}
	if err := s.SetChannelChoices(ctx, "a", core.ChannelChoices{AgentID: "dev", ExtraDirs: []string{"/x"}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []core.ChannelID{"a", "t"} {
		if ch, err := s.Channel(ctx, id); err != nil || ch.Choices.AgentID != "dev" || len(ch.Choices.ExtraDirs) != map[core.ChannelID]int{"a": 1}[id] {
			t.Errorf("%s has the agent %q, %v", id, ch.Choices.AgentID, err)
		}
	}
	if err := s.RemoveChannel(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if err := s.SetChannelChoices(ctx, "none", core.ChannelChoices{}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("agent of nothing: %v", err)
	}
	if err := s.RenameChannel(ctx, "none", "new"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("rename of nothing: %v", err)
	}
	if list, _ := s.Channels(ctx); len(list) != 1 || list[0].Name != "new" {
		t.Errorf("channels: %+v", list)
	}
	if err := s.RemoveChannel(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Channel(ctx, "a"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("removed channel: %v", err)
	}
}

func TestEnqueueIsIdempotentByID(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	run := core.Run{ID: "r", ChannelID: "c", Prompt: "hello", AuthorID: "me", Demo: true, Script: "x", Priority: 3, CreatedAt: epoch}
	first, evs, created, err := s.Enqueue(ctx, run, notice("c", "r", "asked"))
	if err != nil || !created || len(evs) != 1 || evs[0].ID == 0 || first.State != core.RunQueued {
		t.Fatalf("%+v %+v %v %v", first, evs, created, err)
	}
	again, evs, created, err := s.Enqueue(ctx, run, notice("c", "r", "asked"))
	if err != nil || created || len(evs) != 0 || !reflect.DeepEqual(again, first) {
		t.Fatalf("second: %+v %+v %v %v", again, evs, created, err)
	}
	run.Prompt = "other"
	if _, _, _, err := s.Enqueue(ctx, run); !errors.Is(err, core.ErrConflict) {
		t.Errorf("id taken by another prompt: %v", err)
	}
	if _, _, _, err := s.Enqueue(ctx, core.Run{ID: "r2", ChannelID: "none"}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("unknown channel: %v", err)
	}
	if list, more, _ := s.Timeline(ctx, "c", 0, 10); len(list) != 1 || more {
		t.Errorf("timeline has %d events", len(list))
	}
}

func TestClaimTakesTheRightRunOnce(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "low", ChannelID: "c"})
	enqueue(t, s, core.Run{ID: "later", ChannelID: "c", Priority: 9, NotBefore: epoch.Add(time.Second)})
	enqueue(t, s, core.Run{ID: "high", ChannelID: "c", Priority: 1})
	enqueue(t, s, core.Run{ID: "low2", ChannelID: "c"})

	var won sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r, ok, err := s.ClaimNext(ctx, "c"); err != nil {
				t.Error(err)
			} else if ok {
				won.Store(r.ID, r)
			}
		})
	}
	wg.Wait()
	n := 0
	won.Range(func(k, v any) bool {
		n++
		if r := v.(core.Run); r.ID != "high" || r.State != core.RunStarting || !r.StartedAt.Equal(epoch) {
			t.Errorf("claimed %+v", r)
		}
		return true
	})
	if n != 1 {
		t.Fatalf("%d claims succeeded, want 1", n)
	}
	for _, want := range []core.RunID{"high", "low", "low2"} {
		if want != "high" {
			r, ok, err := s.ClaimNext(ctx, "c")
			if err != nil || !ok || r.ID != want {
				t.Fatalf("claimed %v %v %v, want %s", r.ID, ok, err, want)
			}
		}
		if _, err := s.FinishRun(ctx, core.Run{ID: want, State: core.RunFailed}); err != nil {
			t.Fatal(err)
		}
	}
	if r, ok, _ := s.ClaimNext(ctx, "c"); ok {
		t.Errorf("claimed %s before it was due", r.ID)
	}
	if q, _ := s.QueueLengths(ctx); q["c"] != 1 {
		t.Errorf("queue lengths %v", q)
	}
}

func TestOnlyLegalSteps(t *testing.T) {
	ctx := context.Background()
	all := []core.RunState{core.RunQueued, core.RunStarting, core.RunRunning, core.RunDone, core.RunFailed, core.RunCancelled, core.RunInterrupted}
	s := open(t)
	for _, from := range all {
		for _, to := range all {
			id := fmt.Sprint(from, "-", to) // a channel for each, since it has one run under way
			addChannel(t, s, core.ChannelID(id))
			r := enqueue(t, s, core.Run{ID: core.RunID(id), ChannelID: core.ChannelID(id)})
			if _, err := s.writer.Exec("update runs set state = ? where id = ?", string(from), id); err != nil {
				t.Fatal(err)
			}
			r.State = to
			var err error
			if to.Terminal() {
				_, err = s.FinishRun(ctx, r)
			} else {
				_, err = s.UpdateRun(ctx, r)
			}
			ok := legal(from, to) || (from == to && !from.Terminal())
			if ok != (err == nil) || (err != nil && !errors.Is(err, core.ErrConflict)) {
				t.Errorf("%s to %s: %v, want legal %v", from, to, err, ok)
			}
			got, _ := s.Run(ctx, r.ID)
			if want := map[bool]core.RunState{true: to, false: from}[ok]; got.State != want {
				t.Errorf("%s to %s left the run %s", from, to, got.State)
			}
		}
	}
}

func TestAppendAndFinish(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "r", ChannelID: "c", CreatedAt: epoch})
	if _, err := s.AppendEvents(ctx, "r", 0, 1, notice("c", "r", "early")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("append to a queued run: %v", err)
	}
	run, _, _ := s.ClaimNext(ctx, "c")
	run.State, run.ContainerID, run.SpawnID = core.RunRunning, "box", "spawn"
	if _, err := s.UpdateRun(ctx, run, notice("c", "r", "running")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendEvents(ctx, "r", 0, 10, notice("c", "r", "one"), notice("c", "r", "two")); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{0, 11} {
		if _, err := s.AppendEvents(ctx, "r", from, 20, notice("c", "r", "twice")); !errors.Is(err, core.ErrConflict) {
			t.Errorf("append from %d: %v", from, err)
		}
	}
	if _, err := s.AppendEvents(ctx, "r", 10, 9); !errors.Is(err, core.ErrConflict) {
		t.Errorf("backwards: %v", err)
	}
	if _, err := s.AppendEvents(ctx, "none", 0, 9); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("unknown run: %v", err)
	}
	if err := s.RemoveChannel(ctx, "c"); !errors.Is(err, core.ErrConflict) {
		t.Errorf("removing a channel under way: %v", err)
	}
	got, err := s.Run(ctx, "r")
	if err != nil || got.SpoolOffset != 10 || got.ContainerID != "box" || got.SpawnID != "spawn" {
		t.Errorf("run is %+v, %v", got, err)
	}
	got.State, got.EndedAt = core.RunDone, epoch.Add(time.Minute)
	used := core.Usage{
		Cost:    core.Cost{CostUSD: 0.25},
		Models:  []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Input: 1000, Output: 200}, CostUSD: 0.25, Window: 5000}},
		Context: core.Context{Used: 1000, Window: 5000}, SessionUSD: 2.5,
	}
	got.Outcome = core.Outcome{Text: "done", SessionID: "s1", DurationMs: 1500, Duration: 1500 * time.Millisecond, NumTurns: 2, Usage: used}
	evs, err := s.FinishRun(ctx, got, notice("c", "r", "end"))
	if err != nil || len(evs) != 1 {
		t.Fatal(evs, err)
	}
	if _, err := s.FinishRun(ctx, got, notice("c", "r", "end")); !errors.Is(err, core.ErrConflict) {
		t.Errorf("second finish: %v", err)
	}
	back, _ := s.Run(ctx, "r")
	if !reflect.DeepEqual(back.Outcome, got.Outcome) || back.State != core.RunDone || !back.EndedAt.Equal(got.EndedAt) {
		t.Errorf("finished run %+v, want %+v", back, got)
	}
	if c, _ := s.Channel(ctx, "c"); c.SessionID != "s1" || c.Context != used.Context {
		t.Errorf("session %q, context %+v", c.SessionID, c.Context)
	}
	if sum, err := s.CostSince(ctx, epoch); err != nil || sum != (core.DayCost{Cost: core.Cost{CostUSD: 0.25}, LastEventID: evs[0].ID}) {
		t.Errorf("cost %v, %v", sum, err)
	}
	if usd, err := s.SessionCost(ctx, "s1"); err != nil || usd != 2.5 {
		t.Errorf("session cost %v, %v", usd, err)
	}
	if _, err := s.SessionCost(ctx, "other"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("cost of an unknown session: %v", err)
	}
	if rates, err := s.ModelRates(ctx); err != nil || len(rates) != 1 || rates["m"] != (core.ModelRate{InputUSD: 0.25 / 2000, Window: 5000}) {
		t.Errorf("rates %v, %v", rates, err)
	}

	list, more, err := s.Timeline(ctx, "c", 0, 3)
	if err != nil || !more || len(list) != 3 || !strings.Contains(string(list[2].Data), "end") || list[0].ID >= list[1].ID {
		t.Errorf("timeline %v %v %v", list, more, err)
	}
	list, more, err = s.Timeline(ctx, "c", list[0].ID, 3)
	if err != nil || more || len(list) != 1 || !strings.Contains(string(list[0].Data), "running") {
		t.Errorf("older timeline %v %v %v", list, more, err)
	}
	if m, err := s.Activity(ctx); err != nil || m["c"].LastEventID != evs[0].ID || m["c"].Last == nil || m["c"].Last.ID != "r" {
		t.Errorf("activity %+v %v", m, err)
	}
	if list, err := runEvents(ctx, s, "r"); err != nil || len(list) != 4 {
		t.Errorf("run events %v %v", list, err)
	}
	if list, err := s.ListRuns(ctx, "", 10, core.RunDone, core.RunFailed); err != nil || len(list) != 1 {
		t.Errorf("list runs %v %v", list, err)
	}
	if list, err := s.ListRuns(ctx, "c", 10, core.RunFailed); err != nil || len(list) != 0 {
		t.Errorf("list runs %v %v", list, err)
	}
}

func TestOnlySuccessReplacesTheSession(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	if err := s.SetChannelSession(ctx, "c", false, "old"); err != nil {
		t.Fatal(err)
	}
	for i, st := range []core.RunState{core.RunFailed, core.RunCancelled, core.RunInterrupted} {
		id := core.RunID(fmt.Sprint(i))
		enqueue(t, s, core.Run{ID: id, ChannelID: "c"})
		if _, ok, err := s.ClaimNext(ctx, "c"); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := s.FinishRun(ctx, core.Run{ID: id, State: st, Outcome: core.Outcome{SessionID: "new"}}); err != nil {
			t.Fatal(err)
		}
	}
	if c, _ := s.Channel(ctx, "c"); c.SessionID != "old" {
		t.Errorf("session became %q", c.SessionID)
	}
}

func TestPromptHistoryIsDistinctNewestFirst(t *testing.T) {
	s := open(t)
	addChannel(t, s, "c")
	for i, p := range []string{"a", "b", "a", "c"} {
		enqueue(t, s, core.Run{ID: core.RunID(fmt.Sprint(i)), ChannelID: "c", Prompt: p})
	}
	got, err := s.PromptHistory(context.Background(), "c", "", 2)
	if err != nil || fmt.Sprint(got) != "[c a]" {
		t.Errorf("history %v, %v", got, err)
	}
	enqueue(t, s, core.Run{ID: "x", ChannelID: "c", Prompt: "Fix the 100% Login"})
	for query, want := range map[string]string{"LOGIN": "[Fix the 100% Login]", "0%": "[Fix the 100% Login]", "%": "[Fix the 100% Login]", "_": "[]"} {
		if got, err := s.PromptHistory(context.Background(), "c", query, 9); err != nil || fmt.Sprint(got) != want {
			t.Errorf("history of %q: %v, %v", query, got, err)
		}
	}
}

// TestAModelOfOnePrompt: what one prompt was asked for is kept with it, and the store knows
// which model its conversation goes back to.
func TestAModelOfOnePrompt(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	for i, r := range []core.Run{
		{Outcome: core.Outcome{Model: "answered", Chosen: "usual-1", SessionID: "s"}},
		{Outcome: core.Outcome{Model: "sonnet-1", SessionID: "s"}, Model: "sonnet", Effort: "max"},
	} {
		r.ID, r.ChannelID, r.Prompt, r.State = core.RunID(fmt.Sprint(i)), "c", "x", core.RunDone
		r.Outcome.Commands = []string{"init"}
		enqueue(t, s, r)
		if _, _, err := s.EditQueued(ctx, r.ID, "y"); err != nil {
			t.Fatal(err)
		}
		got, ok, err := s.ClaimNext(ctx, "c")
		if !ok || err != nil || got.Model != r.Model || got.Effort != r.Effort {
			t.Fatalf("%+v %v %v", got, ok, err)
		}
		if i == 1 {
			if asked, _, err := s.SessionModel(ctx, "c", "s"); asked != "" || err != nil {
				t.Errorf("before: %q %v", asked, err)
			}
		}
		if _, err := s.FinishRun(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	if asked, usual, err := s.SessionModel(ctx, "c", "s"); asked != "sonnet" || usual != "usual-1" || err != nil {
		t.Errorf("%q %q %v", asked, usual, err)
	}
	if _, _, err := s.SessionModel(ctx, "c", "other"); !errors.Is(err, core.ErrNotFound) {
		t.Error(err)
	}
	if c, err := s.Channel(ctx, "c"); err != nil || fmt.Sprint(c.Commands) != "[init]" {
		t.Errorf("%v %v", c.Commands, err)
	}
}

func TestContainerRows(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	c := core.Container{Key: "k", Name: "loop-x-1", ChannelID: "c", RunID: "r", Type: core.TypeAgent, Image: "i", Hash: "h",
		Scope: "session:c", Fixed: "f", Rights: "g", LastUsedAt: epoch.Local(), Life: core.Life{Idle: time.Hour, Age: 48 * time.Hour}, Memory: 1 << 30,
		Why: "takes the place of another"}
	run, term := core.Holder{Kind: core.HolderRun, ID: "r"}, core.Holder{Kind: core.HolderTerminal, ID: "t"}
	if err := s.ReserveContainer(ctx, c, run); err != nil {
		t.Fatal(err)
	}
	if err := s.ReserveContainer(ctx, c, run); !errors.Is(err, core.ErrConflict) {
		t.Errorf("second reservation: %v", err)
	}
	other := core.Container{Key: "k2", Name: c.Name, Type: core.TypeShell} // the name passes to another container
	if err := s.ReserveContainer(ctx, other, core.Holder{}); err != nil {
		t.Fatal(err)
	}
	if err := s.DropContainer(ctx, other.Key); err != nil {
		t.Fatal(err)
	}
	at := epoch.Add(300 * time.Second).Local()
	as := func(st core.ContainerStatus, removeAt time.Time) core.Container {
		c.ID, c.Status, c.CreatedAt, c.RemoveAt = "id1", st, epoch.Local(), removeAt
		return c
	}
	c.Scope, c.Name, c.LastUsedAt, c.Why = "", "loop-x-2", at, "was drained" // drained, and used once more
	if err := s.UpdateContainer(ctx, as(core.ContainerPendingRemoval, at)); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateContainer(ctx, core.Container{Key: c.Key, Status: "nonsense"}); !errors.Is(err, core.ErrConflict) {
		t.Errorf("unknown status: %v", err)
	}
	want := func(st core.ContainerStatus, removeAt time.Time, holders ...core.Holder) {
		t.Helper()
		c := as(st, removeAt)
		list, leases, err := s.Containers(ctx)
		if err != nil || len(list) != 1 || list[0] != c {
			t.Errorf("got %+v %v, want %+v", list, err, c)
		}
		var held []core.Holder
		for _, l := range leases {
			held = append(held, l.Holder)
		}
		if !slices.Equal(held, holders) {
			t.Errorf("held by %v, want %v", held, holders)
		}
	}
	want(core.ContainerPendingRemoval, at, run)
	for range 2 { // holding twice is allowed
		l := core.Lease{Container: c.Key, Holder: term, TakenAt: epoch.Add(time.Second)}
		if err := s.HoldContainer(ctx, l, as(core.ContainerRunning, time.Time{})); err != nil {
			t.Fatal(err)
		}
	}
	want(core.ContainerRunning, time.Time{}, run, term)
	for range 2 {
		if err := s.ReleaseContainer(ctx, run, as(core.ContainerRunning, at)); err != nil {
			t.Fatal(err)
		}
	}
	want(core.ContainerRunning, at, term)
	none := core.Container{Key: "none", Status: core.ContainerRunning}
	if err := s.HoldContainer(ctx, core.Lease{Container: "none", Holder: term}, none); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a lease of nothing: %v", err)
	}
	for range 2 {
		if err := s.DropContainer(ctx, c.Key); err != nil {
			t.Fatal(err)
		}
	}
	if list, leases, err := s.Containers(ctx); err != nil || len(list)+len(leases) != 0 {
		t.Errorf("left: %v %v %v", list, leases, err)
	}
	if err := s.UpdateContainer(ctx, none); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a step of nothing: %v", err)
	}
}

// TestRowsGetKeysAndHolders: containers from before leases keep their rows.
func TestRowsGetKeysAndHolders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loop.db")
	earlier(t, path, 3)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range map[string]string{
		"run": "'i1', 'c', 'r', 'agent', 'running', 0", "ended": "'i2', 'c', 'r2', 'agent', 'pending-removal', 9",
		"shell": "'i3', 'c', '', 'shell', 'running', 0", "git": "'i4', 'c', '', 'agent', 'running', 0", "early": "'', 'c', 'r3', 'agent', 'reserved', 0",
		"unstopped": "'i5', 'c', 'r4', 'agent', 'running', 9",
	} {
		query := "INSERT INTO containers (name, created_at, id, channel_id, run_id, type, status, remove_at) VALUES ('" + name + "', 1, " + values + ")"
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	s := openAt(t, path)
	list, leases, err := s.Containers(t.Context())
	if err != nil || len(list) != 6 {
		t.Fatalf("%d rows, %v", len(list), err)
	}
	got := map[string]string{}
	for _, c := range list {
		got[c.Name] = ""
		for _, l := range leases {
			if l.Container == c.Key && c.Key != "" {
				got[c.Name] += string(l.Holder.Kind) + " " + strings.ReplaceAll(l.Holder.ID, string(c.Key), "key")
			}
		}
	}
	want := map[string]string{"run": "run r", "ended": "", "shell": "person c", "git": "git key", "early": "run r3", "unstopped": ""}
	if !maps.Equal(got, want) {
		t.Errorf("holders %v, want %v", got, want)
	}
}

// TestDemoSessionIsKeptApart: a real run never resumes a script's session.
func TestDemoSessionIsKeptApart(t *testing.T) {
	s, ctx := open(t), t.Context()
	if err := s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindProject, Name: "c", Dir: "/c"}); err != nil {
		t.Fatal(err)
	}
	for _, demo := range []bool{false, true} {
		id := core.RunID(fmt.Sprint("run-", demo))
		if _, _, _, err := s.Enqueue(ctx, core.Run{ID: id, ChannelID: "c", Prompt: "p", State: core.RunQueued, Demo: demo}); err != nil {
			t.Fatal(err)
		}
		run, ok, err := s.ClaimNext(ctx, "c")
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		run.State = core.RunRunning
		if _, err := s.UpdateRun(ctx, run); err != nil {
			t.Fatal(err)
		}
		run.State, run.Outcome.SessionID = core.RunDone, core.SessionID("s-"+string(id))
		if _, err := s.FinishRun(ctx, run); err != nil {
			t.Fatal(err)
		}
	}
	ch, err := s.Channel(ctx, "c")
	if err != nil || ch.Session(false) != "s-run-false" || ch.Session(true) != "s-run-true" {
		t.Errorf("%+v %v", ch, err)
	}
}
