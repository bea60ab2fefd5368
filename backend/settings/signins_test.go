package settings

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/signin"
	"loop/backend/signin/signintest"
)

// modelAt serves the scripted model, and has config.json name it.
func modelAt(t *testing.T, h http.Handler, more string) (*Keys, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	k, path := testKeys(t, `{"anthropic_base_url": "`+srv.URL+`"`+more+`}`)
	return k, filepath.Dir(path)
}

func scripted() http.Handler { return demo.New(demo.Options{Pace: demo.Instant}) }

func TestAKeyIsTriedWhenItIsSaved(t *testing.T) {
	ctx := t.Context()
	k, _ := modelAt(t, scripted(), "")
	place := func() string {
		list, err := k.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range list {
			if st.Kind == bind.CredentialAPIKey && st.Set {
				if st.Trial == nil {
					return st.Where
				}
				return st.Where + " " + string(st.Trial.State)
			}
		}
		return ""
	}
	got, err := k.Save(ctx, config.CredentialAPIKey, demo.RefusedKey+"\n", false)
	if err != nil || got.Stored || got.Trial.State != bind.KeyRefused || got.Trial.Remedy == "" || place() != "" {
		t.Errorf("a refused key: %+v, %v, %q", got, err, place())
	}
	if strings.Contains(got.Trial.Cause+got.Trial.Remedy+got.Trial.Detail, demo.RefusedKey) {
		t.Errorf("the key is told: %+v", got)
	}
	if got, err = k.Save(ctx, config.CredentialAPIKey, demo.RefusedKey, true); err != nil || !got.Stored || got.Trial.State != bind.KeyRefused || place() != "file refused" {
		t.Errorf("kept anyway: %+v, %v, %q", got, err, place())
	}
	if got, err = k.Save(ctx, config.CredentialAPIKey, "sk-ant-good", false); err != nil || !got.Stored || got.Trial.State != bind.KeyAccepted || got.Trial.At == 0 || place() != "file accepted" {
		t.Errorf("a good key: %+v, %v, %q", got, err, place())
	}
	if again, err := k.Try(ctx, config.CredentialAPIKey); err != nil || again.State != bind.KeyAccepted {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if err := k.Set(ctx, config.CredentialAPIKey, "sk-ant-another"); err != nil || place() != "file" {
		t.Errorf("another key has the trial of the one before: %v, %q", err, place())
	}
	if _, err := k.Save(ctx, config.CredentialAPIKey, " \n", false); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("an empty key: %v", err)
	}
	if _, err := k.Try(ctx, config.CredentialOAuth); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a key that is not there: %v", err)
	}
}

