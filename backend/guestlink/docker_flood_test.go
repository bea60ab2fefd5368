//go:build docker

package guestlink_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// TestFloodedRelayLeavesTheHostItsWay has the agent use up the relay in every way:
// requests whose bodies never end, answers that nobody reads, half headers and mute
// connections, several times more than fit. The host's own requests must still get
// through, above all a person's Stop. A new link must open, and the relay must serve
// again afterwards.
func TestFloodedRelayLeavesTheHostItsWay(t *testing.T) {
	const flood = `
use Socket; use IO::Handle; my @keep;
$SIG{PIPE} = 'IGNORE';
sub conn { socket(my $s, AF_INET, SOCK_STREAM, 0) or return; connect($s, sockaddr_in(8222, inet_aton("127.0.0.1"))) or return; $s->autoflush(1); push @keep, $s; $s }
for my $i (1..600) {
  my $s = conn() or next;
  my $kind = $i % 4;
  if ($kind == 0) { print $s "POST /runs/r/model/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc" }
  if ($kind == 1) { print $s "GET /runs/r/model/big HTTP/1.1\r\nHost: x\r\n\r\n" }
  if ($kind == 2) { print $s "POST /runs/r/model/x HTTP/1.1\r\nHost: x\r\nX-Half: " }
}
$| = 1; print "flooded\n"; sleep 1000;
`
	var reached atomic.Int32
	model := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		if strings.HasSuffix(r.URL.Path, "/big") {
			for chunk := make([]byte, 64<<10); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
	eachAgent(t, func(t *testing.T, agent int) {
		reached.Store(0)
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{DemoModel: model})
		id := core.SpawnID(core.NewID())
		l.Admit(id, core.Identity{RunID: "r", Upstream: core.ModelUpstream{Demo: true}})
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Argv: []string{"perl", "-e", flood}, Dir: "/tmp", Stdio: core.StdioPipes}); err != nil {
			t.Fatal(err)
		}
		out, err := l.Read(t.Context(), id, "out", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = out.Close() }()
		if _, err := io.ReadFull(out, make([]byte, len("flooded\n"))); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the flood reaches the host", func() bool { return reached.Load() > 20 })
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if took, err := l.Ping(ctx); err != nil {
			t.Fatalf("ping in the flood: %v after %s", err, took)
		}
		second, _ := b.link(t, guestlink.Options{DemoModel: model})
		if err := second.Kill(ctx, id); err != nil {
			t.Fatalf("kill in the flood: %v", err)
		}
		eventually(t, "the relay serves again", func() bool {
			id := core.SpawnID(core.NewID())
			second.Admit(id, core.Identity{RunID: "r", Upstream: core.ModelUpstream{Demo: true}})
			out, _ := runSpawn(t, second, id, `perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); connect(S,sockaddr_in(8222,inet_aton("127.0.0.1"))) or die; syswrite(S,"GET /runs/r/model/ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); local $/; print <S>'`)
			return strings.HasPrefix(out, "HTTP/1.1 200")
		})
		eventually(t, "loop init has given its descriptors back", func() bool {
			out, err := b.sh(t, "0:0", `ls /proc/1/fd | wc -l`)
			n, aerr := strconv.Atoi(strings.TrimSpace(out))
			return err == nil && aerr == nil && n > 0 && n < 40
		})
	})
}
