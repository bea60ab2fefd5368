package rewind

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/checkpoints"
	"loop/backend/core"
	"loop/backend/store"
)

// rig is a channel whose runs are made by hand, on the real store.
type rig struct {
	*testing.T
	*Service
	dir, home string
	db        *store.Store
	now       time.Time
	lengths   map[core.SessionID]int64
	published []core.Event
	quiet     error
	stopped   bool
}

func (r *rig) WorkFolder(context.Context, core.ChannelID) (core.WorkFolder, error) {
	root, err := os.OpenRoot(r.dir)
	return core.WorkFolder{Root: root, Path: r.dir}, err
}

func (r *rig) Length(_ core.Channel, id core.SessionID) (int64, bool) {
	n, ok := r.lengths[id]
	return n, ok
}

func (r *rig) Cut(_ context.Context, _ core.Channel, id core.SessionID, n int64) (core.SessionID, error) {
	if r.lengths[id] == n {
		return id, nil
	}
	cut := id + "-cut"
	r.lengths[cut] = n
	return cut, nil
}

func (r *rig) Quiet(_ context.Context, _ core.ChannelID, stop bool) (func(), error) {
	r.stopped = stop
	return func() {}, r.quiet
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, dir: t.TempDir(), home: t.TempDir(), now: time.Now().Add(time.Hour), lengths: map[core.SessionID]int64{}}
	var err error
	if r.db, err = store.Open(context.Background(), filepath.Join(r.home, "loop.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.db.Close() })
	if err := r.db.AddChannel(context.Background(), core.Channel{ID: "c", Kind: core.KindProject, Name: "c", Dir: r.dir}); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Home: r.home, Rows: r.db, Runs: r.db, Folders: r, Sessions: r, Publish: func(e ...core.Event) { r.published = append(r.published, e...) },
		Now: func() time.Time { r.now = r.now.Add(time.Second); return r.now }, Log: slog.New(slog.DiscardHandler), Wait: time.Minute,
	}
	for _, c := range change {
		c(&o)
	}
	r.Service = New(o)
	r.Follow(r)
	t.Cleanup(r.close)
	return r
}

func (r *rig) put(files map[string]string) {
	r.Helper()
	for name, text := range files {
		at := filepath.Join(r.dir, filepath.FromSlash(name))
		if text == "-" {
			if err := os.Remove(at); err != nil {
				r.Fatal(err)
			}
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) has(want map[string]string) {
	r.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(r.dir, name))
		if text == "-" {
			if err == nil {
				r.Errorf("%s is there", name)
			}
			continue
		}
		if string(got) != text {
			r.Errorf("%s: %q, want %q", name, got, text)
		}
	}
}

// begin is a run up to what the agent does to files.
func (r *rig) begin(id core.RunID, start core.SessionStart, does map[string]string) (core.Run, core.Channel) {
	r.Helper()
	ctx := context.Background()
	run := core.Run{
		ID: id, ChannelID: "c", Prompt: "Prompt " + string(id), Demo: true,
		Plan: true, Model: "m-" + string(id), Effort: "high", Attachments: []core.Attachment{{ID: "p-" + string(id)}},
	}
	if _, _, _, err := r.db.Enqueue(ctx, run); err != nil {
		r.Fatal(err)
	}
	run, ok, err := r.db.ClaimNext(ctx, "c")
	if err != nil || !ok {
		r.Fatal(err)
	}
	run.StartedAt, run.State = r.o.Now(), core.RunStarting
	if _, err = r.db.UpdateRun(ctx, run); err != nil {
		r.Fatal(err)
	}
	ch, err := r.db.Channel(ctx, "c")
	if err != nil {
		r.Fatal(err)
	}
	if why := r.Before(ctx, run, ch, start); why != "" {
		r.Log(why)
	}
	r.put(does)
	return run, ch
}

// run is one from its start to its end, with what the agent does to files.
func (r *rig) run(id core.RunID, start core.SessionStart, does map[string]string) {
	r.Helper()
	ctx := context.Background()
	run, ch := r.begin(id, start, does)
	session := start.SessionID
	if start.Mode != core.SessionResume {
		session = "s-" + core.SessionID(id)
	}
	r.lengths[session] += 100
	run.State, run.EndedAt = core.RunDone, r.o.Now()
	run.Outcome.SessionID, run.Outcome.NumTurns, run.Outcome.CostUSD = session, 3, 0.25
	run.Outcome.Context = core.Context{Used: r.lengths[session], Window: 1000}
	if _, err := r.db.FinishRun(ctx, run); err != nil {
		r.Fatal(err)
	}
	r.After(ctx, run, ch)
}

func (r *rig) preview(id core.RunID) core.RewindPreview {
	r.Helper()
	p, err := r.Preview(context.Background(), id)
	if err != nil {
		r.Fatal(err)
	}
	return p
}

