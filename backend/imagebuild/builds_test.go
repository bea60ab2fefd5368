package imagebuild

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/agentimage"
	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// noNet refuses every request.
type noNet struct{}

func (noNet) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no such host") }

// rig is a service on the fake engine. The test plays its host commands.
type rig struct {
	t    *testing.T
	fake *enginetest.Fake
	s    *Service
	cli  func(ctx context.Context, c Command) error // plays docker

	mu        sync.Mutex
	commands  []Command
	published []core.ImageStatus
}

func newRig(t *testing.T, o Options, dockers ...string) *rig {
	t.Helper()
	r := &rig{t: t, fake: enginetest.NewFake()}
	t.Cleanup(func() { _ = r.fake.Close() })
	r.fake.AddImage(defaultBase, "sha256:base", nil)
	var onPath []string
	for _, d := range dockers {
		dir := filepath.Join(t.TempDir(), d)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		name := "docker"
		if os.PathSeparator == '\\' {
			name = "docker.exe"
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		onPath = append(onPath, dir)
	}
	t.Setenv("PATH", strings.Join(onPath, string(os.PathListSeparator)))
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		t.Setenv(name, "")
	}
	o.TempDir = t.TempDir()
	o.Publish = func(st core.ImageStatus) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.published = append(r.published, st)
	}
	o.Engine = r.fake
	r.s = bare(o)
	r.s.http = &http.Client{Transport: noNet{}}
	r.s.guestBinary = func(arch string) ([]byte, string, error) { return []byte("binary " + arch), "abc123", nil }
	r.s.command = func(ctx context.Context, c Command) error {
		r.mu.Lock()
		r.commands = append(r.commands, c)
		r.mu.Unlock()
		return r.cli(ctx, c)
	}
	t.Cleanup(func() {
		r.s.Close()
		if left, _ := os.ReadDir(o.TempDir); len(left) != 0 {
			t.Errorf("temporary files left: %v", left)
		}
	})
	return r
}

// bare is New with defaults for the options that a test leaves out.
func bare(o Options) *Service {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Publish == nil {
		o.Publish = func(core.ImageStatus) {}
	}
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	return New(o)
}

// with makes Options of a person's settings.
func with(s Settings) Options { return Options{Settings: func() Settings { return s }} }

// arg returns the value after a flag.
func arg(c Command, flag string) string {
	if i := slices.Index(c.Args, flag); i >= 0 {
		return c.Args[i+1]
	}
	return ""
}

// goodBuild plays a docker command whose build works.
func (r *rig) goodBuild(_ context.Context, c Command) error {
	id := "sha256:" + strings.Repeat(core.NewID(), 2)
	labels := map[string]string{}
	for i, a := range c.Args {
		if a == "--label" {
			k, v, _ := strings.Cut(c.Args[i+1], "=")
			labels[k] = v
		}
	}
	r.fake.AddImage(id, id, labels)
	c.Line("#7 [base 2/2] RUN apt-get update")
	return os.WriteFile(arg(c, "--iidfile"), []byte(id), 0o644)
}

func isTrial(c Command) bool { return strings.Contains(arg(c, "--secret"), "id=probe") }

func (r *rig) wantState(want core.ImageState) core.ImageStatus {
	r.t.Helper()
	st := r.s.Status(r.t.Context())
	if st.State != want {
		r.t.Fatalf("state %s, want %s: %+v", st.State, want, st)
	}
	return st
}

func wantCode(t *testing.T, err error, code core.Code) *core.Failure {
	t.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok || f.Code != code || f.Cause == "" || f.Remedy == "" {
		t.Fatalf("got %v (%+v), want a failure with code %s", err, f, code)
	}
	return f
}

