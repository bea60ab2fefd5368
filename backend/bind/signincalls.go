package bind

import (
	"context"

	"loop/backend/core"
)

// SignInService signs a person in to a subscription, one at a time.
type SignInService interface {
	Begin() (SignInState, error)
	State() SignInState
	Code(code string) (SignInState, error)
	End(ctx context.Context) error
}

// SignInStep is where a sign-in is.
type SignInStep string

const (
	SignInNone     SignInStep = "none"     // nobody signs in
	SignInStarting SignInStep = "starting" // Claude Code starts
	SignInBrowser  SignInStep = "browser"  // the person signs in at the address
	SignInChecking SignInStep = "checking" // the code was given
	SignInTrying   SignInStep = "trying"   // there is a token, and it is tried
	SignInDone     SignInStep = "done"     // the token is stored
	SignInFailed   SignInStep = "failed"
)

// SignInState is a sign-in as a person follows it. It never contains the token.
type SignInState struct {
	Step    SignInStep    `json:"step"`
	URL     string        `json:"url,omitempty"`
	Asks    bool          `json:"asks"`            // a code of the page can be given
	Trial   *KeyTrial     `json:"trial,omitempty"` // of the token
	Failure *core.Failure `json:"failure,omitempty"`
}

// BeginSignIn starts “claude setup-token” on this computer; one that goes on is ended first.
// Events of the kind signin.changed say how it goes on.
func (s *System) BeginSignIn() (SignInState, error) { return s.SignIn.Begin() }

// SignInNow is the sign-in that goes on, or how the last one ended.
func (s *System) SignInNow() SignInState { return s.SignIn.State() }

// GiveSignInCode passes on the code that the page showed after the person signed in.
func (s *System) GiveSignInCode(code string) (SignInState, error) { return s.SignIn.Code(code) }

// EndSignIn ends a sign-in. One that is over is forgotten.
func (s *System) EndSignIn() error { return s.SignIn.End(s.Ctx) }