func (r *rig) channel() core.Channel {
	r.Helper()
	ch, err := r.db.Channel(context.Background(), "c")
	if err != nil {
		r.Fatal(err)
	}
	return ch
}

var (
	fresh  = core.SessionStart{Mode: core.SessionFresh}
	resume = core.SessionStart{Mode: core.SessionResume, SessionID: "s-one"}
)

// day is two runs with an edit of the person's between them and one after.
func (r *rig) day() {
	r.put(map[string]string{"reset.go": "a\nb\n", "limits.yaml": "refill: 12s\nexport:\n", "docs/old.md": "old\n"})
	r.run("one", fresh, map[string]string{"first.go": "first\n"})
	r.run("two", resume, map[string]string{
		"reset.go": "a\nB\nc\n", "reset_test.go": "test\n", "docs/old.md": "-", "limits.yaml": "refill: 12s\nexport:\n\nmore:\n\nreset: 3\n",
	})
	r.put(map[string]string{"limits.yaml": "refill: 10s\nexport:\n\nmore:\n\nreset: 3\n", "mine.txt": "mine\n"})
	r.run("three", resume, map[string]string{"reset.go": "a\nB\nc\nd\n"})
}

func TestBackToAPromptAndUndone(t *testing.T) {
	r := newRig(t)
	r.day()
	p := r.preview("two")
	kinds := map[string]core.FileBack{}
	for _, f := range p.Files {
		kinds[f.Path] = f.Back
		if own := f.OwnMs > 0; own != (f.Path == "limits.yaml" || f.Path == "mine.txt") || f.Merges != (f.Path == "limits.yaml") {
			t.Errorf("%+v", f)
		}
		if f.Path == "reset.go" && (f.Added != 1 || f.Removed != 3) {
			t.Errorf("%+v", f)
		}
	}
	want := map[string]core.FileBack{
		"reset.go": core.BackChanged, "reset_test.go": core.BackRemoved, "docs/old.md": core.BackComes, "limits.yaml": core.BackChanged,
		"mine.txt": core.BackRemoved,
	}
	if !maps.Equal(kinds, want) || p.Total != 5 || p.NoFiles != "" {
		t.Errorf("%+v", p)
	}
	if k := p.Talk; k.Prompts != 2 || k.Turns != 6 || k.CostUSD != 0.5 || k.Why != "" || k.Fresh || k.Then.Used != 100 || k.Context.Used != 300 {
		t.Errorf("%+v", k)
	}
	d, err := r.Diff(t.Context(), "two", "limits.yaml")
	if err != nil || !strings.Contains(d.Patch, "-refill: 10s\n+refill: 12s\n") || !slices.Equal(d.Own, []int{1}) {
		t.Errorf("%+v %v", d, err)
	}
	was := r.channel()
	out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindBoth, Mark: p.Mark, Keep: []string{"limits.yaml", "mine.txt"}})
	if err != nil || out.Files != 4 || out.Text != "Prompt two" || !slices.Equal(out.Leaves, []core.RunID{"two", "three"}) {
		t.Fatalf("%+v %v", out, err)
	}
	if !out.Plan || out.Model != "m-two" || out.Effort != "high" || len(out.Attachments) != 1 || out.Attachments[0].ID != "p-two" {
		t.Errorf("the prompt comes back otherwise than it was sent: %+v", out)
	}
	r.has(map[string]string{
		"reset.go": "a\nb\n", "reset_test.go": "-", "docs/old.md": "old\n", "limits.yaml": "refill: 10s\nexport:\n", "first.go": "first\n", "mine.txt": "mine\n",
	})
	ch := r.channel()
	if ch.DemoSessionID != "s-one-cut" || r.lengths["s-one-cut"] != 100 || ch.Context.Used != 100 {
		t.Errorf("%+v", ch)
	}
	if e := r.published; len(e) != 2 || e[0].Type != core.EventRewindWent || e[0].ID == 0 || e[1].Type != core.EventChannelUpdated {
		t.Errorf("%+v", e)
	}
	if _, err := r.Preview(t.Context(), "three"); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("a prompt that has left: %v", err)
	}
	if q := r.preview("one"); q.Talk.Prompts != 1 || !q.Talk.Fresh {
		t.Errorf("what has left is counted again: %+v", q.Talk)
	}
	// What the person changes now is theirs, also when it is undone.
	r.put(map[string]string{"reset.go": "mine now\n"})
	undone, err := r.Undo(t.Context(), out.ID)
	if err != nil || undone.State != core.RewindUndone || len(undone.Notices) != 1 {
		t.Fatalf("%+v %v", undone, err)
	}
	r.has(map[string]string{"reset.go": "mine now\n", "reset_test.go": "test\n", "docs/old.md": "-", "limits.yaml": "refill: 10s\nexport:\n\nmore:\n\nreset: 3\n"})
	if ch := r.channel(); ch.DemoSessionID != was.DemoSessionID || ch.Context != was.Context {
		t.Errorf("%+v", ch)
	}
	if _, err := r.Undo(t.Context(), out.ID); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("undone twice: %v", err)
	}
	if p := r.preview("three"); p.Talk.Prompts != 1 {
		t.Errorf("%+v", p)
	}
}