func TestEnsureBuildsWhatIsMissing(t *testing.T) {
	git := filepath.Join(t.TempDir(), ".gitconfig")
	if err := os.WriteFile(git, []byte("[user]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Options{GitConfig: git}, "broken", "good")
	r.cli = func(ctx context.Context, c Command) error {
		if strings.Contains(c.Path, "broken") {
			c.Line("ERROR: BuildKit is enabled but the buildx component is missing or broken.")
			return errors.New("exit status 1")
		}
		return r.goodBuild(ctx, c)
	}
	r.wantState(core.ImageMissing)
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	st := r.wantState(core.ImageReady)
	if st.Note != "" {
		t.Errorf("note %q after a build with secrets", st.Note)
	}
	last := r.commands[len(r.commands)-1]
	if !strings.Contains(last.Path, "good") || arg(last, "--secret") != "id=gitconfig,src="+git || slices.Contains(last.Args, "--tag") || slices.Contains(last.Args, "-t") {
		t.Errorf("built by %s %q", last.Path, last.Args)
	}
	if !slices.Contains(last.Env, "DOCKER_BUILDKIT=1") || !slices.Contains(last.Env, "DOCKER_HOST=fake://") {
		t.Errorf("environment %q", last.Env)
	}
	n := len(r.commands)
	if err := r.s.Ensure(t.Context(), ""); err != nil || len(r.commands) != n {
		t.Fatalf("a second Ensure ran %d commands: %v", len(r.commands)-n, err)
	}
	end := r.published[len(r.published)-1]
	if end.State != core.ImageReady || end.Failure != nil {
		t.Errorf("last published %+v", end)
	}
	if p := r.published[0]; p.State != core.ImageBuilding || p.Step == "" {
		t.Errorf("first published %+v", p)
	}
	if list, _ := r.fake.ImagesDangling(t.Context(), nil); len(list) != 0 {
		t.Errorf("trial images left: %v", list)
	}
}

// TestTrialRunsAsRoot: a base with another user could not read the secret, and was taken for an
// engine that has none.
func TestTrialRunsAsRoot(t *testing.T) {
	r := newRig(t, Options{}, "good")
	trial := ""
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			text, err := io.ReadAll(c.Stdin)
			if err != nil {
				return err
			}
			trial = string(text)
		}
		return r.goodBuild(ctx, c)
	}
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	from, user, run := strings.Index(trial, "FROM ${BASE}\n"), strings.Index(trial, "\nUSER 0:0\n"), strings.Index(trial, "\nRUN --mount=type=secret")
	if from < 0 || user < from || run < user {
		t.Errorf("the trial is %q", trial)
	}
}

func TestClassicBuildSaysSo(t *testing.T) {
	r := newRig(t, Options{})
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if st := r.wantState(core.ImageReady); !strings.Contains(st.Note, "git configuration") {
		t.Errorf("note %q", st.Note)
	}
	if !slices.Contains(r.fake.Calls(), "ImageBuildClassic") {
		t.Error("not built by the engine's builder")
	}
}

// TestPartsSwitchedOff: the build leaves out the parts that are switched off. Another
// choice makes the image stale.
func TestPartsSwitchedOff(t *testing.T) {
	without := []string{"vim", "node"}
	r := newRig(t, Options{Settings: func() Settings { return Settings{Without: without} }}, "docker")
	var told []string
	r.cli = func(ctx context.Context, c Command) error {
		if i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "WITHOUT=") }); i >= 0 {
			told = append(told, c.Args[i])
		}
		return r.goodBuild(ctx, c)
	}
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	r.wantState(core.ImageReady)
	without = nil
	r.wantState(core.ImageStale)
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	r.wantState(core.ImageReady)
	if !slices.Equal(told, []string{"WITHOUT=vim node", "WITHOUT="}) {
		t.Errorf("the builds were told %q", told)
	}
}

// TestBrowserImageIsNewEveryDay: with the packages of another day the builder's cache would
// keep the Chromium that was the newest once. The recipe takes the day before it fetches any.
func TestBrowserImageIsNewEveryDay(t *testing.T) {
	r := newRig(t, Options{Recipe: agentimage.Chrome}, "docker")
	r.cli = r.goodBuild
	if err := r.s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	day := "DAY=" + time.Now().UTC().Format(time.DateOnly)
	if last := r.commands[len(r.commands)-1]; !slices.Contains(last.Args, day) {
		t.Errorf("built with %q, without %s", last.Args, day)
	}
	file := string(agentimage.Chrome.Files()[agentimage.Dockerfile])
	if at := strings.Index(file, "\nARG DAY\n"); at < 0 || at > strings.Index(file, "apt-get") {
		t.Error("packages are fetched before the day is known")
	}
}

