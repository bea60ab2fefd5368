package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/doctor"
)

func TestServe(t *testing.T) {
	r := newRig(t)
	var addr string
	r.deps.Serve = func(ctx context.Context, a string, ready func(url, token string)) error {
		addr = a
		ready("http://127.0.0.1:4321/", token)
		r.interrupts <- os.Interrupt
		<-ctx.Done()
		return ctx.Err()
	}
	if code := r.run("serve", "--addr", "127.0.0.1:4321"); code != exitOK || addr != "127.0.0.1:4321" {
		t.Fatalf("exit %d, addr %q", code, addr)
	}
	if want := "Loop is ready: http://127.0.0.1:4321/#token=" + token + "\n"; r.out.String() != want {
		t.Errorf("printed %q", r.out.String())
	}
	ctx, term := context.WithCancel(t.Context())
	r.ctx = ctx
	r.deps.Serve = func(ctx context.Context, _ string, _ func(url, token string)) error { term(); <-ctx.Done(); return nil }
	if code := r.run("serve"); code != exitOK {
		t.Errorf("SIGTERM: exit %d", code)
	}
	r.ctx = t.Context()
	r.deps.Serve = func(context.Context, string, func(url, token string)) error {
		return core.Fail(core.CodeConflict, nil, "Another Loop (process 7) works on this folder.", "Use that one.")
	}
	if code := r.run("serve"); code != exitFailed {
		t.Errorf("conflict: exit %d", code)
	}
	r.wantIn("err", "process 7")
}

func TestNoArguments(t *testing.T) {
	r := newRig(t)
	if code := r.run(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "loop run --demo")
	r.wantIn("out", "doctor")
	if strings.Contains(r.out.String(), "demo-model") {
		t.Error("a hidden command is shown")
	}
	opened := 0
	var out, errs bytes.Buffer
	window := func(context.Context) error { opened++; return nil }
	if code := Main(t.Context(), nil, Stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, Deps{Window: window}); code != exitOK || opened != 1 || out.Len() != 0 {
		t.Errorf("exit %d, opened %d, printed %q", code, opened, out.String())
	}
	if code := Main(t.Context(), []string{"version"}, Stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, Deps{Window: window, Version: "9"}); code != exitOK || opened != 1 {
		t.Errorf("exit %d, opened %d", code, opened)
	}
	window = func(context.Context) error {
		return core.Fail(core.CodeInternal, nil, "There is no display.", "Use “loop serve”.")
	}
	if code := Main(t.Context(), nil, Stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, Deps{Window: window}); code != exitFailed || !strings.Contains(errs.String(), "There is no display.") {
		t.Errorf("exit %d, said %q", code, errs.String())
	}
}

