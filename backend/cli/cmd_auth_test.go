package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

func TestAuthLogin(t *testing.T) {
	const canary = "sk-ant-canary"
	for name, tc := range map[string]struct {
		args []string
		in   string
		call string
		want []string
		err  string
	}{
		"key":          {args: []string{"login"}, in: canary + "\n", call: "System.SaveCredential", want: []string{`"anthropic_api_key"`, `"sk-ant-canary\n"`, `false`}},
		"untried":      {args: []string{"login", "--anyway"}, in: canary, call: "System.SaveCredential", want: []string{`"anthropic_api_key"`, `"sk-ant-canary"`, `true`}},
		"token":        {args: []string{"login", "--oauth-token"}, in: canary, call: "System.SaveCredential", want: []string{`"claude_code_oauth_token"`, `"sk-ant-canary"`}},
		"refused":      {args: []string{"login"}, in: "sk-ant-refused", err: "The API refused it. It was not kept."},
		"from config":  {args: []string{"login", "--from-config"}, call: "System.AdoptCredentials"},
		"nothing":      {args: []string{"login"}, in: " \n", err: "No key was given"},
		"too much":     {args: []string{"login"}, in: strings.Repeat("x", maxPasted+1), err: "too long"},
		"as argument":  {args: []string{"login", canary}, err: "not from the command line"},
		"two at once":  {args: []string{"login", "--api-key", "--oauth-token"}, err: "do not go together"},
		"unknown verb": {args: []string{"whoami"}, err: "loop help"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fake.answers["System.SaveCredential"] = bind.SavedCredential{Stored: tc.err == "", Trial: bind.KeyTrial{Cause: "The API refused it.", Remedy: "Copy it again."}}
			r.fake.answers["System.AdoptCredentials"] = map[string]any{}
			r.fake.answers["System.Credentials"] = []bind.CredentialStatus{{Kind: bind.CredentialToken}, {Kind: bind.CredentialAPIKey, Set: true, Where: "keyring", InUse: true}}
			r.in = tc.in
			code := r.run(append([]string{"auth"}, tc.args...)...)
			said := r.out.String() + r.err.String()
			if strings.Contains(said, canary) {
				t.Errorf("the key is shown: %s", said)
			}
			if tc.err != "" {
				if code == exitOK || !strings.Contains(said, tc.err) {
					t.Errorf("exit %d, said %q", code, said)
				}
				return
			}
			if code != exitOK || !strings.Contains(said, "in the system's keyring, in use") {
				t.Errorf("exit %d, said %q", code, said)
			}
			for i, want := range tc.want {
				if got := string(r.fake.last[tc.call][i]); got != want {
					t.Errorf("argument %d is %s, want %s", i, got, want)
				}
			}
		})
	}
}

func TestAuthStatusAndLogout(t *testing.T) {
	r := newRig(t)
	list := []bind.CredentialStatus{
		{Kind: bind.CredentialToken, Failure: core.Fail(core.CodeCredentials, nil, "The system's keyring did not answer.", "Unlock it.")},
		{Kind: bind.CredentialAPIKey, Set: true, Where: "file", Note: "A new key is kept in an encrypted file: this session has no keyring."},
	}
	r.fake.answers["System.Credentials"] = list
	r.fake.answers["System.ClearCredential"] = map[string]any{}
	if code := r.run("auth", "status"); code != exitOK || !strings.Contains(r.out.String(), "encrypted file") || !strings.Contains(r.err.String(), "Unlock it.") {
		t.Errorf("exit %d: %s %s", code, r.out.String(), r.err.String())
	}
	r.out.Reset()
	if code := r.run("auth", "status", "--json"); code != exitOK {
		t.Error(code)
	}
	var got []bind.CredentialStatus
	if err := json.Unmarshal(r.out.Bytes(), &got); err != nil || len(got) != 2 || got[1].Where != "file" {
		t.Errorf("%s: %v", r.out.String(), err)
	}
	r.fake.calls = nil
	if code := r.run("auth", "logout"); code != exitOK || strings.Count(strings.Join(r.fake.calls, " "), "System.ClearCredential") != 2 {
		t.Errorf("exit %d, calls %v", code, r.fake.calls)
	}
	r.fake.calls = nil
	if code := r.run("auth", "logout", "--api-key"); code != exitOK || strings.Count(strings.Join(r.fake.calls, " "), "System.ClearCredential") != 1 {
		t.Errorf("exit %d, calls %v", code, r.fake.calls)
	}
}
