package bind_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

// TestSnapshotReadsItsNumberFirst: a change during the reads comes again as an event
// with a higher number, so it is not lost.
func TestSnapshotReadsItsNumberFirst(t *testing.T) {
	f := &fake{}
	s := newSystem(f)
	snap, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.asked) < 5 || f.asked[0] != "seq" || strings.Count(f.did(), "seq") != 1 {
		t.Errorf("asked %q", f.did())
	}
	if snap.Seq != 7 || snap.Version != "v1" || snap.Mode != "headless" || !snap.Engine.OK || snap.Image.State != core.ImageReady || snap.CostToday != (core.DayCost{Cost: core.Cost{CostUSD: 1.5, Estimated: true}, LastEventID: 3}) || snap.Gate.State != "on" {
		t.Errorf("%+v", snap)
	}
	noNull(t, snap, "channels", "containers", "problems")
	s.Window = fakeWindow{fake: f}
	if snap, err = s.Snapshot(); err != nil || snap.Mode != "window" {
		t.Errorf("%q, %v", snap.Mode, err)
	}
}

// TestFirstPageIsNotedOnce: the log says how long a person waited at the start.
func TestFirstPageIsNotedOnce(t *testing.T) {
	var log bytes.Buffer
	s := newSystem(&fake{})
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	for range 3 {
		if _, err := s.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "first page"); n != 1 {
		t.Errorf("noted %d times", n)
	}
}

// TestCostIsOfTheDayHere: a person's day begins at their midnight.
func TestCostIsOfTheDayHere(t *testing.T) {
	f := &fake{}
	before := time.Now()
	if _, err := newSystem(f).Snapshot(); err != nil {
		t.Fatal(err)
	}
	after := time.Now()
	h, m, sec := f.since.Clock()
	if h+m+sec != 0 || f.since.Nanosecond() != 0 || f.since.Location() != time.Local {
		t.Errorf("counts from %v", f.since)
	}
	if f.since.YearDay() != before.YearDay() && f.since.YearDay() != after.YearDay() { // the test may run over midnight
		t.Errorf("counts from %v, it is %v", f.since, after)
	}
}

func TestSystemListsAreNeverNull(t *testing.T) {
	if list := newSystem(&fake{}).ListContainers(); list == nil {
		t.Error("null")
	}
}