func TestVersion(t *testing.T) {
	r := newRig(t)
	if code := r.run("version"); code != exitOK || !strings.HasPrefix(r.out.String(), "loop 1.2.3 (go") {
		t.Errorf("exit %d, %q", code, r.out.String())
	}
	if code := r.run("version", "--json"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	var v versionInfo
	if err := json.Unmarshal(r.out.Bytes(), &v); err != nil || v.Version != "1.2.3" || v.OS == "" {
		t.Errorf("%+v %v", v, err)
	}
}

func TestDoctor(t *testing.T) {
	check := func(id, state string) map[string]any {
		return map[string]any{"id": id, "title": "The " + id, "state": state, "summary": "It is \x1b[31m" + state + ".", "remedy": "Do something.", "detail": "d", "duration_ms": 3}
	}
	r := newRig(t)
	r.fake.answers["System.Doctor"] = map[string]any{"checks": []any{check("engine", "ok"), check("image", "warn"), check("link", "skip")}}
	if code := r.run("doctor"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "ok    The engine  It is ␛[31mok.\n")
	r.wantIn("out", "Loop can work here.")
	if n := strings.Count(r.out.String(), "Do something."); n != 2 {
		t.Errorf("%d remedies", n)
	}
	r.fake.answers["System.Doctor"] = map[string]any{"checks": []any{check("engine", "fail")}}
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}} {
		if code := r.run(args...); code != exitFailed {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	var rep doctor.Report
	if err := json.Unmarshal(r.out.Bytes(), &rep); err != nil || rep.Checks[0].State != "fail" {
		t.Errorf("%+v %v", rep, err)
	}
}

func TestImage(t *testing.T) {
	r := newRig(t)
	r.fake.answers["System.ImageStatus"] = core.ImageStatus{State: core.ImageStale, Ref: "loop-agent:latest", Note: "Built without the git secret."}
	if code := r.run("image", "status"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "loop-agent:latest: out of date")
	r.wantIn("out", "Built without the git secret.")
	if code := r.run("image", "status", "--json"); code != exitOK || !json.Valid(r.out.Bytes()) {
		t.Errorf("exit %d", code)
	}
	// An engine that does not answer says nothing about the image.
	r.fake.answers["System.ImageStatus"] = core.ImageStatus{State: core.ImageUnknown, Ref: "loop-agent:latest", Failure: core.Fail(core.CodeNoEngine, nil, "No engine.", "Start it.")}
	for _, args := range [][]string{{"image", "status"}, {"image", "status", "--json"}} {
		if code := r.run(args...); code != exitFailed || r.out.Len() == 0 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	if code := r.run("image", "nonsense"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// building answers BuildImage when done is closed.
type building struct {
	*fake
	begin func()
	done  chan error
}

func (b *building) Call(ctx context.Context, method string, args ...any) (json.RawMessage, error) {
	switch method {
	case "System.BuildImage":
		b.begin()
		return json.RawMessage("null"), <-b.done
	case "System.CancelImageBuild":
		b.done <- core.Fail(core.CodeCancelled, nil, "The build was cancelled.", "")
		return json.RawMessage("null"), nil
	}
	return b.fake.Call(ctx, method, args...)
}

func TestImageBuild(t *testing.T) {
	r := newRig(t)
	b := &building{fake: r.fake, done: make(chan error, 1)}
	r.deps.Open = func(context.Context) (Core, error) { return b, nil }
	b.begin = func() {
		r.fake.publish(core.EventImageBuild, "", false, core.ImageStatus{State: core.ImageBuilding, Step: "Install packages", Progress: 0.25, Lines: []string{"a", "b"}})
		r.fake.publish(core.EventImageBuild, "", false, core.ImageStatus{State: core.ImageBuilding, Step: "Install packages", Progress: 0.3, Lines: []string{"b", "c\x1b[2J"}})
		go func() { // answers after the progress was read
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range tick.C {
				r.fake.mu.Lock()
				left := 0
				for c := range r.fake.subs {
					left += len(c)
				}
				r.fake.mu.Unlock()
				if left == 0 {
					b.done <- nil
					return
				}
			}
		}()
	}
	if code := r.run("image", "build"); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	if want := " 25 %  Install packages\n       a\n       b\n       c␛[2J\nThe agent image is ready.\n"; r.out.String() != want {
		t.Errorf("printed %q", r.out.String())
	}
	b.begin = func() {
		b.done <- core.Fail(core.CodeImageBuild, nil, "A package could not be fetched.", "Check the network.")
	}
	if code := r.run("image", "build"); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "A package could not be fetched.\nCheck the network.")
	b.begin = func() { r.interrupts <- os.Interrupt }
	if code := r.run("image", "build"); code != exitCancelled {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "The build was stopped")
}

func TestLists(t *testing.T) {
	r := newRig(t)
	if code := r.run("channels"); code != exitOK || r.out.String() != "None yet.\n" {
		t.Errorf("exit %d, %q", code, r.out.String())
	}
	r.fake.channels = []map[string]any{{"channel_id": "c1", "name": "a\x1b[1mb\nc", "state": "working", "queued": 2, "kind": "project", "dir": "/w"}}
	if code := r.run("channels"); code != exitOK {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "c1       a␛[1mb c  working (2 queued)  project  /w\n")
}

// lineWriter hands out what is written, line by line.
type lineWriter struct{ lines chan string }

func (w lineWriter) Write(b []byte) (int, error) {
	w.lines <- string(b)
	return len(b), nil
}

func TestDemoModel(t *testing.T) {
	r := newRig(t)
	for _, args := range [][]string{{"--addr", "0.0.0.0:0"}, {"--addr", "x"}, {"--pace", "-1"}, {"--scripts", filepath.Join(r.dir, "none")}} {
		if code := r.run(append([]string{"demo-model"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
	r.file("bad.json")
	if code := r.run("demo-model", "--scripts", r.dir); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "bad.json: ")

	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, "mine.json"), []byte(`{"title":"t","steps":[{"blocks":[{"type":"text","text":"mine"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out := lineWriter{make(chan string, 10)}
	env := func(string) (string, bool) { return "", false }
	a := &app{deps: Deps{Env: env}, out: newPrinter(out, env), err: newPrinter(io.Discard, env), interrupts: r.interrupts, restoreInterrupt: func() {}}
	code := make(chan int)
	go func() { code <- a.main(t.Context(), []string{"demo-model", "--scripts", own, "--pace", "0"}) }()
	url := regexp.MustCompile(`http://\S+`).FindString(<-out.lines)
	res, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(`{"model":"demo-mine","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Bash"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(body), `"text":"mine"`) {
		t.Errorf("%s %v", body, err)
	}
	http.DefaultClient.CloseIdleConnections()
	r.interrupts <- os.Interrupt
	if c := <-code; c != exitOK {
		t.Errorf("exit %d", c)
	}
}

func TestColour(t *testing.T) {
	p := &printer{w: &bytes.Buffer{}, colour: true}
	p.styledLine(red, "x\x1b[0my")
	if got := p.w.(*bytes.Buffer).String(); got != "\x1b[31mx␛[0my\x1b[0m\n" {
		t.Errorf("%q", got)
	}
	// A file is not a terminal, so there is no colour whatever the environment says.
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p := newPrinter(f, func(string) (string, bool) { return "", false }); p.colour {
		t.Error("colour in a file")
	}
}

func TestSameTerminal(t *testing.T) {
	var b bytes.Buffer
	out, errs := &printer{w: &b, terminal: true}, &printer{w: &b, terminal: true}
	sameTerminal(out, errs)
	out.text("half a line")
	errs.line("a note")
	out.text("more")
	if b.String() != "half a line\na note\nmore" {
		t.Errorf("%q", b.String())
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 結果 😀\n\tx":  "plain ä 結果 😀\n\tx",
		"a\r\nb":             "a\nb",
		"a\rb":               "a␍b",
		"\x00\x1b\x7f":       "␀␛␡",
		"\u0085\u202e\ufeff": "<U+0085><U+202E><U+FEFF>",
		"\xff\x9b":           "\uFFFD\uFFFD",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	line := []byte(`{"a":"x` + "\u009b\u202e\U000e0041" + `y"}`)
	out := cleanJSON(line)
	var before, after map[string]string
	if json.Unmarshal(line, &before) != nil || json.Unmarshal(out, &after) != nil || before["a"] != after["a"] || strings.ContainsFunc(string(out), dangerous) {
		t.Errorf("%s became %s", line, out)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b]0;t\x07\u009b\u202e\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := clean(s); strings.ContainsFunc(got, dangerous) {
			t.Fatalf("%q became %q", s, got)
		}
		in, err := json.Marshal(s)
		if err != nil {
			return
		}
		out := cleanJSON(in)
		var a, b string
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(out, &b) != nil || a != b || strings.ContainsFunc(string(out), dangerous) {
			t.Fatalf("%s became %s", in, out)
		}
		if got := oneLine(s, 20); strings.Contains(got, "\n") || len([]rune(got)) > 20 {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// TestMistakes: the messages are Loop's own, not cobra's, and none repeats a key.
func TestMistakes(t *testing.T) {
	for _, tc := range []struct{ args, says string }{
		{"run --dir . --channel c x", "loop: --channel and --dir do not go together"},
		{"image foo", "there is no “loop image foo”"},
		{"sessions messages a b", `"b" is one argument too many`},
		{"auth sk-ant-1234", "not from the command line"},
	} {
		r := newRig(t)
		if code := r.run(strings.Fields(tc.args)...); code != exitUsage {
			t.Errorf("%s: exit %d", tc.args, code)
		}
		if said := r.err.String(); !strings.Contains(said, tc.says) || strings.Contains(said, "sk-ant") {
			t.Errorf("%s: said %q", tc.args, said)
		}
	}
}

// TestBareSentinelIsNoDetail: “not found” adds nothing to a sentence.
func TestBareSentinelIsNoDetail(t *testing.T) {
	r := newRig(t)
	r.fake.fails["Channels.List"] = core.Fail(core.CodeNotFound, core.ErrNotFound, "It is not there.", "Look elsewhere.")
	r.run("channels")
	if strings.Contains(r.err.String(), "Detail") {
		t.Errorf("%s", r.err.String())
	}
}

func TestImageOfBrowsers(t *testing.T) {
	r := newRig(t)
	r.fake.answers["System.BrowserImageStatus"] = core.ImageStatus{Ref: "loop-chrome:latest", State: core.ImageReady}
	r.fake.answers["System.BuildBrowserImage"] = struct{}{}
	if code := r.run("image", "status", "browser"); code != exitOK || r.fake.called("System.ImageStatus") {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "loop-chrome:latest: ready")
	if code := r.run("image", "build", "browser"); code != exitOK || !r.fake.called("System.BuildBrowserImage") {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "The browser's image is ready.")
	if code := r.run("image", "build", "other"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	r.wantIn("err", "no image “other”")
}

// TestImageOfSandboxes: flags win over the environment, which has OpenClaw's names; they are
// for these images alone.
func TestImageOfSandboxes(t *testing.T) {
	r := newRig(t)
	r.fake.answers["System.SandboxImageStatus"] = core.ImageStatus{Ref: "openclaw-sandbox:bookworm-slim", State: core.ImageMissing, Note: "It is degraded."}
	r.fake.answers["System.BuildSandboxImage"] = struct{}{}
	if code := r.run("image", "status", "sandbox"); code != exitOK || string(r.fake.last["System.SandboxImageStatus"][0]) != `"sandbox"` {
		t.Errorf("exit %d", code)
	}
	r.wantIn("out", "openclaw-sandbox:bookworm-slim: missing: “loop image build sandbox” builds it")
	r.wantIn("out", "It is degraded.")
	for name, v := range map[string]string{
		"BASE_IMAGE": "base:1", "TARGET_IMAGE": "of-env:1", "PACKAGES": "curl  git", "INSTALL_PNPM": "0", "INSTALL_BUN": "0", "INSTALL_BREW": "0",
		"FINAL_USER": "me",
	} {
		r.env[name] = v
	}
	if code := r.run("image", "build", "sandbox-common", "--target-image", "of-flag:1", "--install-bun=1"); code != exitOK {
		t.Errorf("exit %d: %s", code, r.err.String())
	}
	r.wantIn("out", "The sandbox-common image is ready.")
	var got core.SandboxImage
	if err := json.Unmarshal(r.fake.last["System.BuildSandboxImage"][0], &got); err != nil {
		t.Fatal(err)
	}
	want := core.SandboxImage{
		Kind: "sandbox-common", BaseImage: "base:1", TargetImage: "of-flag:1", Packages: []string{"curl", "git"},
		InstallPnpm: "0", InstallBun: "1", InstallBrew: "0", FinalUser: "me",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if code := r.run("image", "build", "--packages", "curl"); code != exitUsage || r.fake.called("System.BuildImage") {
		t.Errorf("flags for the agent image: exit %d", code)
	}
}

// TestDoctorFixes what checks offer, says so, and checks again; what fails stops nothing.
func TestDoctorFixes(t *testing.T) {
	r := newRig(t)
	check := func(id, fix string) map[string]any {
		return map[string]any{"id": id, "title": id, "state": "warn", "summary": "s", "fix": fix}
	}
	r.fake.answers["System.Doctor"] = map[string]any{"checks": []any{check("disk", "Close it"), check("gate", ""), check("image", "Build it")}}
	var fixed []string
	r.fake.onCall = func(method string) {
		if method == "System.Fix" {
			fixed = append(fixed, string(r.fake.last[method][0]))
		}
	}
	r.fake.fails["System.Fix"] = core.Fail(core.CodeConfig, nil, "The disk is full.", "Free some space.")
	if code := r.run("doctor", "--fix"); code != exitOK || strings.Join(fixed, " ") != `"disk" "image"` {
		t.Errorf("exit %d, fixed %v", code, fixed)
	}
	r.wantIn("err", "disk: Close it.")
	r.wantIn("err", "It did not work: The disk is full. Free some space.")
	fixed = nil
	if code := r.run("doctor"); code != exitOK || fixed != nil {
		t.Errorf("exit %d, fixed %v without being told to", code, fixed)
	}
}