func TestStaleImage(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.fake.AddImage(agentimage.Agent.Ref, "sha256:old", map[string]string{LabelImageHash: "another", "loop.part": "agent"})
	r.cli = func(_ context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(context.Background(), c)
		}
		c.Line("#9 12.3 E: Failed to fetch http://deb.debian.org/… Temporary failure resolving 'deb.debian.org'")
		return errors.New("exit status 1")
	}
	r.wantState(core.ImageStale)
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatalf("a stale image is still an image: %v", err)
	}
	st := r.wantState(core.ImageStale)
	if st.Failure == nil || st.Failure.Code != core.CodeImageBuild || !strings.Contains(st.Failure.Cause, "download") {
		t.Fatalf("failure %+v", st.Failure)
	}
	f := wantCode(t, r.s.Build(t.Context()), core.CodeImageBuild)
	if !strings.Contains(f.Detail, "Temporary failure resolving") {
		t.Errorf("detail %q lacks the last lines", f.Detail)
	}
	r.cli = r.goodBuild
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if st := r.wantState(core.ImageReady); st.Failure != nil {
		t.Errorf("failure %+v", st.Failure)
	}
	if _, _, err := r.fake.ImageInspect(t.Context(), "sha256:old"); !errors.Is(err, core.ErrNoImage) {
		t.Errorf("the previous image is left: %v", err)
	}
}

// TestStaleImageForAll: those who join a build that fails go on with the image there is.
func TestStaleImageForAll(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	r.fake.AddImage(agentimage.Agent.Ref, "sha256:old", map[string]string{LabelImageHash: "another", "loop.part": "agent"})
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for joined := 0; joined < 3; <-tick.C {
			r.s.mu.Lock()
			joined = r.s.build.waiters
			r.s.mu.Unlock()
		}
		return errors.New("exit status 1")
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := r.s.Ensure(t.Context(), ""); err != nil {
				t.Errorf("a stale image is still an image: %v", err)
			}
		})
	}
	all.Wait()
}

// TestPartsOfAnotherLoopStay: a part that is neither of this build nor old is kept,
// since another Loop's build may need it now.
func TestPartsOfAnotherLoopStay(t *testing.T) {
	r := newRig(t, Options{})
	part := func(age time.Duration) string {
		r.fake.Now = func() time.Time { return time.Now().Add(-age) }
		id, err := r.fake.ImageBuildClassic(t.Context(), strings.NewReader(age.String()), core.BuildOptions{Labels: map[string]string{"loop.part": "agent"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	foreign, old := part(foreignTime/2), part(2*foreignTime)
	r.fake.Now = nil
	if err := r.s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.fake.ImageInspect(t.Context(), foreign); err != nil {
		t.Errorf("a part of another Loop's build: %v", err)
	}
	if _, _, err := r.fake.ImageInspect(t.Context(), old); !errors.Is(err, core.ErrNoImage) {
		t.Errorf("an old part: %v", err)
	}
}

func TestWithoutAutobuild(t *testing.T) {
	r := newRig(t, with(Settings{NoAutobuild: true}))
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeNoImage)
	r.fake.AddImage(agentimage.Agent.Ref, "sha256:old", nil)
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

func TestForeignImageIsNeverBuilt(t *testing.T) {
	r := newRig(t, with(Settings{Ref: "python:3.12"}))
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeNoImage)
	wantCode(t, r.s.Build(t.Context()), core.CodeInvalid)
	r.fake.AddImage("python:3.12", "sha256:p", nil)
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	r.wantState(core.ImageReady)
}

// TestAnImageOfOnesOwnSaysWhatBringsIt: the status says that Loop does not build it, and what the first run does
// or why that fails; a fetch is told of, also one that failed.
func TestAnImageOfOnesOwnSaysWhatBringsIt(t *testing.T) {
	set := Settings{Ref: "python:3.12"}
	r := newRig(t, Options{Settings: func() Settings { return set }}, "docker")
	want := func(note, remedy string) {
		t.Helper()
		st := r.s.Status(t.Context())
		got := ""
		if st.Failure != nil {
			got = st.Failure.Remedy
		}
		if !st.Theirs || st.State != core.ImageMissing || !strings.Contains(st.Note, note) || (note == "") != (st.Note == "") ||
			!strings.Contains(got, remedy) || (remedy == "") != (got == "") {
			t.Errorf("%+v, failure %+v", st, st.Failure)
		}
	}
	want("first run pulls it", "")
	set.NoAutobuild = true
	want("", "docker pull python:3.12")
	set = Settings{Ref: agentimage.SandboxRef}
	want("", "loop image build sandbox")
	set.Bare = true
	want("first run makes it", "")
	set = Settings{Ref: "python:3.12"}
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeNoImage)
	want("", "docker pull python:3.12") // the pull failed
	if told := r.told(); told.State != core.ImageMissing || told.Failure == nil || !told.Theirs {
		t.Errorf("told %+v", told)
	}
	r.s.engine = pulls{r.fake, core.Fail(core.CodeDiskFull, nil, "The engine's disk is full.", "Make room.")}
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeDiskFull)
	want("", "Make room.")
	r.s.engine = pulls{r.fake, nil}
	if err := r.s.Ensure(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if told := r.told(); told.State != core.ImageReady || told.Failure != nil || told.Note != "" {
		t.Errorf("told %+v", told)
	}
	set = Settings{}
	if st := r.s.Status(t.Context()); st.Theirs || st.Note != "" {
		t.Errorf("Loop's own: %+v", st)
	}
}

// pulls is an engine whose pulls bring an image, or fail.
type pulls struct {
	*enginetest.Fake
	err error
}

func (r pulls) ImagePull(_ context.Context, ref string, _ func(string)) error {
	if r.err != nil {
		return r.err
	}
	r.AddImage(ref, "sha256:pulled", nil)
	return nil
}

// told is the last status that was published.
func (r *rig) told() core.ImageStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.published) == 0 {
		return core.ImageStatus{}
	}
	return r.published[len(r.published)-1]
}

