package core

import "testing"

func TestNamesSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"NPM_AUTH": true, "SSH_KEY": true, "api_key": true, "GH_TOKEN": true, "DB_PASSWORD": true, "PASSPHRASE": true, "X_CREDENTIAL": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "SECRET": true, "KEYBOARD": false, "TOKENIZER": false, "GIT_AUTHOR_NAME": false, "LANG": false, "": false,
	} {
		if NamesSecret(name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}
