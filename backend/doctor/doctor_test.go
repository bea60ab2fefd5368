package doctor

import (
	"cmp"
	"context"
	"encoding/pem"
	"errors"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/keytrial"
)

// settings are a person's settings, as a test wants them.
type settings struct {
	kind, base string
	files      []string
	problems   []core.SettingsProblem
	unusable   bool
}

func (s *settings) Asking(context.Context) (kind string, a keytrial.Asking) {
	a.Base, a.Roots = s.base, keytrial.Roots(s.files, keytrial.ReadPEM)
	if s.kind != "" {
		a.Key = "canary"
	}
	return s.kind, a
}
func (s *settings) ExtraCA() []string                        { return s.files }
func (s *settings) Problems() ([]core.SettingsProblem, bool) { return s.problems, !s.unusable }

func engineSays(s core.EngineStatus) func(context.Context) core.EngineStatus {
	return func(context.Context) core.EngineStatus { return s }
}

func imageSays(s core.ImageStatus) func(context.Context) core.ImageStatus {
	return func(context.Context) core.ImageStatus { return s }
}

func parts(t *testing.T, s *settings) Parts {
	return Parts{
		Engine: engineSays(core.EngineStatus{OK: true, Name: "Docker"}), Image: imageSays(core.ImageStatus{State: core.ImageReady, Ref: "x"}),
		Trial: func(context.Context) (Tried, error) { return Tried{Started: time.Second}, nil }, Settings: s,
		GateTrial: func(context.Context) (GateTried, error) { return tried(nil), nil }, Gate: &gate{},
		Build: func(context.Context) error { return nil },
		Home:  closed(t), OS: "linux", Getenv: func(string) string { return "" }, ReadCA: os.ReadFile,
	}
}

func states(r Report) map[string]State {
	m := map[string]State{}
	for _, c := range r.Checks {
		m[c.ID] = c.State
	}
	return m
}

func TestAllWell(t *testing.T) {
	r := Doctor{Probes(parts(t, &settings{}))}.Check(t.Context())
	want := map[string]State{"config": OK, "disk": OK, "engine": OK, "image": OK, "link": OK, "ca": OK, "credentials": Warn, "display": Warn, "notifications": OK,
		"gate": OK}
	for id, s := range states(r) {
		if want[id] != s {
			t.Errorf("%s: %s", id, s)
		}
	}
	if !r.OK() {
		t.Error("warnings must not fail the report")
	}
}

// TestConfiguration: an unknown field is only a warning. A Loop that has just started
// can run nothing when its file is unusable.
func TestConfiguration(t *testing.T) {
	unknown := core.SettingsProblem{Path: "c", Line: 1, Col: 2, Message: "unknown", Remedy: "Check its name.", Warning: true}
	bad := core.SettingsProblem{Path: "c", Line: 2, Col: 2, Message: "bad", Remedy: "Correct it."}
	for remedy, c := range map[string]struct {
		list     []core.SettingsProblem
		unusable bool
		state    State
	}{
		"Check its name.": {[]core.SettingsProblem{unknown}, true, Warn},
		"Correct the file; until then Loop uses the last good values.": {[]core.SettingsProblem{unknown, bad}, false, Warn},
		"Correct the file; nothing can be run until then.":             {[]core.SettingsProblem{unknown, bad}, true, Fail},
	} {
		r := Doctor{Probes(parts(t, &settings{problems: c.list, unusable: c.unusable}))}.Check(t.Context())
		if got := r.Checks[0]; got.State != c.state || got.Remedy != remedy || got.Summary != c.list[len(c.list)-1].String() {
			t.Errorf("%+v", got)
		}
	}
}

func TestWhatNeedsAFailedCheckIsNotTried(t *testing.T) {
	p := parts(t, &settings{})
	p.Engine = engineSays(core.EngineStatus{Failure: core.Fail(core.CodeNoEngine, errors.New("refused"), "No engine answers.", "Start Docker.")})
	p.Trial = func(context.Context) (Tried, error) { t.Error("tried"); return Tried{}, nil }
	got := states(Doctor{Probes(p)}.Check(t.Context()))
	if got["engine"] != Fail || got["image"] != Skip || got["link"] != Skip {
		t.Errorf("%v", got)
	}
}