func TestGoingBackIsRefused(t *testing.T) {
	r := newRig(t)
	r.day()
	p := r.preview("two")
	back := func(req core.BackRequest) error {
		_, err := r.Back(t.Context(), "two", req)
		return err
	}
	if err := back(core.BackRequest{Mark: p.Mark}); core.AsFailure(err).Code != core.CodeInvalid {
		t.Error(err)
	}
	r.quiet = core.Fail(core.CodeConflict, nil, "A run is under way.", "")
	if err := back(core.BackRequest{What: core.RewindFiles, Mark: p.Mark, Stop: true}); core.AsFailure(err).Code != core.CodeConflict || !r.stopped {
		t.Error(err)
	}
	r.quiet = nil
	r.put(map[string]string{"reset.go": "meanwhile\n"})
	if err := back(core.BackRequest{What: core.RewindBoth, Mark: p.Mark}); !errors.Is(err, errMeanwhile) {
		t.Error(err)
	}
	r.has(map[string]string{"reset.go": "meanwhile\n", "reset_test.go": "test\n"})
	if list, err := r.db.Checkpoints(t.Context(), "c"); err != nil || slices.ContainsFunc(list, func(c core.Checkpoint) bool { return c.Rewind != nil }) {
		t.Errorf("%v %v", list, err)
	}
	delete(r.lengths, "s-one")
	if err := back(core.BackRequest{What: core.RewindBoth, Mark: r.preview("two").Mark}); core.AsFailure(err).Code != core.CodeConflict {
		t.Error(err)
	}
	// Another channel's agent works in the folder.
	ctx := t.Context()
	if err := r.db.AddChannel(ctx, core.Channel{ID: "thread", ParentID: "c", Kind: core.KindThread, Name: "t", Dir: r.dir}); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := r.db.Enqueue(ctx, core.Run{ID: "other", ChannelID: "thread", Prompt: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.db.ClaimNext(ctx, "thread"); err != nil {
		t.Fatal(err)
	}
	if err := back(core.BackRequest{What: core.RewindFiles, Mark: r.preview("two").Mark}); core.AsFailure(err).Code != core.CodeConflict {
		t.Error(err)
	}
}

func TestUndoIsOverOnceAPromptFollows(t *testing.T) {
	r := newRig(t)
	r.day()
	out, err := r.Back(t.Context(), "three", core.BackRequest{What: core.RewindBoth, Mark: r.preview("three").Mark})
	if err != nil {
		t.Fatal(err)
	}
	r.run("four", core.SessionStart{Mode: core.SessionResume, SessionID: out.Session}, map[string]string{"four.go": "4\n"})
	if _, err := r.Undo(t.Context(), out.ID); core.AsFailure(err).Code != core.CodeConflict {
		t.Error(err)
	}
	again, err := r.Back(t.Context(), "four", core.BackRequest{What: core.RewindBoth, Mark: r.preview("four").Mark})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), out.ID); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("out of turn: %v", err)
	}
	if _, err := r.Undo(t.Context(), again.ID); err != nil {
		t.Error(err)
	}
	r.has(map[string]string{"four.go": "4\n"})
}

func TestWhyThereIsNoCheckpoint(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Limits = checkpoints.Limits{Files: 2} })
	r.day()
	p := r.preview("two")
	if !strings.Contains(p.NoFiles, "more than") || p.Talk.Why != "" {
		t.Errorf("%+v", p)
	}
	if _, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindFiles}); core.AsFailure(err).Code != core.CodeConflict {
		t.Error(err)
	}
	if out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindConversation, Stop: true}); err != nil || out.Session != "s-one-cut" {
		t.Errorf("%+v %v", out, err)
	}
	r.has(map[string]string{"reset.go": "a\nB\nc\nd\n"})
}

