//go:build linux

package denial

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"loop/backend/wire"
)

// TestText: every denial says what was denied, why, and what the agent can do.
func TestText(t *testing.T) {
	for _, tc := range []struct {
		d    Denial
		want string
	}{
		{Denial{Operation: "write", Target: "/home/ana/.bashrc", By: wire.ByPerson},
			"Loop's gate denied the write to /home/ana/.bashrc: the person said no. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{Operation: "create", Target: "/w/.envrc", By: wire.ByPerson, Why: "not in this project"},
			"Loop's gate denied creating /w/.envrc: the person said no: not in this project. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{Operation: "delete", Target: "/w/a", By: wire.ByTime, Why: "nobody answered in 5 minutes"},
			"Loop's gate denied deleting /w/a: nobody answered in 5 minutes. " +
				"Do not try again another way; go on without it, or ask the person in your answer."},
		{Denial{Operation: Run, Target: "nsenter -t 1", By: "escape.programs", Why: "This program leads out of the container."},
			"Loop's gate denied running nsenter -t 1: This program leads out of the container. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{Operation: Connect, Target: "/run/docker.sock", By: "mine"},
			"Loop's gate denied the connection to /run/docker.sock: the rule mine forbids it. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{Operation: "read", Target: "/home/ana/.netrc", By: ByDefault},
			"Loop's gate denied reading /home/ana/.netrc: no rule allows it. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{Operation: "chmod", Target: "/w/a", By: ByLoop, Why: "the connection to Loop broke before it answered"},
			"Loop's gate denied changing the attributes of /w/a: the connection to Loop broke before it answered. " +
				"Go on without it, and say in your answer what you wanted."},
		{Denial{Operation: "chown", Target: "/w/a", By: wire.ByRun, Why: "This run works unattended, so nobody can allow it"},
			"Loop's gate denied changing the owner of /w/a: This run works unattended, so nobody can allow it. " +
				"Do not try again another way; tell the person what you wanted and why, or go on without it."},
		{Denial{}, "Loop's gate denied a call about something: nobody could be asked. " +
			"Go on without it, and say in your answer what you wanted."},
	} {
		if got := tc.d.Text(); got != tc.want {
			t.Errorf("%+v:\n got %s\nwant %s", tc.d, got, tc.want)
		}
	}
}

// FuzzText: whatever a path or a message holds, the text is one bounded line that acts on
// no terminal.
func FuzzText(f *testing.F) {
	f.Add("write", "/tmp/\x1b]0;x\x07\nnew line", "person", "because\r\n\x00")
	f.Add("", strings.Repeat("\xff", 5000), "", strings.Repeat("ä", 3000))
	f.Fuzz(func(t *testing.T, op, target, by, why string) {
		got := Denial{Operation: op, Target: target, By: by, Why: why}.Text()
		if len(got) > 4095 || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	})
}
