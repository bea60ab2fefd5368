package settings

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"sync"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
	"loop/backend/keytrial"
	"loop/backend/sandbox"
)

// trials has what became of the keys that were tried since Loop started. A key is known by
// its hash, so that one which comes in another way is not taken for it.
type trials struct {
	mu    sync.Mutex
	seen  map[string]tried // by kind
	stop  context.CancelFunc
	round int // of the trial that stop ends
}

type tried struct {
	sum   [sha256.Size]byte
	trial bind.KeyTrial
}

// begin has the trial before stopped, so that there is one at most.
func (t *trials) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop != nil {
		t.stop()
	}
	t.round++
	round := t.round
	t.stop = cancel
	return ctx, func() {
		cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.round == round {
			t.stop = nil
		}
	}
}

func (t *trials) note(kind string, secret core.Secret, trial bind.KeyTrial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = map[string]tried{}
	}
	t.seen[kind] = tried{sha256.Sum256([]byte(secret.Reveal())), trial}
}

// of is what became of this very key; nil where it was not tried.
func (t *trials) of(kind string, secret core.Secret) *bind.KeyTrial {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seen, ok := t.seen[kind]; ok && seen.sum == sha256.Sum256([]byte(secret.Reveal())) {
		return &seen.trial
	}
	return nil
}

// StopTrial ends the trial that goes on, if there is one. A key that waited for it is not stored.
func (k *Keys) StopTrial() {
	k.trials.mu.Lock()
	defer k.trials.mu.Unlock()
	if k.trials.stop != nil {
		k.trials.stop()
	}
}

// Save tries a key, and stores it unless the model refused it or the trial was stopped. anyway
// stores it without a trial: the person knows better.
func (k *Keys) Save(ctx context.Context, kind string, secret core.Secret, anyway bool) (out bind.SavedCredential, err error) {
	if secret, err = credentials.Clean(secret); err != nil {
		return out, err
	}
	switch seen := k.trials.of(kind, secret); {
	case !anyway:
		if out.Trial, err = k.try(ctx, kind, secret); err != nil {
			return out, err
		}
		if out.Trial.State == bind.KeyRefused || out.Trial.State == bind.KeyStopped {
			return out, nil
		}
	case seen != nil:
		out.Trial = *seen
	default:
		out.Trial = bind.KeyTrial{State: bind.KeyUnsure, Cause: "The key was not tried."}
	}
	if err := k.Set(ctx, kind, secret); err != nil {
		return out, err
	}
	out.Stored = true
	return out, nil
}

// Try tries a key that Loop has.
func (k *Keys) Try(ctx context.Context, kind string) (bind.KeyTrial, error) {
	cfg := k.settings.Current()
	secret := *keyIn(&cfg, kind)
	if secret == "" {
		var err error
		if secret, err = k.vault.Get(ctx, kind); err != nil {
			return bind.KeyTrial{}, err
		}
	}
	return k.try(ctx, kind, secret)
}

func (k *Keys) try(ctx context.Context, kind string, secret core.Secret) (bind.KeyTrial, error) {
	a := k.settings.asking()
	*keyOf(&a, kind) = secret
	ctx, done := k.trials.begin(ctx)
	defer done()
	began := time.Now()
	got, err := keytrial.Try(ctx, a)
	if err != nil {
		return bind.KeyTrial{}, err
	}
	trial := said(got, kind)
	if trial.State != bind.KeyRefused { // which it is from anywhere
		trial.Cause += " " + askedFrom(got.Host, k.settings.Current().ContainerNetwork)
	}
	if ctx.Err() != nil {
		trial = bind.KeyTrial{State: bind.KeyStopped, Host: got.Host, Cause: "The trial was stopped."}
	}
	trial.At, trial.TookMS = began.UnixMilli(), time.Since(began).Milliseconds()
	if trial.State != bind.KeyStopped {
		k.trials.note(kind, secret, trial)
	}
	return trial, nil
}

// keyOf is where a question holds a key of some kind.
func keyOf(a *keytrial.Asking, kind string) *core.Secret {
	if kind == config.CredentialOAuth {
		return &a.Token
	}
	return &a.Key
}

// said puts an answer into words.
func said(got keytrial.Answer, kind string) bind.KeyTrial {
	what, from := "the key", "Copy it again from console.anthropic.com, under API keys. One that was deleted there does not come back."
	if kind == config.CredentialOAuth {
		what, from = "the token", "Sign in again for a new one. A token counts for a year, and for Claude Code alone."
	}
	out := bind.KeyTrial{Host: got.Host}
	switch got.Outcome {
	case keytrial.Accepted:
		out.State, out.Cause = bind.KeyAccepted, fmt.Sprintf("%s accepted %s.", got.Host, what)
	case keytrial.Refused:
		out.State, out.Cause, out.Remedy = bind.KeyRefused, fmt.Sprintf("%s refused %s (%d).", got.Host, what, got.Status), from
	case keytrial.Unreached:
		out.State, out.Cause = bind.KeyUnreached, got.Host+" could not be reached, so "+what+" was not tried."
		out.Remedy, out.Detail = "Check the network, and the proxy in the settings. Then try it again.", got.Err.Error()
	default:
		out.State = bind.KeyUnsure
		out.Cause = fmt.Sprintf("%s answered %d, which says nothing of %s.", got.Host, got.Status, what)
		out.Remedy = "Try it again later. If a run fails, check anthropic_base_url."
	}
	return out
}

// askedFrom says from where a trial asks, and whether runs do the same.
func askedFrom(host, network string) string {
	at := url.URL{Host: host}
	switch {
	case core.ThisComputer(at.Hostname()):
		return "Loop asked from this computer, as it does for runs."
	case network == "none":
		return "Loop asked from this computer. Runs in containers are refused: " +
			"this model is reached over a network, and container_network is “none”."
	}
	return fmt.Sprintf("Loop asked from this computer. Runs in containers ask over their network, “%s”.", network)
}

// asking is how this Loop asks its model, without a key.
func (s *Service) asking() keytrial.Asking {
	cfg := s.Current()
	except := append(sandbox.Unproxied(), cfg.Proxies.NoProxy...)
	return keytrial.Asking{
		Base: cfg.AnthropicBaseURL, Roots: keytrial.Roots(s.ExtraCA(), keytrial.ReadPEM),
		Proxy: keytrial.Proxy{HTTP: cfg.Proxies.HTTPProxy, HTTPS: cfg.Proxies.HTTPSProxy, Except: except},
	}
}

// Asking is how the model is asked about the key that a run would use; kind is empty where
// there is none.
func (s *Service) Asking(ctx context.Context) (kind string, a keytrial.Asking) {
	a = s.asking()
	kind, secret, err := s.Keys.Choose(ctx, s.Current())
	if err != nil {
		s.o.Log.Warn("look for a key", "err", err)
	}
	if kind != "" {
		*keyOf(&a, kind) = secret
	}
	return kind, a
}

// ExtraCA are the files of further certificates.
func (s *Service) ExtraCA() []string { return s.Current().ExtraCAFiles }
