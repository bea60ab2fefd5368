package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"loop/backend/bind"
	"loop/backend/core"
)

// maxPasted bounds what is read of a key; Loop itself takes less.
const maxPasted = 64 << 10

var kindWords = map[bind.CredentialKind]string{bind.CredentialToken: "Claude Code token", bind.CredentialAPIKey: "Anthropic API key"}

func (a *app) authCommand() *cobra.Command {
	var token, adopt, anyway bool
	login := &cobra.Command{
		Use: "login", Short: "Keep a key in the system's keyring, or in an encrypted file where there is none", Args: noKey,
		Long: "The key is read from a prompt that does not show it, or from standard input; " +
			"never from the command line, which other programs can read. The model is asked once whether it takes the key; " +
			"one that it refuses is not kept.",
		Example: `  loop auth login                              ask for an API key
  claude setup-token | loop auth login --oauth-token
  loop auth login --from-config                move keys out of config.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kind := bind.CredentialAPIKey
			if token {
				kind = bind.CredentialToken
			}
			return a.login(cmd.Context(), kind, adopt, anyway)
		}}
	login.Flags().Bool("api-key", false, "a key of the Anthropic API (the default)")
	login.Flags().BoolVar(&token, "oauth-token", false, "a token of a Claude subscription")
	login.Flags().BoolVar(&adopt, "from-config", false, "move what config.json holds")
	login.Flags().BoolVar(&anyway, "anyway", false, "keep the key without asking the model")
	login.MarkFlagsMutuallyExclusive("api-key", "oauth-token", "from-config")
	status := a.job(jsonFlag(&cobra.Command{Use: "status", Short: "Say which keys there are and where they are kept", Args: none}),
		a.connect, printKeys)
	var onlyKey, onlyToken bool
	logout := a.job(&cobra.Command{
		Use: "logout", Short: "Remove keys from wherever Loop keeps them", Args: none,
	}, a.connect, func(j *job) error {
		for kind, kept := range map[bind.CredentialKind]bool{bind.CredentialToken: onlyKey, bind.CredentialAPIKey: onlyToken} {
			if kept {
				continue
			}
			if _, err := j.Call(j.ctx, "System.ClearCredential", kind); err != nil {
				return err
			}
		}
		return printKeys(j)
	})
	logout.Flags().BoolVar(&onlyKey, "api-key", false, "only the key of the Anthropic API")
	logout.Flags().BoolVar(&onlyToken, "oauth-token", false, "only the token")
	logout.MarkFlagsMutuallyExclusive("api-key", "oauth-token")
	auth := group("auth", "Give Loop a key of the model, look where it is kept, remove it", login, status, logout)
	auth.Args = noKey
	return auth
}

// noKey refuses a key on the command line without repeating it.
func noKey(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("the key is read from a prompt or from standard input, not from the command line: other programs can read it there")
	}
	return nil
}

func (a *app) login(ctx context.Context, kind bind.CredentialKind, adopt, anyway bool) error {
	secret := ""
	if !adopt { // before Loop is looked for, which may take a moment
		var err error
		if secret, err = a.readSecret(ctx, kindWords[kind]); err != nil {
			return err
		}
		if strings.TrimSpace(secret) == "" {
			return core.Fail(core.CodeInvalid, nil, "No key was given.", "Paste the whole key, or pipe it into “loop auth login”.")
		}
	}
	return a.with(ctx, a.connect, func(j *job) error {
		var err error
		if adopt {
			_, err = j.Call(j.ctx, "System.AdoptCredentials")
		} else {
			err = j.saveKey(kind, secret, anyway)
		}
		if err != nil {
			return err
		}
		return printKeys(j)
	})
}

// saveKey has Loop try a key and keep it. One that the model refuses is an error.
func (j *job) saveKey(kind bind.CredentialKind, secret string, anyway bool) error {
	raw, err := j.Call(j.ctx, "System.SaveCredential", kind, secret, anyway)
	if err != nil {
		return err
	}
	var saved bind.SavedCredential
	if err := json.Unmarshal(raw, &saved); err != nil {
		return fmt.Errorf("read what became of the key: %w", err)
	}
	if !saved.Stored {
		return core.Fail(core.CodeModelAuth, nil, saved.Trial.Cause+" It was not kept.",
			saved.Trial.Remedy+" “--anyway” keeps it nevertheless.")
	}
	for _, line := range []string{saved.Trial.Cause, saved.Trial.Remedy} {
		if line != "" {
			j.err.line("%s", line)
		}
	}
	return nil
}

// readSecret reads a key from the terminal without showing it, or all of
// standard input. Ctrl-C leaves the terminal as it was.
func (a *app) readSecret(ctx context.Context, what string) (string, error) {
	ctx, stop := a.untilInterrupt(ctx)
	defer stop()
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		state, err := term.GetState(int(f.Fd()))
		if err != nil {
			return "", fmt.Errorf("read the terminal's state: %w", err)
		}
		_, _ = fmt.Fprintf(a.err, "%s (not shown): ", what)
		text, err := typed(ctx, func() ([]byte, error) { return term.ReadPassword(int(f.Fd())) })
		if ctx.Err() != nil {
			_ = term.Restore(int(f.Fd()), state)
		}
		a.err.line("")
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the key: %w", err)
		}
		return string(text), nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.in, maxPasted+1))
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if len(raw) > maxPasted {
		return "", core.Fail(core.CodeInvalid, nil, "That is too long for a key.", "Pipe the key alone.")
	}
	return string(raw), nil
}

// typed is what read reads from a terminal, until ctx ends. The goroutine that
// reads is left behind then and ends with the process: a read of a terminal cannot
// be called back.
func typed[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

var placeWords = map[string]string{"config": "in config.json", "keyring": "in the system's keyring",
	"file": "in an encrypted file of Loop's folder"}

func printKeys(j *job) error {
	_, err := show(j, j.sayKeys, "System.Credentials")
	return err
}

func (a *app) sayKeys(list []bind.CredentialStatus) {
	none, note := true, ""
	for _, s := range list {
		what := kindWords[s.Kind]
		note = cmp.Or(note, s.Note)
		switch {
		case s.Failure != nil:
			a.err.failure(s.Failure)
		case s.Set && s.InUse:
			a.out.line("%s: %s, in use", what, placeWords[s.Where])
		case s.Set:
			a.out.line("%s: %s", what, placeWords[s.Where])
		default:
			a.out.line("%s: none", what)
			continue
		}
		none = false
	}
	if none {
		a.out.line("Without a key only the demo channel works, and a model of yours (anthropic_base_url) that asks for none: " +
			"“loop auth login” takes one.")
	}
	if note != "" {
		a.out.line("%s", note)
	}
}