func TestCredentialsAreTried(t *testing.T) {
	var status int
	var header http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer srv.Close()
	p := parts(t, &settings{base: srv.URL, kind: "anthropic_api_key"})
	for code, want := range map[int]State{200: OK, 401: Fail, 403: Fail, 503: Warn, 404: Warn, 302: Warn, 429: Warn} {
		status = code
		r := Doctor{Probes(p)}.Check(t.Context())
		if got := states(r)["credentials"]; got != want {
			t.Errorf("%d: %s", code, got)
		}
		for _, c := range r.Checks {
			if strings.Contains(c.Summary+c.Detail+c.Remedy, "canary") {
				t.Errorf("the key is in the report: %+v", c)
			}
		}
		if header.Get("x-api-key") != "canary" {
			t.Error("the key was not used")
		}
	}
	srv.Close()
	if got := states(Doctor{Probes(p)}.Check(t.Context()))["credentials"]; got != Warn {
		t.Errorf("unreachable: %s", got)
	}
}

// TestModelThatWantsNoKey: a person's own model is asked without a key, as in runs.
func TestModelThatWantsNoKey(t *testing.T) {
	status, keyed := 0, false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keyed = keyed || r.Header.Get("x-api-key") != "" || r.Header.Get("Authorization") != ""
		w.WriteHeader(status)
	}))
	defer srv.Close()
	p := parts(t, &settings{base: srv.URL})
	check := func() Check {
		for _, c := range (Doctor{Probes(p)}).Check(t.Context()).Checks {
			if c.ID == "credentials" {
				return c
			}
		}
		return Check{}
	}
	for code, want := range map[int]struct {
		state State
		says  string
	}{200: {OK, "without a key"}, 401: {Fail, "without a key"}, 404: {Warn, "404"}} {
		status = code
		if c := check(); c.State != want.state || !strings.Contains(c.Summary, want.says) {
			t.Errorf("%d: %+v", code, c)
		}
	}
	srv.Close()
	if c := check(); c.State != Warn || !strings.Contains(c.Summary, "could not be reached") || strings.Contains(c.Summary, "A key is set") {
		t.Errorf("unreachable: %+v", c)
	}
	if keyed {
		t.Error("a key was sent")
	}
}

// TestModelAccessFollowsTheSettings: the doctor trusts a company's own certificate, as
// the containers do. It asks at the address that the settings name now.
func TestModelAccessFollowsTheSettings(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.Config.ErrorLog = log.New(t.Output(), "", 0) // reports broken handshakes
	srv.StartTLS()
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	set := &settings{kind: "anthropic_api_key"}
	d := Doctor{Probes(parts(t, set))}
	for _, step := range []struct {
		base  string
		files []string
		want  State
		word  string
	}{
		{"https://127.0.0.1:1", nil, Warn, "could not be reached"},
		{srv.URL, nil, Warn, "certificate"},
		{srv.URL, []string{filepath.Join(t.TempDir(), "gone"), file}, OK, "accepted"},
		{"https://127.0.0.1:1", []string{file}, Warn, "could not be reached"},
	} {
		set.base, set.files = step.base, step.files
		for _, c := range d.Check(t.Context()).Checks {
			if c.ID == "credentials" && (c.State != step.want || !strings.Contains(c.Summary+c.Detail, step.word)) {
				t.Errorf("%+v: %+v", step, c)
			}
		}
	}
}