func TestAKeyThatCannotBeTriedIsSavedWithAWarning(t *testing.T) {
	k, _ := testKeys(t, `{"anthropic_base_url": "http://127.0.0.1:1"}`)
	got, err := k.Save(t.Context(), config.CredentialAPIKey, "sk-ant-good", false)
	if err != nil || !got.Stored || got.Trial.State != bind.KeyUnreached || got.Trial.Remedy == "" || got.Trial.Detail == "" {
		t.Errorf("%+v, %v", got, err)
	}
	k, _ = testKeys(t, "")
	if got, err := k.Save(t.Context(), config.CredentialAPIKey, "sk-ant-good", true); err != nil || !got.Stored || got.Trial.State != bind.KeyUnsure {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestATrialSaysFromWhereItAsked: what is on this computer is asked as for runs, anything else
// over a network that runs may not have. No proxy is asked for what containers reach without.
func TestATrialSaysFromWhereItAsked(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer proxy.Close()
	for _, c := range []struct{ base, network, want, not string }{
		{"http://model.invalid", "bridge", "model.invalid accepted the key. Loop asked from this computer. Runs in containers ask over their network, “bridge”.", "refused"},
		{"http://model.invalid", "none", "accepted the key. Loop asked from this computer. Runs in containers are refused", "ask over"},
		{proxy.URL, "none", "accepted the key. Loop asked from this computer, as it does for runs.", "refused"},
		{"http://localhost:1", "bridge", "could not be reached, so the key was not tried. Loop asked from this computer, as it does for runs.", "accepted"},
	} {
		k, _ := testKeys(t, `{"anthropic_base_url": "`+c.base+`", "container_network": "`+c.network+`", "proxies": {"http_proxy": "`+proxy.URL+`"}}`)
		if except := k.settings.asking().Proxy.Except; !slices.Contains(except, "172.16.0.0/12") {
			t.Errorf("no proxy for %v", except)
		}
		got, err := k.Save(t.Context(), config.CredentialAPIKey, "sk-ant-good", false)
		if err != nil || !strings.Contains(got.Trial.Cause, c.want) || strings.Contains(got.Trial.Cause, c.not) {
			t.Errorf("%s: %q, %v", c.base, got.Trial.Cause, err)
		}
	}
	refused, _ := modelAt(t, scripted(), "")
	if got, err := refused.Save(t.Context(), config.CredentialAPIKey, demo.RefusedKey, false); err != nil || strings.Contains(got.Trial.Cause, "asked from") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestATrialIsStopped: by the person, and by the next one.
func TestATrialIsStopped(t *testing.T) {
	asked := make(chan struct{}, 10)
	k, _ := modelAt(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}), "")
	for name, stop := range map[string]func(){
		"by the person":   k.StopTrial,
		"by the next one": func() { _, done := k.trials.begin(t.Context()); done() },
	} {
		saved := make(chan bind.SavedCredential, 1)
		go func() {
			got, err := k.Save(t.Context(), config.CredentialAPIKey, "sk-ant-good", false)
			if err != nil {
				t.Error(err)
			}
			saved <- got
		}()
		<-asked
		stop()
		if got := <-saved; got.Stored || got.Trial.State != bind.KeyStopped {
			t.Errorf("%s: %+v", name, got)
		}
	}
	k.StopTrial() // of nothing
	if kind, _, _ := k.Choose(t.Context(), k.settings.Current()); kind != "" {
		t.Error("a key was stored")
	}
}

type signInRig struct {
	*SignIn
	t    *testing.T
	home string
	told chan bind.SignInState
}

func newSignIn(t *testing.T, model http.Handler, how string) *signInRig {
	t.Helper()
	k, home := modelAt(t, model, `, "claude_bin_path": "`+signintest.Use(t, how)+`"`)
	r := &signInRig{SignIn: k.settings.SignIn, t: t, home: home, told: make(chan bind.SignInState, 100)}
	k.settings.o.Publish = func(events ...core.Event) {
		for _, e := range events {
			if e.Type == core.EventSignIn {
				if strings.Contains(string(e.Data), "sk-ant-oat") {
					t.Errorf("the token is told: %s", e.Data)
				}
				r.told <- r.State()
			}
		}
	}
	t.Cleanup(func() {
		if err := r.End(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(home, "signin-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if st := r.State(); st.Step != bind.SignInNone || st.URL != "" {
			t.Errorf("after the end: %+v", st)
		}
	})
	return r
}

func (r *signInRig) until(step bind.SignInStep) bind.SignInState {
	r.t.Helper()
	end := time.After(30 * time.Second)
	for {
		if st := r.State(); st.Step == step {
			return st
		}
		select {
		case <-r.told:
		case <-end:
			r.t.Fatalf("never %s: %+v", step, r.State())
		}
	}
}

func TestSignInKeepsTheToken(t *testing.T) {
	r := newSignIn(t, scripted(), "asks")
	if _, err := r.Code("early"); core.AsFailure(err).Code != core.CodeConflict {
		t.Errorf("a code before there is a sign-in: %v", err)
	}
	if _, err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	st := r.until(bind.SignInBrowser)
	for !st.Asks {
		<-r.told
		st = r.State()
	}
	if st.URL != signintest.URL {
		t.Errorf("%+v", st)
	}
	if _, err := r.Code("two words"); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("%v", err)
	}
	if st, err := r.Code(signintest.Code); err != nil || st.Step != bind.SignInChecking {
		t.Fatalf("%+v, %v", st, err)
	}
	if st := r.until(bind.SignInDone); st.Trial == nil || st.Trial.State != bind.KeyAccepted || st.Failure != nil || st.URL != "" {
		t.Errorf("%+v", st)
	}
	kind, secret, err := r.settings.Keys.Choose(t.Context(), r.settings.Current())
	if err != nil || kind != config.CredentialOAuth || secret.Reveal() != signintest.Token {
		t.Errorf("%s, %v", kind, err)
	}
}

// TestATokenIsTriedOnce, however many screens show it.
func TestATokenIsTriedOnce(t *testing.T) {
	asked, answer := make(chan struct{}, 10), make(chan struct{})
	model := scripted()
	r := newSignIn(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked <- struct{}{}
		<-answer
		model.ServeHTTP(w, req)
	}), "waits")
	if _, err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	r.until(bind.SignInBrowser)
	r.mu.Lock()
	round := r.round
	r.mu.Unlock()
	r.changed(t.Context(), round, signin.Screen{Token: signintest.Token})
	<-asked
	r.changed(t.Context(), round, signin.Screen{Token: signintest.Token, URL: signintest.URL})
	r.changed(t.Context(), round, signin.Screen{Error: "late"})
	close(answer)
	if st := r.until(bind.SignInDone); st.Failure != nil || len(asked) > 0 {
		t.Errorf("%+v, asked %d times more", st, len(asked))
	}
	if err := r.End(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSignInThatFails(t *testing.T) {
	refusing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for how, tc := range map[string]struct {
		model http.Handler
		code  string
		want  string
	}{
		"ends":  {scripted(), "", "ended before there was a token"},
		"asks":  {scripted(), "bad#code", "Invalid code"},
		"opens": {refusing, "", "not stored"},
	} {
		t.Run(how, func(t *testing.T) {
			r := newSignIn(t, tc.model, how)
			if _, err := r.Begin(); err != nil {
				t.Fatal(err)
			}
			if tc.code != "" {
				for st := r.until(bind.SignInBrowser); !st.Asks; st = r.State() {
					<-r.told
				}
				if _, err := r.Code(tc.code); err != nil {
					t.Fatal(err)
				}
			}
			st := r.until(bind.SignInFailed)
			if st.Failure == nil || !strings.Contains(st.Failure.Cause, tc.want) || st.Failure.Remedy == "" || st.URL != "" {
				t.Errorf("%+v: %v", st, st.Failure)
			}
			if kind, _, _ := r.settings.Keys.Choose(t.Context(), r.settings.Current()); kind != "" {
				t.Error("a token was stored")
			}
			if _, err := r.Code("late"); core.AsFailure(err).Code != core.CodeConflict {
				t.Errorf("a code after the end: %v", err)
			}
		})
	}
}

// TestSignInsOneAtATime: the next one ends the one before, and the end of Loop the last.
func TestSignInsOneAtATime(t *testing.T) {
	r := newSignIn(t, scripted(), "waits")
	for range 2 {
		if _, err := r.Begin(); err != nil {
			t.Fatal(err)
		}
		r.until(bind.SignInBrowser)
		if live, _ := filepath.Glob(filepath.Join(r.home, "signin-*")); len(live) != 1 {
			t.Errorf("folders: %v", live)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.settings.o.Channels = &settingsRig{gone: true}
	r.settings.Run(ctx)
	if st := r.State(); st.Step != bind.SignInNone {
		t.Errorf("%+v", st)
	}
}

func TestSignInWithoutClaudeCode(t *testing.T) {
	r := newSignIn(t, scripted(), "asks")
	t.Setenv("PATH", t.TempDir())
	path := r.settings.o.Source.Path()
	if err := os.WriteFile(path, []byte(`{"claude_bin_path": "/nowhere/claude"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.settings.o.Source.Reload()
	if _, err := r.Begin(); core.AsFailure(err).Code != core.CodeNotFound {
		t.Errorf("%v", err)
	}
	if st := r.State(); st.Step != bind.SignInFailed || st.Failure == nil {
		t.Errorf("%+v", st)
	}
}
