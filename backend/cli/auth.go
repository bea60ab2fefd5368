package cli

import (
	"bufio"
	"cmp"
	"context"
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

// Kinds of keys as the flags say them.
const (
	kindToken = "claude_code_oauth_token"
	kindKey   = "anthropic_api_key"
)

var kindWords = map[string]string{kindToken: "Claude Code token", kindKey: "Anthropic API key"}

func (a *app) authCommand() *cobra.Command {
	auth := &cobra.Command{Use: "auth", Short: "Give Loop a key of the model, look where it is kept, remove it", Args: noKey,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	var key, token, adopt, asJSON bool
	login := &cobra.Command{
		Use: "login", Short: "Keep a key in the system's keyring, or in an encrypted file where there is none", Args: noKey,
		Long: "The key is read from a prompt that does not show it, or from standard input; " +
			"never from the command line, which other programs can read.",
		Example: `  loop auth login                              ask for an API key
  claude setup-token | loop auth login --oauth-token
  loop auth login --from-config                move keys out of config.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := a.untilInterrupt(cmd.Context())
			defer stop()
			kind := kindKey
			if token {
				kind = kindToken
			}
			return a.login(ctx, kind, adopt)
		}}
	login.Flags().BoolVar(&key, "api-key", false, "a key of the Anthropic API (the default)")
	login.Flags().BoolVar(&token, "oauth-token", false, "a token of a Claude subscription")
	login.Flags().BoolVar(&adopt, "from-config", false, "move what config.json holds")
	login.MarkFlagsMutuallyExclusive("api-key", "oauth-token", "from-config")
	status := &cobra.Command{Use: "status", Short: "Say which keys there are and where they are kept", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCore(cmd.Context(), a.connect, func(ctx context.Context, c Core) error { return a.printAuth(ctx, c, asJSON) })
		}}
	jsonFlag(&asJSON)(status)
	var outKey, outToken bool
	logout := &cobra.Command{Use: "logout", Short: "Remove keys from wherever Loop keeps them", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kinds := []string{kindToken, kindKey}
			switch {
			case outKey:
				kinds = []string{kindKey}
			case outToken:
				kinds = []string{kindToken}
			}
			return a.withCore(cmd.Context(), a.connect, func(ctx context.Context, c Core) error {
				for _, kind := range kinds {
					if _, err := c.Call(ctx, "System.ClearCredential", kind); err != nil {
						return err
					}
				}
				return a.printAuth(ctx, c, false)
			})
		}}
	logout.Flags().BoolVar(&outKey, "api-key", false, "only the key of the Anthropic API")
	logout.Flags().BoolVar(&outToken, "oauth-token", false, "only the token")
	logout.MarkFlagsMutuallyExclusive("api-key", "oauth-token")
	auth.AddCommand(login, status, logout)
	return auth
}

// noKey refuses a key on the command line without repeating it.
func noKey(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("the key is read from a prompt or from standard input, not from the command line: other programs can read it there")
	}
	return nil
}

func (a *app) login(ctx context.Context, kind string, adopt bool) error {
	secret := ""
	if !adopt {
		var err error
		if secret, err = a.readSecret(ctx, kindWords[kind]); err != nil {
			return err
		}
		if strings.TrimSpace(secret) == "" {
			return core.Fail(core.CodeInvalid, nil, "No key was given.", "Paste the whole key, or pipe it into “loop auth login”.")
		}
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if adopt {
		_, err = c.Call(ctx, "System.AdoptCredentials")
	} else {
		_, err = c.Call(ctx, "System.SetCredential", kind, secret)
	}
	if err != nil {
		return err
	}
	return a.printAuth(ctx, c, false)
}

// readSecret reads a key from the terminal without showing it, or all of
// standard input. Ctrl-C leaves the terminal as it was.
func (a *app) readSecret(ctx context.Context, what string) (string, error) {
	if f, ok := a.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		state, err := term.GetState(int(f.Fd()))
		if err != nil {
			return "", fmt.Errorf("read the terminal's state: %w", err)
		}
		_, _ = fmt.Fprintf(a.err, "%s (not shown): ", what)
		type read struct {
			text []byte
			err  error
		}
		done := make(chan read, 1)
		go func() { // left behind by Ctrl-C: nothing can end a read of a terminal
			text, err := term.ReadPassword(int(f.Fd()))
			done <- read{text, err}
		}()
		select {
		case r := <-done:
			a.err.line("")
			if r.err != nil && !errors.Is(r.err, io.EOF) {
				return "", fmt.Errorf("read the key: %w", r.err)
			}
			return string(r.text), nil
		case <-ctx.Done():
			_ = term.Restore(int(f.Fd()), state)
			a.err.line("")
			return "", ctx.Err()
		}
	}
	if a.in == nil {
		return "", nil
	}
	raw, err := io.ReadAll(io.LimitReader(bufio.NewReader(a.in), maxPasted+1))
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if len(raw) > maxPasted {
		return "", core.Fail(core.CodeInvalid, nil, "That is too long for a key.", "Pipe the key alone.")
	}
	return string(raw), nil
}

var placeWords = map[string]string{"config": "in config.json", "keyring": "in the system's keyring",
	"file": "in an encrypted file of Loop's folder"}

func (a *app) printAuth(ctx context.Context, c Core, asJSON bool) error {
	return show(ctx, a, c, asJSON, a.sayAuth, "System.Credentials")
}

func (a *app) sayAuth(list []bind.CredentialStatus) {
	none, note := true, ""
	for _, s := range list {
		what := kindWords[string(s.Kind)]
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
