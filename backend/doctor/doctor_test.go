package doctor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

func parts(t *testing.T) Parts {
	return Parts{
		Engine: func(context.Context) core.EngineStatus { return core.EngineStatus{OK: true, Name: "Docker"} },
		Image:  func(context.Context) core.ImageStatus { return core.ImageStatus{State: core.ImageReady, Ref: "x"} },
		Trial:  func(context.Context) (Trial, error) { return Trial{Started: time.Second}, nil },
		Home:   t.TempDir(), OS: "linux", Getenv: func(string) string { return "" },
		Credential: func() (string, string) { return "", "" }, Problems: func() []string { return nil },
		CheckCA: func(string) error { return nil },
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
	r := Doctor{Probes(parts(t))}.Check(t.Context())
	want := map[string]State{"config": OK, "disk": OK, "engine": OK, "image": OK, "link": OK, "ca": OK, "credentials": Warn, "display": Warn, "gate": Warn}
	for id, s := range states(r) {
		if want[id] != s {
			t.Errorf("%s: %s", id, s)
		}
	}
	if !r.OK() {
		t.Error("warnings must not fail the report")
	}
}

func TestWhatNeedsAFailedCheckIsNotTried(t *testing.T) {
	p := parts(t)
	p.Engine = func(context.Context) core.EngineStatus {
		return core.EngineStatus{Failure: core.Fail(core.CodeNoEngine, errors.New("refused"), "No engine answers.", "Start Docker.")}
	}
	p.Trial = func(context.Context) (Trial, error) { t.Error("tried"); return Trial{}, nil }
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
	p := parts(t)
	p.BaseURL = srv.URL
	p.Credential = func() (string, string) { return "anthropic_api_key", "canary" }
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

func TestDiskIsWritten(t *testing.T) {
	p := parts(t)
	p.Home = filepath.Join(p.Home, "gone")
	if got := states(Doctor{Probes(p)}.Check(t.Context()))["disk"]; got != Fail {
		t.Errorf("a missing folder: %s", got)
	}
	p = parts(t)
	Doctor{Probes(p)}.Check(t.Context())
	if left, _ := os.ReadDir(p.Home); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCertificatesAreRead(t *testing.T) {
	p := parts(t)
	p.CheckCA = func(path string) error {
		if path == "bad.pem" {
			return errors.New("it holds no certificate")
		}
		return nil
	}
	for path, want := range map[string]State{"bad.pem": Fail, "good.pem": OK} {
		p.ExtraCA = []string{path}
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