func TestACheckpointThatTakesTooLong(t *testing.T) {
	hold := make(chan struct{})
	r := newRig(t, func(o *Options) { o.Wait = time.Millisecond })
	_, leave, err := r.enter(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-hold; leave() }()
	run, ch := r.begin("slow", fresh, nil)
	if why := r.Before(t.Context(), run, ch, fresh); why != "" {
		t.Errorf("%q is said again", why)
	}
	// Who looks meanwhile is told so, and waits for nothing.
	if p := r.preview("slow"); !strings.HasPrefix(p.NoFiles, errStill.Cause) {
		t.Errorf("%q", p.NoFiles)
	}
	if _, err := r.Back(t.Context(), "slow", core.BackRequest{What: core.RewindFiles}); !errors.Is(err, errStill) {
		t.Error(err)
	}
	if _, err := r.RunChanges(t.Context(), "c", "slow"); !errors.Is(err, errStill) {
		t.Error(err)
	}
	close(hold)
	r.wg.Wait()
	if p := r.preview("slow"); p.NoFiles != tooLate {
		t.Errorf("%q", p.NoFiles)
	}
	c, err := r.db.Checkpoint(context.Background(), "slow.before")
	if err != nil || c.Note == "" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestGoingBackWhileFilesAreKept: no run is stopped for a going back that is refused, and the
// conversation alone has no files to wait for.
func TestGoingBackWhileFilesAreKept(t *testing.T) {
	r := newRig(t)
	r.day()
	r.o.Wait = time.Millisecond
	hold := make(chan struct{})
	_, leave, err := r.enter(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	r.wg.Go(func() { <-hold; leave() })
	r.begin("slow", fresh, nil)
	if _, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindFiles, Stop: true}); !errors.Is(err, errStill) || r.stopped {
		t.Errorf("%v, and a run was stopped for it: %v", err, r.stopped)
	}
	out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindConversation, Stop: true})
	if err != nil || !r.stopped {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), out.ID); err != nil {
		t.Error(err)
	}
	close(hold)
	r.wg.Wait()
}

// TestACrashInTheMiddle: the next start says so, removes half-written files and offers the way back.
func TestACrashInTheMiddle(t *testing.T) {
	r := newRig(t)
	r.day()
	p := r.preview("two")
	out, err := r.Back(t.Context(), "two", core.BackRequest{What: core.RewindBoth, Mark: p.Mark})
	if err != nil {
		t.Fatal(err)
	}
	// As if Loop had died before the end was stored.
	c, err := r.db.Checkpoint(t.Context(), out.ID)
	if err != nil {
		t.Fatal(err)
	}
	c.Rewind.State = core.RewindBegun
	ch := r.channel()
	talk := &core.TalkChange{Demo: true, Session: out.WasSession, Next: out.WasNext, Context: ch.Context}
	if _, err := r.db.PutCheckpoint(t.Context(), c, talk); err != nil {
		t.Fatal(err)
	}
	r.put(map[string]string{"docs/.loop-rewind-1": "half"})
	r.published = nil
	ctx, cancel := context.WithCancel(t.Context())
	r.each(ctx, r.unfinished)
	cancel()
	r.has(map[string]string{"docs/.loop-rewind-1": "-"})
	if len(r.published) != 1 || !strings.Contains(string(r.published[0].Data), `"broken"`) {
		t.Errorf("%+v", r.published)
	}
	if _, err := r.Undo(t.Context(), out.ID); err != nil {
		t.Error(err)
	}
	r.has(map[string]string{"reset.go": "a\nB\nc\nd\n", "reset_test.go": "test\n", "docs/old.md": "-"})
	if got := r.channel().DemoSessionID; got != out.WasSession {
		t.Error(got)
	}
}

func TestOldCheckpointsGo(t *testing.T) {
	r := newRig(t)
	r.day()
	count := func() int {
		list, err := r.db.Checkpoints(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if err := r.tidy(t.Context(), "c"); err != nil || count() != 6 {
		t.Errorf("%d %v", count(), err)
	}
	r.o.Bytes = 1
	if err := r.tidy(t.Context(), "c"); err != nil || count() > 3 || count() < 1 {
		t.Errorf("over its size %d are left, %v", count(), err)
	}
	r.now = r.now.Add(31 * 24 * time.Hour)
	if err := r.tidy(t.Context(), "c"); err != nil || count() != 0 {
		t.Errorf("%d %v", count(), err)
	}
	if p := r.preview("two"); p.NoFiles == "" || p.Talk.Why == "" {
		t.Errorf("%+v", p)
	}
}

func TestHead(t *testing.T) {
	hash := strings.Repeat("b81d09e1", 5)
	for name, files := range map[string]map[string]string{
		"detached": {".git/HEAD": hash + "\n"},
		"a branch": {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": hash},
		"packed":   {".git/HEAD": "ref: refs/heads/a/b\n", ".git/packed-refs": "# x\n" + hash + " refs/heads/a/b\n"},
		"":         {".git/HEAD": "ref: refs/heads/../../x\n"},
	} {
		r := newRig(t)
		r.put(files)
		f, err := r.WorkFolder(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		if got := head(f.Root); (got == "b81d09e") != (name != "") {
			t.Errorf("%s: %q", name, got)
		}
		_ = f.Root.Close()
	}
}