func TestEngineDown(t *testing.T) {
	r := newRig(t, Options{})
	r.fake.SetDown(core.Fail(core.CodeEngineLost, nil, "The engine is gone.", "Start it."))
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeEngineLost)
	wantCode(t, r.s.Build(t.Context()), core.CodeEngineLost)
	_, err := r.s.GuestVolume(t.Context(), "")
	wantCode(t, err, core.CodeEngineLost)
}

// hold plays a build that goes on until it is cancelled or released.
func (r *rig) hold() (begun chan struct{}, goOn chan struct{}) {
	begun, goOn = make(chan struct{}, 8), make(chan struct{})
	r.cli = func(ctx context.Context, c Command) error {
		if isTrial(c) {
			return r.goodBuild(ctx, c)
		}
		begun <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-goOn:
			return r.goodBuild(ctx, c)
		}
	}
	return begun, goOn
}

func TestCallersShareOneBuild(t *testing.T) {
	r := newRig(t, Options{}, "docker")
	begun, goOn := r.hold()
	errs := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { errs <- r.s.Ensure(ctx, "") }() // this caller starts the build and goes away
	<-begun
	if !r.s.Building() {
		t.Error("not said to be building")
	}
	go func() { errs <- r.s.Ensure(t.Context(), "") }()
	r.waiters(2)
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(goOn)
	if err := <-errs; err != nil {
		t.Fatalf("the one that waits lost its build: %v", err)
	}
	if len(begun) != 0 {
		t.Error("built twice")
	}
}

// waiters blocks until n callers wait for the build.
func (r *rig) waiters(n int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		r.s.mu.Lock()
		b := r.s.build
		got := 0
		if b != nil {
			got = b.waiters
		}
		r.s.mu.Unlock()
		if got == n {
			return
		}
		<-tick.C
	}
}