func TestSaveCredential(t *testing.T) {
	const key = "sk-ant-canary"
	for _, kind := range []bind.CredentialKind{bind.CredentialAPIKey, bind.CredentialToken} {
		f := &fake{}
		st, err := newSystem(f).SaveCredential(kind, key, false)
		if err != nil || f.set[string(kind)] != key || len(f.set) != 1 || !st.Config.HasCredentials || !st.Stored {
			t.Errorf("%s: %v, %+v, %v", kind, f.set, st, err)
		}
	}
	// The call sets credentials only and must not become a way to other settings.
	for _, kind := range []bind.CredentialKind{"", "theme", "mounts", "anthropic_base_url", "ANTHROPIC_API_KEY", "anthropic_api_key "} {
		f := &fake{}
		_, err := newSystem(f).SaveCredential(kind, key, false)
		wantCode(t, err, core.CodeInvalid)
		if f.set != nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: set %v, %v", kind, f.set, err)
		}
	}
	want := core.Fail(core.CodeConfig, nil, "The settings file cannot be written.", "Check it.")
	if st, err := newSystem(&fake{setErr: want, config: bind.ConfigStatus{Path: "/p"}}).SaveCredential("anthropic_api_key", key, false); !errors.Is(err, want) || st.Config.Path != "" {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestTrialsAndSignIns(t *testing.T) {
	f := &fake{}
	s := newSystem(f)
	if st, err := s.TryCredential(bind.CredentialToken); err != nil || st.State != bind.KeyAccepted {
		t.Errorf("%+v, %v", st, err)
	}
	_, err := s.TryCredential("theme")
	wantCode(t, err, core.CodeInvalid)
	s.StopCredentialTrial()
	_, berr := s.BeginSignIn()
	_, cerr := s.GiveSignInCode("a#b")
	if err := errors.Join(berr, cerr, s.EndSignIn()); err != nil || s.SignInNow().Step != bind.SignInNone {
		t.Errorf("%+v, %v", s.SignInNow(), err)
	}
	if got := f.did(); got != "try claude_code_oauth_token stop begin code a#b end" {
		t.Error(got)
	}
}

func TestClearCredential(t *testing.T) {
	f := &fake{}
	if _, err := newSystem(f).ClearCredential("anthropic_api_key"); err != nil || f.did() != "clear anthropic_api_key" {
		t.Errorf("%s, %v", f.did(), err)
	}
	f = &fake{}
	_, err := newSystem(f).ClearCredential("theme")
	wantCode(t, err, core.CodeInvalid)
	if f.did() != "" {
		t.Error(f.did())
	}
	if list, err := newSystem(f).Credentials(); err != nil || list == nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSetTheme(t *testing.T) {
	f := &fake{}
	if err := newSystem(f).SetTheme("dark"); err != nil || f.set["theme"] != "dark" || len(f.set) != 1 {
		t.Errorf("%v, %v", f.set, err)
	}
}

// TestOpenURL refuses unsafe addresses, because links come from agents' text.
func TestOpenURL(t *testing.T) {
	f := &fake{}
	s := newSystem(f)
	s.Window = fakeWindow{fake: f}
	for _, link := range []string{"https://example.org/a?b=c#d", "http://127.0.0.1:3000/", "HTTPS://example.org"} {
		if err := s.OpenURL(link); err != nil {
			t.Errorf("%q: %v", link, err)
		}
	}
	if len(f.opened) != 3 || f.opened[0] != "https://example.org/a?b=c#d" {
		t.Errorf("opened %q", f.opened)
	}
	f.opened = nil
	for _, link := range []string{
		"", "example.org", "/etc/passwd", "//example.org", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "vscode://x/y",
		"mailto:a@example.org", "https://", "https:example.org", "http:///path", " https://example.org", "https://exa mple.org", "https://x\n--flag", "--flag", "ms-msdt:/id",
	} {
		wantCode(t, s.OpenURL(link), core.CodeInvalid)
	}
	if f.opened != nil {
		t.Errorf("opened %q", f.opened)
	}
	s.Window = nil
	wantCode(t, s.OpenURL("https://example.org"), "no_native_dialog")
}

// TestRunCallsPassOnWhatIsAsked: the client's id becomes the run's id. A client that
// lost the answer can safely send again.
func TestRunCallsPassOnWhatIsAsked(t *testing.T) {
	f := &fake{}
	r := &bind.Runs{Ctx: t.Context(), Service: fakeRuns{fake: f}}
	got, err := r.Prompt(bind.PromptRequest{ClientID: "r1", ChannelID: "c1", Prompt: "do it", Demo: true, Script: "tour"})
	if err != nil || got.ID != "r1" || f.run.ChannelID != "c1" || f.run.Prompt != "do it" || !f.run.Demo || f.run.Script != "tour" {
		t.Errorf("%+v, %v", f.run, err)
	}
	// The request cannot set fields that only Loop decides.
	if f.run.State != "" || f.run.SpoolOffset != 0 || f.run.ContainerID != "" {
		t.Errorf("%+v", f.run)
	}
	for name, call := range map[string]func() error{
		"cancel":  func() error { return r.Cancel("r2") },
		"unqueue": func() error { return r.Remove("r2") },
		"retry":   func() error { _, err := r.Retry("r2"); return err },
	} {
		f.asked, f.id = nil, ""
		if err := call(); err != nil || f.did() != name || f.id != "r2" {
			t.Errorf("%s: asked %q of %q, %v", name, f.did(), f.id, err)
		}
	}
}

func TestImageCalls(t *testing.T) {
	f := &fake{}
	s := newSystem(f)
	if st, b := s.ImageStatus(), s.BrowserImageStatus(); st.State != core.ImageReady || b.State != core.ImageReady {
		t.Errorf("%+v %+v", st, b)
	}
	if st := s.SandboxImageStatus("sandbox"); st.State != core.ImageReady {
		t.Errorf("%+v", st)
	}
	err := errors.Join(s.BuildImage(), s.BuildBrowserImage(), s.BuildSandboxImage(core.SandboxImage{Kind: "sandbox"}), s.CancelImageBuild())
	if err != nil || f.did() != "image image image sandbox build build build sandbox cancel build cancel build" {
		t.Errorf("asked %q, %v", f.did(), err)
	}
	if r, err := s.Doctor(); err != nil || !r.OK() || len(r.Checks) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
