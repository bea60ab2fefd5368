//go:build docker

package guestlink_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// limitsPolicy is the shipped one of agents, and denies a command.
func limitsPolicy(t *testing.T) []byte {
	t.Helper()
	p, err := policy.Baseline(policy.NameAgent, policy.Place{Home: "/tmp/home", Workspaces: []string{"/project"}})
	if err != nil {
		t.Fatal(err)
	}
	p.CommandRules = append(p.CommandRules, policy.CommandRule{ID: "id", Commands: []string{"id"}, Decision: policy.Deny})
	return p.Encode()
}

// TestLimitsOfTheGate shows what docs/limits.md says that the gate does not cover, or does
// in a way of its own, each beside what it does cover. When one of these fails because the
// gate covers more, the page is to be changed with it.
func TestLimitsOfTheGate(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000, args: []string{"--tmpfs", "/project:mode=1777,exec"}})
	l, _ := b.link(t, guestlink.Options{})
	var asked atomic.Int64
	var allow atomic.Bool
	asking(t, l, func(context.Context, core.HeldCall) core.Verdict {
		asked.Add(1)
		return core.Verdict{Allow: allow.Load()}
	})
	doc := limitsPolicy(t)
	for _, c := range []struct {
		name, script string
		allow        bool // a person allows what is asked
		asks         int64
		want         string // what the script prints, without the lines of denials
	}{
		{name: "CommandRulesAreAdvice", want: "denied\nuid=1000",
			script: `id >/dev/null 2>&1 || echo denied; cp $(command -v id) /project/mine; /project/mine | cut -c1-8`},
		{name: "ApprovedWriteInPlace", allow: true, asks: 1, want: "shown and not shown",
			script: `mkdir -p /tmp/home; perl -e 'open(my $f, ">>", "/tmp/home/.bashrc") or die; syswrite $f, "shown"; syswrite $f, " and not shown\n"'; cat /tmp/home/.bashrc`},
		{name: "SmallFileIsCopied", allow: true, asks: 1, want: "approved",
			script: `perl -e 'open(my $f, ">", "/tmp/s"); syswrite $f, "approved\n"; rename "/tmp/s", "/tmp/home/.profile" or die; syswrite $f, "later\n"'; tail -n 1 /tmp/home/.profile`},
		{name: "LargeFileIsMoved", allow: true, asks: 1, want: "later",
			script: `perl -e 'open(my $f, ">", "/tmp/s"); syswrite $f, "x" x (9 << 20), 9 << 20; rename "/tmp/s", "/tmp/home/.zshrc" or die; syswrite $f, "\nlater\n"'; tail -n 1 /tmp/home/.zshrc`},
		{name: "NetworkIsNotHeld", want: "tcp\nudp",
			script: `perl -MIO::Socket::INET -e 'print "tcp\n" if IO::Socket::INET->new(PeerAddr => "127.0.0.1:8222"); my $u = IO::Socket::INET->new(Proto => "udp"); print "udp\n" if send($u, "x", 0, pack_sockaddr_in(9, inet_aton("127.0.0.1")))'`},
		{name: "UnixDatagramsAreRefused", want: "Protocol not supported",
			script: `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or print "$!\n"'`},
		{name: "PeerIsTheSupervisor", want: "loop syscallwrap",
			script: `perl -MSocket -MIO::Socket::UNIX -e '$l = IO::Socket::UNIX->new(Local => "/project/s", Listen => 1) or die $!;
if (!fork) { $c = IO::Socket::UNIX->new(Peer => "/project/s") or die; sleep 5; exit }
$p = $l->accept; ($pid) = unpack("i", getsockopt($p, SOL_SOCKET, SO_PEERCRED)); open($f, "<", "/proc/$pid/cmdline"); print join(" ", (split /\0/, <$f>)[0,1]), "\n"'; rm /project/s`},
		{name: "SetuidDoesNothing", want: "NoNewPrivs:1", script: `grep NoNewPrivs /proc/self/status | tr -d '\t'`},
		{name: "NoDebugger", want: "Operation not permitted",
			script: fmt.Sprintf(`perl -e 'syscall(%d, 0, 0, 0, 0) == -1 and print "$!\n"'`, unix.SYS_PTRACE)}, // PTRACE_TRACEME
		{name: "CallsWithoutRules", want: "ENOSYS ENOSYS open",
			script: `perl -MErrno -e 'sub said { print exists $!{ENOSYS} && $!{ENOSYS} ? "ENOSYS " : "$! " } $path = "/tmp";
$how = pack("QQQ", 0x200000, 0, 0); syscall(437, -100, $path, $how, 24) == -1 and said; syscall(469, -100, $path, $how, 24, 0) == -1 and said;
$how = pack("QQQ", 0x10000, 0, 0); print "open\n" if syscall(437, -100, $path, $how, 24) >= 0'`},
		{name: "ClonesInSubfolders", asks: 1, want: "the project's is denied\nsub: there",
			script: `cd /project; mkdir -p .git/hooks sub/.git/hooks; echo x 2>/dev/null > .git/hooks/pre-push || echo "the project's is denied"; echo x > sub/.git/hooks/pre-push && echo sub: there`},
		{name: "HooksPathInTheProject", want: "there", script: `mkdir -p /project/hooks && echo x > /project/hooks/pre-push && echo there`},
		{name: "ActivateMadeAnew", asks: 1, want: "a change is denied\nmade anew",
			script: `mkdir -p /project/v/bin; cd /project/v/bin; echo one > activate; (echo two >> activate) 2>/dev/null || echo "a change is denied"; rm activate; echo two > activate && echo made anew`},
		// The link is exchanged after the program was judged and before its interpreter opens it.
		{name: "InterpreterReadsByName", want: "another",
			script: `cd /project; mkfifo begun go; printf 'open(my $b, ">", "begun"); close $b; open(my $g, "<", "go"); <$g>; do $ARGV[0];' > pre.pl
for n in judged another; do printf '#!/usr/bin/perl /project/pre.pl\nprint "%s\\n";\n' $n > $n; chmod +x $n; done
ln -s judged link; /project/link & cat begun; ln -sfn another link; echo > go; wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			allow.Store(c.allow)
			asked.Store(0)
			var said []string
			for line := range strings.Lines(runGated(t, l, doc, c.script)) {
				if !strings.HasPrefix(line, "loop: denied: ") {
					said = append(said, line)
				}
			}
			if got := strings.TrimSpace(strings.Join(said, "")); got != c.want || asked.Load() != c.asks {
				t.Errorf("%d questions, %q", asked.Load(), got)
			}
		})
	}
	t.Run("ChangedFileInAShell", func(t *testing.T) {
		asked.Store(0)
		runGated(t, l, doc, `printf 'echo as the agent left it\n' > /project/build.sh`)
		person, err := policy.Baseline(policy.NamePerson, policy.Place{Home: "/tmp/home", Workspaces: []string{"/project"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := runGated(t, l, person.Encode(), "sh /project/build.sh"); got != "as the agent left it\n" || asked.Load() != 0 {
			t.Errorf("%d questions, %q", asked.Load(), got)
		}
	})
	t.Run("LinkMadeMeanwhile", func(t *testing.T) {
		allow.Store(false)
		runGated(t, l, policy.Policy{Name: policy.NameSystem, DefaultDecision: policy.Allow}.Encode(),
			`mkdir -p /tmp/home/dot; touch /tmp/home/dot/login; ln -s dot/login /tmp/home/.zlogin`)
		asked.Store(0)
		got := runGated(t, l, doc, `exec 2>/dev/null; cd /tmp/home; for f in .zlogin dot/login; do echo x >>$f || echo "$f is denied"; done`)
		if got != ".zlogin is denied\ndot/login is denied\n" || asked.Load() != 2 {
			t.Errorf("%d questions, %q", asked.Load(), got)
		}
		allow.Store(true)
		got = runGated(t, l, doc, `touch /tmp/home/dot/logout; ln -s dot/logout /tmp/home/.zlogout && echo x >>/tmp/home/.zlogout && cat /tmp/home/.zlogout`)
		if got != "x\n" || asked.Load() != 3 {
			t.Errorf("%d questions, %q", asked.Load(), got)
		}
	})
	t.Run("NamedPipeOfAShell", func(t *testing.T) {
		id := gatedSpawn(t, l, policy.Policy{Name: policy.NamePerson, DefaultDecision: policy.Allow}.Encode(), `mkfifo /project/pipe; read x </project/pipe; echo "$x"`)
		runGated(t, l, doc, `until [ -p /project/pipe ]; do :; done; echo by an agent >/project/pipe`)
		if got := string(readAll(t, l, id, "out", 0)); got != "by an agent\n" {
			t.Errorf("%q", got)
		}
	})
	t.Run("ShellThatLoopDidNotMake", func(t *testing.T) {
		asked.Store(0)
		got := docker(t, "exec", "-u", "1000", string(b.id), "sh", "-c", "echo x >>/tmp/home/.bashrc && echo there")
		if got != "there" || asked.Load() != 0 {
			t.Errorf("%d questions, %q", asked.Load(), got)
		}
	})
	t.Run("RunsInOneContainer", func(t *testing.T) {
		id := gatedSpawn(t, l, doc, "exec perl -e 'sleep 1000'")
		runGated(t, l, doc, `for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline | grep -q '^perl -e sleep 1000' && kill -9 ${p#/proc/}; done; true`)
		if e, err := l.Wait(t.Context(), id); err != nil || e.Signal != "SIGKILL" {
			t.Errorf("%+v %v", e, err)
		}
	})
}