func TestCancelLeavesNoTag(t *testing.T) {
	for name, end := range map[string]func(r *rig, cancel func()){
		"by the person":          func(r *rig, _ func()) { r.s.Cancel() },
		"with the last who wait": func(_ *rig, cancel func()) { cancel() },
		"with Loop":              func(r *rig, _ func()) { r.s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{}, "docker")
			begun, _ := r.hold()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := make(chan error)
			go func() { err <- r.s.Build(ctx) }()
			<-begun
			end(r, cancel)
			if got := <-err; !errors.Is(got, errCancelled) && !errors.Is(got, context.Canceled) {
				t.Fatal(got)
			}
			r.s.Close()
			st := r.wantState(core.ImageMissing)
			if st.Failure == nil || st.Failure.Code != core.CodeCancelled {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// TestProxyPasswordIsOnNoCommandLine: every user of the machine can read command lines.
func TestProxyPasswordIsOnNoCommandLine(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://me:canary@proxy.example:3128")
	r := newRig(t, Options{}, "docker")
	r.cli = r.goodBuild
	if err := r.s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.commands {
		if strings.Contains(strings.Join(c.Args, " "), "canary") {
			t.Errorf("%q", c.Args)
		}
	}
	last := r.commands[len(r.commands)-1]
	if !slices.Contains(last.Args, "HTTPS_PROXY") || !slices.Contains(last.Env, "HTTPS_PROXY=http://me:canary@proxy.example:3128") {
		t.Errorf("the build has no proxy: %q with %q", last.Args, last.Env)
	}
}

// TestBuildAfterACancelledOne: a caller that comes while a cancelled build cleans up
// gets a new build, not the end of the old one.
func TestBuildAfterACancelledOne(t *testing.T) {
	for name, end := range map[string]func(r *rig, cancel func()){
		"by the person":          func(r *rig, _ func()) { go r.s.Cancel() },
		"with the last who wait": func(_ *rig, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{}, "docker")
			begun, ended, clear := make(chan struct{}), make(chan struct{}), make(chan struct{})
			first := true
			r.cli = func(ctx context.Context, c Command) error {
				if isTrial(c) || !first {
					return r.goodBuild(ctx, c)
				}
				first = false
				close(begun)
				<-ctx.Done()
				close(ended)
				<-clear // removes the files that it made
				return ctx.Err()
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			one, two := make(chan error, 1), make(chan error, 1)
			go func() { one <- r.s.Build(ctx) }()
			<-begun
			end(r, cancel)
			<-ended
			go func() { two <- r.s.Ensure(t.Context(), "") }()
			select {
			case err := <-two:
				t.Errorf("ended with the other: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			close(clear)
			if err := <-one; !errors.Is(err, errCancelled) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if err := <-two; err != nil {
				t.Errorf("no build of its own: %v", err)
			}
			r.wantState(core.ImageReady)
		})
	}
}

func TestGuestVolume(t *testing.T) {
	r := newRig(t, Options{})
	ctx := t.Context()
	if _, err := r.s.GuestVolume(ctx, ""); !errors.Is(err, core.ErrNoImage) {
		t.Fatalf("without an image: %v", err)
	}
	r.fake.AddImage(agentimage.Agent.Ref, "sha256:1", nil)
	// A Loop that crashed has filled the volume by half: the mark is missing.
	if err := r.fake.VolumeFill(ctx, "loop-guest-abc123", agentimage.Agent.Ref, []core.VolumeFile{{Path: guestFile, Data: []byte("half")}}); err != nil {
		t.Fatal(err)
	}
	name, err := r.s.GuestVolume(ctx, "")
	if err != nil || name != "loop-guest-abc123" {
		t.Fatal(name, err)
	}
	got, err := r.fake.VolumeRead(ctx, name, agentimage.Agent.Ref, guestFile)
	if err != nil || string(got) != "binary amd64" {
		t.Fatalf("%q, %v", got, err)
	}
	n := len(r.fake.Calls())
	if _, err := r.s.GuestVolume(ctx, ""); err != nil || len(r.fake.Calls()) != n {
		t.Fatalf("the answer was not remembered: %v", err)
	}
	if err := r.fake.VolumeRemove(ctx, name); err != nil {
		t.Fatal(err)
	}
	r.s.ForgetGuestVolume()
	if _, err := r.s.GuestVolume(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.fake.VolumeRead(ctx, name, agentimage.Agent.Ref, guestFile); err != nil {
		t.Fatalf("not filled again: %v", err)
	}
	// A complete volume is left as it is.
	before := count(r.fake.Calls(), "VolumeFill")
	r.s.ForgetGuestVolume()
	if _, err := r.s.GuestVolume(ctx, ""); err != nil || count(r.fake.Calls(), "VolumeFill") != before {
		t.Fatalf("a complete volume was filled again: %v", err)
	}
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// registry answers every request with this text. An empty one does not answer at all.
type registry string

func (a registry) RoundTrip(r *http.Request) (*http.Response, error) {
	if a == "" {
		return nil, errors.New("no such host")
	}
	return &http.Response{StatusCode: 200, Status: "200 OK", Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}

func TestClaudeVersion(t *testing.T) {
	for name, tc := range map[string]struct{ says, want string }{
		"a version":          {`{"version":"2.1.299"}`, "2.1.299"},
		"a page":             {"<html>log in", "at-"},
		"no argument breaks": {`{"version":"1.0.0; rm -rf /"}`, "at-"},
		"nothing answers":    {"", "at-"},
	} {
		t.Run(name, func(t *testing.T) {
			s := bare(Options{Engine: enginetest.NewFake()})
			s.http = &http.Client{Transport: registry(tc.says)}
			rep := &reporter{s: s}
			if got := s.claudeVersion(t.Context(), rep); !strings.HasPrefix(got, tc.want) {
				t.Fatalf("version %q, want %q", got, tc.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	plain := errors.New("docker build: exit status 1")
	for name, tc := range map[string]struct {
		err  error
		line string
		code core.Code
		say  string
	}{
		"disk":    {plain, "write /x: no space left on device", core.CodeDiskFull, "disk is full"},
		"tls":     {plain, "curl: (60) SSL certificate problem: self-signed certificate in certificate chain", core.CodeImageBuild, "extra_ca_files"},
		"network": {plain, "curl: (6) Could not resolve host: registry.npmjs.org", core.CodeImageBuild, "download"},
		"other":   {plain, "boom", core.CodeImageBuild, "could not be built"},
		"engine":  {core.Fail(core.CodeEngineLost, nil, "Gone.", "Wait."), "", core.CodeEngineLost, "Gone"},
		"words of the engine": {core.Fail(core.CodeInternal, plain, "The container engine could not build the image.", "x"),
			"The command '/bin/sh -c …' returned a non-zero code: 100", core.CodeImageBuild, "could not be built"},
	} {
		t.Run(name, func(t *testing.T) {
			f := wantCode(t, explain(t.Context(), "agent image", tc.err, []string{tc.line}), tc.code)
			if !strings.Contains(f.Cause+f.Remedy, tc.say) {
				t.Errorf("%s %s lacks %q", f.Cause, f.Remedy, tc.say)
			}
		})
	}
}

func TestBuildContextHoldsTheCertificates(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, testBundle(t, 2), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, with(Settings{ExtraCA: []string{ca, "/no/such/file"}}), "docker")
	var certs []string
	r.cli = func(ctx context.Context, c Command) error {
		if !isTrial(c) {
			for tr := tar.NewReader(c.Stdin); ; {
				h, err := tr.Next()
				if err != nil {
					break
				}
				if ok, _ := path.Match(agentimage.CADir+"/*.crt", h.Name); ok {
					certs = append(certs, h.Name)
				}
			}
		}
		return r.goodBuild(ctx, c)
	}
	if err := r.s.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(certs) != 2 {
		t.Fatalf("certificates in the build context: %v", certs)
	}
	if text := fmt.Sprint(r.s.Status(t.Context()).Lines); !strings.Contains(text, "/no/such/file is left out") {
		t.Errorf("the missing file is not mentioned: %s", text)
	}
}

// TestSettingsChangeUnderWay: the service looks for the image that the settings name
// now, even for a caller that waits while another image is built.
func TestSettingsChangeUnderWay(t *testing.T) {
	var mu sync.Mutex
	set := Settings{}
	change := func(to Settings) { mu.Lock(); defer mu.Unlock(); set = to }
	r := newRig(t, Options{Settings: func() Settings { mu.Lock(); defer mu.Unlock(); return set }}, "docker")
	begun, goOn := r.hold()
	first := make(chan error, 1)
	go func() { first <- r.s.Ensure(t.Context(), "") }()
	<-begun
	change(Settings{Ref: "python:3.12"})
	second := make(chan error, 1)
	go func() { second <- r.s.Ensure(t.Context(), "") }()
	close(goOn)
	wantCode(t, <-second, core.CodeNoImage)
	if err := <-first; err != nil { // with the settings from its start
		t.Error(err)
	}
	if st := r.wantState(core.ImageMissing); st.Ref != "python:3.12" || len(st.Lines) > 0 {
		t.Errorf("%+v", st)
	}
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeNoImage)
	change(Settings{})
	r.wantState(core.ImageReady)
	change(Settings{Ref: "loop-agent:other", NoAutobuild: true})
	wantCode(t, r.s.Ensure(t.Context(), ""), core.CodeNoImage)
}
