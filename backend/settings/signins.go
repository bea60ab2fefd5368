package settings

import (
	"cmp"
	"context"
	"path/filepath"
	"sync"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/signin"
)

// signInLimit is how long a person has for a sign-in.
const signInLimit = 15 * time.Minute

// SignIn walks through “claude setup-token” and keeps its token. Its methods may be called from
// any goroutine.
type SignIn struct {
	settings *Service
	begins   sync.Mutex // held by Begin and End, which wait for a program

	mu    sync.Mutex
	now   bind.SignInState
	round int // of the sign-in that may still change now
	goes  *signin.Session
	limit *time.Timer
	kept  sync.WaitGroup // tokens that are tried and stored
	quit  context.CancelFunc
}

var _ bind.SignInService = (*SignIn)(nil)

// State is the sign-in that goes on, or how the last one ended.
func (s *SignIn) State() bind.SignInState {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Step = cmp.Or(s.now.Step, bind.SignInNone)
	return s.now
}

// set changes the state of a round that still counts, and tells the pages.
func (s *SignIn) set(round int, change func(*bind.SignInState)) bool {
	s.mu.Lock()
	if round != s.round {
		s.mu.Unlock()
		return false
	}
	change(&s.now)
	now := s.now
	s.mu.Unlock()
	s.settings.o.Publish(core.NewEvent(core.EventSignIn, "", "", time.Now(), now))
	return true
}

// Begin starts the program; a sign-in that goes on is ended.
func (s *SignIn) Begin() (bind.SignInState, error) {
	s.begins.Lock()
	defer s.begins.Unlock()
	if err := s.end(context.Background()); err != nil {
		return bind.SignInState{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	s.round++
	round := s.round
	s.now, s.quit = bind.SignInState{Step: bind.SignInStarting}, cancel
	s.mu.Unlock()
	cfg := s.settings.Current()
	session, err := signin.Start(signin.Options{
		Program: cfg.ClaudeBinPath, Env: wayOut(cfg), Folder: filepath.Join(s.settings.o.Home, "signin-"+core.NewID()),
		Changed: func(screen signin.Screen) { s.changed(ctx, round, screen) },
		Ended:   func(words string, err error) { s.ended(round, words, err) },
	})
	if err != nil {
		cancel()
		s.set(round, func(st *bind.SignInState) { st.Step, st.Failure = bind.SignInFailed, core.AsFailure(err) })
		return s.State(), err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if round != s.round { // it has failed already
		s.kept.Go(func() { _ = session.End(context.Background()) })
		return s.now, nil
	}
	s.goes = session
	s.limit = time.AfterFunc(signInLimit, func() {
		s.fail(round, core.Fail(core.CodeTimeout, nil, "The sign-in took longer than a quarter of an hour.", "Begin again."))
	})
	return s.now, nil
}

// wayOut are the variables by which the program takes the way that runs take.
func wayOut(cfg config.Config) (env []string) {
	for name, value := range map[string]string{"HTTP_PROXY": cfg.Proxies.HTTPProxy, "HTTPS_PROXY": cfg.Proxies.HTTPSProxy} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	if len(cfg.ExtraCAFiles) == 1 { // it takes one
		env = append(env, "NODE_EXTRA_CA_CERTS="+cfg.ExtraCAFiles[0])
	}
	return env
}

func (s *SignIn) changed(ctx context.Context, round int, screen signin.Screen) {
	if s.State().Step == bind.SignInTrying {
		return // its token is there, and a screen that shows it once more brings no other
	}
	switch {
	case screen.Token != "":
		if s.set(round, func(st *bind.SignInState) { st.Step, st.Asks = bind.SignInTrying, false }) {
			s.kept.Go(func() { s.keep(ctx, round, screen.Token) })
		}
	case screen.Error != "":
		s.fail(round, core.Fail(core.CodeCredentials, nil, "The sign-in failed: "+screen.Error, "Begin again, and copy the whole code."))
	case screen.URL != "":
		s.set(round, func(st *bind.SignInState) {
			if st.Step == bind.SignInStarting {
				st.Step = bind.SignInBrowser
			}
			st.URL, st.Asks = screen.URL, screen.Asks
		})
	}
}

// keep tries the token and stores it. The screen may show it once more, so the round is over.
func (s *SignIn) keep(ctx context.Context, round int, token core.Secret) {
	saved, err := s.settings.Keys.Save(ctx, config.CredentialOAuth, token, false)
	s.over(round, func(st *bind.SignInState) {
		st.URL, st.Trial = "", &saved.Trial
		switch {
		case err != nil:
			st.Step, st.Failure, st.Trial = bind.SignInFailed, core.AsFailure(err), nil
		case !saved.Stored:
			st.Step = bind.SignInFailed
			st.Failure = core.Fail(core.CodeCredentials, nil, "The new token was not stored. "+saved.Trial.Cause, "Begin again.")
		default:
			st.Step = bind.SignInDone
		}
	})
}

// ended is for a program that ends without a token.
func (s *SignIn) ended(round int, words string, err error) {
	f := core.Fail(core.CodeCredentials, err, "Claude Code ended before there was a token.", "Begin again. The detail has its last words.")
	f.Detail = cmp.Or(words, f.Detail)
	s.mu.Lock()
	waits := round == s.round && s.now.Step == bind.SignInTrying
	s.mu.Unlock()
	if !waits {
		s.fail(round, f)
	}
}

func (s *SignIn) fail(round int, f *core.Failure) {
	s.over(round, func(st *bind.SignInState) { st.Step, st.URL, st.Asks, st.Failure = bind.SignInFailed, "", false, f })
}

// over is the last change of a round. The program is ended by Begin, End or the end of Loop,
// because this may be called by its own reader.
func (s *SignIn) over(round int, change func(*bind.SignInState)) {
	if !s.set(round, change) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if round != s.round {
		return
	}
	s.round++
	if session := s.goes; session != nil {
		s.goes = nil
		s.kept.Go(func() { _ = session.End(context.Background()) })
	}
	if s.limit != nil {
		s.limit.Stop()
	}
}

// Code passes on the code of the page.
func (s *SignIn) Code(code string) (bind.SignInState, error) {
	s.mu.Lock()
	session, round, step := s.goes, s.round, s.now.Step
	s.mu.Unlock()
	if session == nil || step != bind.SignInBrowser && step != bind.SignInChecking {
		return s.State(), core.Fail(core.CodeConflict, nil, "No sign-in waits for a code.", "Begin one.")
	}
	if err := session.Code(code); err != nil {
		return s.State(), err
	}
	s.set(round, func(st *bind.SignInState) {
		if st.Step == bind.SignInBrowser {
			st.Step = bind.SignInChecking
		}
	})
	return s.State(), nil
}

// End ends what goes on, and forgets what is over.
func (s *SignIn) End(ctx context.Context) error {
	s.begins.Lock()
	defer s.begins.Unlock()
	return s.end(ctx)
}

func (s *SignIn) end(ctx context.Context) (err error) {
	s.mu.Lock()
	session := s.goes
	s.goes, s.now = nil, bind.SignInState{Step: bind.SignInNone}
	s.round++
	if s.quit != nil {
		s.quit()
	}
	if s.limit != nil {
		s.limit.Stop()
	}
	s.mu.Unlock()
	if session != nil {
		err = session.End(ctx)
	}
	s.kept.Wait()
	return err
}
