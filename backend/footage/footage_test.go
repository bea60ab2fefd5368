package footage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/store"
)

// picture is a JPEG of one colour.
func picture(t testing.TB, w, h int, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.SetGray(0, 0, color.Gray{255 - shade})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type rig struct {
	*Service
	t     testing.TB
	home  string
	store *store.Store
	told  int
	now   time.Time
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir(), now: time.Now()}
	var err error
	if r.store, err = store.Open(context.Background(), filepath.Join(r.home, "loop.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	r.Service = New(Options{Home: r.home, Rows: r.store, Runs: r.store, Publish: func(e ...core.Event) { r.told += len(e) },
		Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler)})
	return r
}

func (r *rig) run(ch core.ChannelID, id core.RunID) {
	r.t.Helper()
	ctx := context.Background()
	if _, err := r.store.Channel(ctx, ch); err != nil {
		if err := r.store.AddChannel(ctx, core.Channel{ID: ch, Kind: core.KindProject, Name: string(ch), Dir: "/" + string(ch), CreatedAt: r.now}); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, _, _, err := r.store.Enqueue(ctx, core.Run{ID: id, ChannelID: ch, Prompt: "p"}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) keep(kind core.KeptKind, at int64, jpeg []byte, more ...func(*core.TakenFrame)) {
	r.t.Helper()
	f := core.TakenFrame{ChannelID: "c", JPEG: jpeg, Ratio: 2, Began: time.UnixMilli(at),
		KeptFrame: core.KeptFrame{RunID: "r", Kind: kind, Time: at, Driver: core.DriverAgent, Action: "navigate"}}
	for _, m := range more {
		m(&f)
	}
	if goes, err := r.Keep(r.t.Context(), f); err != nil || !goes {
		r.t.Fatalf("keep: %v %v", goes, err)
	}
}

func (r *rig) frames() []core.KeptFrame {
	r.t.Helper()
	list, err := r.Frames(r.t.Context(), "r")
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

func (r *rig) files() int {
	r.t.Helper()
	list, err := filepath.Glob(filepath.Join(r.home, "channels", "*", "frames", "*", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	return len(list)
}

func TestAPictureIsKeptOnceAndReadAgain(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	one := picture(t, 640, 400, 90)
	r.keep(core.FrameAct, 1000, one, func(f *core.TakenFrame) { f.Target = &core.BrowserTarget{Name: "Continue", X: 3} })
	r.keep(core.FramePage, 2000, one)
	r.keep(core.FrameAct, 3000, nil, func(f *core.TakenFrame) { f.Why = "The page did not answer in time." })
	r.keep(core.FrameAct, 4000, []byte("\xff\xd8 no picture"))
	list := r.frames()
	if len(list) != 4 || r.files() != 1 || r.told != 4 {
		t.Fatalf("%d frames in %d files, told %d times", len(list), r.files(), r.told)
	}
	if f := list[0]; f.Target.Name != "Continue" || f.Width != 640 || f.Height != 400 || f.ViewWidth != 320 || f.ViewHeight != 200 || f.Picture != list[1].Picture {
		t.Errorf("%+v", f)
	}
	if list[2].Why == "" || list[3].Why == "" || list[3].Picture != "" {
		t.Errorf("%+v", list[2:])
	}
	file, err := r.OpenFrame(t.Context(), list[1].ID, list[1].Picture)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(file)
	if _ = file.Close(); err != nil || !bytes.Equal(got, one) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, bad := range []struct {
		id      int64
		picture string
	}{{list[1].ID, "../../../loop.db"}, {list[1].ID, ""}, {list[2].ID, ""}, {99, list[1].Picture}} {
		if _, err := r.OpenFrame(t.Context(), bad.id, bad.picture); core.AsFailure(err).Code != core.CodeNotFound {
			t.Errorf("%v: %v", bad, err)
		}
	}
	name := filepath.Join(r.home, "channels", "c", "frames", "r", list[0].Picture+".jpg")
	if err := os.WriteFile(name, one[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.OpenFrame(t.Context(), list[1].ID, list[1].Picture); core.AsFailure(err).Code != core.CodeDir {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestFramesOfNoRunLeaveNothing(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	r.run("d", "s")
	f := core.TakenFrame{ChannelID: "c", JPEG: picture(t, 10, 10, 1), KeptFrame: core.KeptFrame{RunID: "s", Kind: core.FrameAct}}
	if _, err := r.Keep(t.Context(), f); !errors.Is(err, core.ErrConflict) {
		t.Errorf("another channel's run: %v", err)
	}
	f.RunID = "none"
	if _, err := r.Keep(t.Context(), f); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
	if err := r.store.RemoveChannel(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	f.ChannelID, f.RunID = "d", "s"
	if err := r.Service.keep(t.Context(), f); err == nil {
		t.Error("a channel that is gone")
	}
	for _, id := range []core.RunID{"..", "a/b", ""} {
		f.RunID = id
		if err := r.Service.keep(t.Context(), f); err == nil {
			t.Errorf("the run %q has a folder", id)
		}
	}
	if _, err := os.Stat(filepath.Join(r.home, "channels")); !errors.Is(err, os.ErrNotExist) && r.files() != 0 {
		t.Errorf("%d files are left: %v", r.files(), err)
	}
}

func TestARunThatIsOverKeepsItsLastAct(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	run, err := r.store.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	run.State, run.EndedAt = core.RunCancelled, r.now
	if _, err := r.store.FinishRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[core.KeptKind]int{core.FramePage: 0, core.FrameTake: 0, core.FrameGive: 0, core.FrameAct: 1} {
		was := len(r.frames())
		goes, err := r.Keep(t.Context(), core.TakenFrame{ChannelID: "c", JPEG: picture(t, 10, 10, 1), KeptFrame: core.KeptFrame{RunID: "r", Kind: kind}})
		if n := len(r.frames()) - was; goes || err != nil || n != want {
			t.Errorf("%s: goes %v, %d frames, %v", kind, goes, n, err)
		}
	}
}

func TestWidePicturesAreMadeSmaller(t *testing.T) {
	out, w, h, err := fitted(picture(t, 3840, 2400, 200))
	if err != nil || w != 1280 || h != 800 {
		t.Fatalf("%d×%d %v", w, h, err)
	}
	img, err := jpeg.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if red, _, _, _ := img.At(700, 500).RGBA(); red>>8 < 195 || red>>8 > 205 || img.Bounds().Dx() != 1280 {
		t.Errorf("%d in %v", red>>8, img.Bounds())
	}
	small := picture(t, 300, 200, 7)
	if out, _, _, err := fitted(small); err != nil || !bytes.Equal(out, small) {
		t.Errorf("a small one was changed: %v", err)
	}
}

func TestTooManyAreThinned(t *testing.T) {
	var list []core.StoredFrame
	for i := range 20 {
		kind := core.FramePage
		if i%4 == 0 {
			kind = core.FrameAct
		}
		list = append(list, core.StoredFrame{KeptFrame: core.KeptFrame{ID: int64(i + 1), Kind: kind, Picture: fmt.Sprint(i)}, Bytes: 10})
	}
	out := thinning(list, 10, 1<<20)
	skipped := 0
	for id, n := range out.Skipped {
		skipped += n
		for _, f := range out.Frames {
			if f.ID == id {
				t.Errorf("%d is left out, and counts", id)
			}
		}
	}
	if len(out.Frames) < 10 || len(out.Pictures) != 0 || skipped != len(out.Frames) {
		t.Errorf("%d frames, %d pictures, %d counted", len(out.Frames), len(out.Pictures), skipped)
	}
	for _, f := range out.Frames {
		if f.Kind != core.FramePage || f.ID == 20 {
			t.Errorf("%s %d is left out", f.Kind, f.ID)
		}
	}
	out = thinning(list, 3, 1<<20)
	if n := len(out.Pictures); n < 2 || len(out.Frames) < 13 {
		t.Errorf("%d acts without a picture, %d frames left out", n, len(out.Frames))
	}
	if out := thinning(list, 10, 100); len(out.Frames) < 10 {
		t.Errorf("by bytes: %d", len(out.Frames))
	}
}

func TestThinningRemovesFiles(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	for i := range maxPictures + 1 {
		kind := core.FramePage
		if i%100 == 0 {
			kind = core.FrameAct
		}
		data := append(picture(t, 8, 8, uint8(i%200)), byte(i), byte(i>>8)) //nolint:gosec // a trailer that makes them differ
		r.keep(kind, int64(i+1)*1000, data)
	}
	list := r.frames()
	skipped, acts := 0, 0
	for _, f := range list {
		skipped += f.Skipped
		if f.Kind == core.FrameAct && f.Picture != "" {
			acts++
		}
	}
	if len(list) != r.files() || len(list) > maxPictures*3/4 || len(list)+skipped != maxPictures+1 || acts != 6 {
		t.Errorf("%d frames, %d files, %d skipped, %d acts", len(list), r.files(), skipped, acts)
	}
}

func TestFramesFindTheirCalls(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	event := func(typ core.EventType, at int64, data any) core.Event {
		return core.NewEvent(typ, "c", "r", time.UnixMilli(at), data)
	}
	use := func(id, tool, input string) core.ToolUse {
		return core.ToolUse{ToolUseID: id, Name: tool, Input: []byte(input)}
	}
	act := func(at int64, action, params string) {
		r.keep(core.FrameAct, at+100, nil, func(f *core.TakenFrame) {
			f.Action, f.Params, f.Began = action, []byte(params), time.UnixMilli(at)
		})
	}
	act(1000, "navigate", `{"url":"http://localhost/"}`)
	act(2000, "computer", `{"action":"click","ref":2}`)
	act(3000, "computer", `{"ref":2,"action":"click","x":null}`)
	act(4000, "computer", `{"action":"click","ref":2}`) // no call of the CLI: a program of the container asked
	r.keep(core.FramePage, 5000, nil)
	if _, err := r.store.AddEvents(t.Context(),
		event(core.EventToolUse, 900, use("lost", "mcp__loop-browser__navigate", `{"url":"http://localhost/"}`)),
		event(core.EventToolResult, 950, core.ToolResult{ToolUseID: "lost", IsError: true}), // it never came to the browser
		event(core.EventToolUse, 1010, use("open", "mcp__loop-browser__navigate", `{"url":"http://localhost/"}`)),
		event(core.EventToolUse, 1020, use("bash", "Bash", `{"command":"x"}`)),
		event(core.EventToolResult, 1900, core.ToolResult{ToolUseID: "open"}),
		event(core.EventToolUse, 2000, use("first", "mcp__loop-browser__computer", `{"action":"click","ref":2,"text":"","delta_x":0}`)),
		event(core.EventToolUse, 2000, use("second", "mcp__loop-browser__computer", `{"action":"click","ref":2}`)),
	); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.frames() {
		got = append(got, f.ToolUseID)
	}
	if want := []string{"open", "first", "second", "", ""}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestOldFramesAreForgotten(t *testing.T) {
	r := newRig(t)
	r.run("c", "r")
	r.run("c", "s")
	old := r.now.Add(-maxAge - time.Minute).UnixMilli()
	r.keep(core.FrameAct, old, picture(t, 9, 9, 1))
	r.keep(core.FrameAct, r.now.UnixMilli(), picture(t, 9, 9, 2), func(f *core.TakenFrame) { f.RunID = "s" })
	stray := filepath.Join(r.home, "channels", "c", "frames", "s", "part")
	lost := filepath.Join(r.home, "channels", "c", "frames", "gone")
	if err := errors.Join(os.WriteFile(stray, nil, 0o600), os.Mkdir(lost, 0o700)); err != nil {
		t.Fatal(err)
	}
	past := r.now.Add(-2 * time.Hour)
	if err := errors.Join(os.Chtimes(stray, past, past), os.Chtimes(lost, past, past)); err != nil {
		t.Fatal(err)
	}
	if err := r.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := r.Frames(t.Context(), "s")
	if _, there := os.Stat(lost); len(r.frames()) != 0 || len(s) != 1 || err != nil || r.files() != 1 || !errors.Is(there, os.ErrNotExist) {
		t.Errorf("%d old frames, %d new ones, %d files, %v %v", len(r.frames()), len(s), r.files(), err, there)
	}
}

func TestRunEnds(t *testing.T) {
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go cancel()
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

func FuzzFitted(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff"))
	f.Add(picture(f, 1400, 3, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := jpeg.DecodeConfig(bytes.NewReader(data)); err == nil && c.Width*c.Height > 1<<22 {
			return // the bound of pixels, which takes long in a fuzzer
		}
		if out, w, h, err := fitted(data); err == nil && (w < 1 || w > maxWidth || h < 1 || len(out) == 0) {
			t.Errorf("%d×%d in %d bytes", w, h, len(out))
		}
	})
}