func TestDiskIsWritten(t *testing.T) {
	p := parts(t, &settings{})
	p.Home = filepath.Join(p.Home, "gone")
	if got := states(Doctor{Probes(p)}.Check(t.Context()))["disk"]; got != Fail {
		t.Errorf("a missing folder: %s", got)
	}
	p = parts(t, &settings{})
	Doctor{Probes(p)}.Check(t.Context())
	if left, _ := os.ReadDir(p.Home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCertificatesAreRead(t *testing.T) {
	set := &settings{}
	p := parts(t, set)
	p.ReadCA = func(path string) ([]byte, error) {
		if path == "bad.pem" {
			return nil, errors.New("it holds no certificate")
		}
		return nil, nil
	}
	for path, want := range map[string]State{"bad.pem": Fail, "good.pem": OK} {
		set.files = []string{path}
		if got := states(Doctor{Probes(p)}.Check(t.Context()))["ca"]; got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestASlowProbeEnds(t *testing.T) {
	d := Doctor{[]Probe{{ID: "slow", Limit: time.Millisecond, Do: func(ctx context.Context) (Check, error) { <-ctx.Done(); return Check{}, ctx.Err() }}}}
	if c := d.Check(t.Context()).Checks[0]; c.State != Fail || !strings.Contains(c.Summary, "finish") {
		t.Errorf("%+v", c)
	}
}

// closed is a folder that nobody else may look into.
func closed(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFix: what a check offers is done, and the check performed again. Nothing else is done.
func TestFix(t *testing.T) {
	p := parts(t, &settings{})
	built := 0
	p.Image = func(context.Context) core.ImageStatus {
		if built == 0 {
			return core.ImageStatus{State: core.ImageMissing, Ref: "x"}
		}
		return core.ImageStatus{State: core.ImageReady, Ref: "x"}
	}
	p.Build = func(context.Context) error { built++; return nil }
	if err := os.Chmod(p.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	d := Doctor{Probes(p)}
	for _, c := range d.Check(t.Context()).Checks {
		if offers := c.ID == "image" || c.ID == "disk"; offers != (c.Fix != "") {
			t.Errorf("%s offers %q", c.ID, c.Fix)
		}
	}
	for _, id := range []string{"image", "disk"} {
		if c, err := d.Fix(t.Context(), id); err != nil || c.State != OK || c.Fix != "" {
			t.Errorf("%s: %+v %v", id, c, err)
		}
	}
	if info, err := os.Stat(p.Home); err != nil || info.Mode().Perm() != 0o700 || built != 1 {
		t.Errorf("%v, %v, built %d times", info.Mode(), err, built)
	}
	for _, id := range []string{"", "gate", "none"} {
		if _, err := d.Fix(t.Context(), id); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
	p.Build = func(context.Context) error { return errors.New("no space") }
	if _, err := (Doctor{Probes(p)}).Fix(t.Context(), "image"); err == nil {
		t.Error("a build that fails is no success")
	}
}

// TestAnImageOfOnesOwnIsNotBuilt: nothing is offered that cannot work.
func TestAnImageOfOnesOwnIsNotBuilt(t *testing.T) {
	p := parts(t, &settings{})
	missing := core.ImageStatus{State: core.ImageMissing, Ref: "mine:1", Theirs: true}
	failed, ready := missing, missing
	missing.Note = "The first run pulls it."
	failed.Failure = &core.Failure{Remedy: "“docker pull mine:1” gets it."}
	ready.State = core.ImageReady
	for _, tc := range []struct {
		status core.ImageStatus
		state  State
		remedy string
	}{{missing, Fail, missing.Note}, {failed, Fail, failed.Failure.Remedy}, {ready, OK, ""}} {
		p.Image = imageSays(tc.status)
		c, err := p.image(t.Context())
		if err != nil || c.Fix != "" || c.Remedy != tc.remedy || cmp.Or(c.State, OK) != tc.state || !strings.Contains(c.Summary, "mine:1, which the settings name,") {
			t.Errorf("%+v %v", c, err)
		}
	}
}

// refused are notifications that a system does not show.
type refused struct{ err error }

func (r refused) Ready(context.Context) error { return r.err }

func TestNotificationsThatAreNotShown(t *testing.T) {
	p := parts(t, &settings{})
	for want, err := range map[State]error{
		OK: nil, Warn: core.Fail("notifications", nil, "The system lets Loop show no notifications.", "Allow them."),
	} {
		p.Notices = refused{err}
		r := Doctor{Probes(p)}.Check(t.Context())
		i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.ID == "notifications" })
		if got := r.Checks[i]; got.State != want || (want == Warn) != (got.Remedy == "Allow them.") || !r.OK() {
			t.Errorf("%+v", got)
		}
	}
}
