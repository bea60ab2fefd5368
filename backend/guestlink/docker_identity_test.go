//go:build docker

package guestlink_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// asks is a script that requests a model path and calls back, from the process it runs
// in. It sends every header that could name another caller. Each answer is one line.
const asks = `
ask() { # name method path body
  exec 3<>/dev/tcp/127.0.0.1/8222
  printf '%s %s HTTP/1.1\r\nHost: x\r\nX-Loop-Spawn: two\r\nLoop-Spawn: two\r\nX-Loop-Run: r2\r\nX-Forwarded-For: two\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' "$2" "$3" ${#4} "$4" >&3
  read -r _ code _ <&3
  exec 3<&-
  echo "$WHERE $1 $code"
}
all() {
  ask own POST /runs/$OWN/model/v1/messages '{}'
  ask other POST /runs/$OTHER/model/v1/messages '{}'
  ask voice POST /api/messages '{"content":"'$WHERE'","channel_id":""}'
  ask foreign POST /api/messages '{"content":"forged","channel_id":"c'${OTHER#r}'"}'
}
`

// TestTwoRunsInOneContainer: each run has its own model route and its own identity in
// callbacks. Neither can use the other's, from any process.
func TestTwoRunsInOneContainer(t *testing.T) {
	// Some scripts sleep at the end, because the spawn's files go when its program
	// ends.
	places := map[string]string{
		"program": `WHERE=program; all`,
		"child":   `(WHERE=child; all)`,
		"session": `WHERE=session setsid bash -c '. $ASKS; all'; sleep 1000`,
		"double":  `( ( WHERE=double; all ) & wait )`,
		"orphan":  `WHERE=orphan setsid bash -c '. $ASKS; ( sleep 0.2; all ) & exit'; sleep 1000`,
		"posing":  `LOOP_RUN=r2 LOOP_SPAWN=two WHERE=posing bash -c "exec -a 'loop syscallwrap' bash -c '. $ASKS; all'"`,
	}
	eachAgent(t, func(t *testing.T, agent int) {
		box := &voices{by: map[string]core.Caller{}}
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{Callbacks: box, DemoModel: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{}")
		})})
		demo := core.ModelUpstream{Demo: true}
		start := func(id core.SpawnID, own, other, script string) {
			t.Helper()
			if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/tmp", Stdio: core.StdioPipes,
				Files: []core.SpawnFile{{Name: "asks", Data: []byte(asks)}},
				Env:   []core.EnvVar{{Name: "OWN", Value: own}, {Name: "OTHER", Value: other}, {Name: "ASKS", Value: wire.RunsDir + "/" + string(id) + "/asks"}},
				Argv:  []string{"bash", "-c", "exec 2>&1\n. $ASKS\n" + script}}); err != nil {
				t.Fatal(err)
			}
		}
		l.Admit("one", core.Identity{ChannelID: "c1", RunID: "r1", Upstream: demo})
		l.Admit("two", core.Identity{ChannelID: "c2", RunID: "r2", Upstream: demo})
		// Spawn two runs all the time and has connections of its own.
		start("two", "r2", "r1", "exec 5<>/dev/tcp/127.0.0.1/8222; WHERE=two; all; sleep 1000")
		answered(t, l, "two", map[string]int{"two own": 200, "two other": 403, "two voice": 200, "two foreign": 403})
		for where, script := range places {
			id := core.SpawnID("one")
			start(id, "r1", "r2", script)
			answered(t, l, id, map[string]int{where + " own": 200, where + " other": 403, where + " voice": 200, where + " foreign": 403})
			if err := l.Kill(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if err := l.Forget(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			l.Admit(id, core.Identity{ChannelID: "c1", RunID: "r1", Upstream: demo})
		}
		for text, from := range box.heard() {
			want := core.Caller{ChannelID: "c1", SpawnID: "one", RunID: "r1"}
			if text == "two" {
				want = core.Caller{ChannelID: "c2", SpawnID: "two", RunID: "r2"}
			}
			if from != want {
				t.Errorf("%s was heard as %+v", text, from)
			}
		}
		// A process that Loop did not start gets nothing.
		out, err := b.sh(t, fmt.Sprintf("%d:%d", agent, agent), "exec bash -c '"+strings.ReplaceAll("OWN=r1 OTHER=r2 WHERE=stranger\n"+asks+"all", "'", `'\''`)+"'")
		if want := "stranger own 403\nstranger other 403\nstranger voice 403\nstranger foreign 403\n"; err != nil || out != want {
			t.Errorf("docker exec: %v\n%s", err, out)
		}
		if err := l.Kill(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		if err := l.Forget(t.Context(), "two"); err != nil {
			t.Fatal(err)
		}
		start("two", "r2", "r1", "WHERE=ended; all") // the same spawn id, but its run is over
		answered(t, l, "two", map[string]int{"ended own": 404, "ended other": 404, "ended voice": 403, "ended foreign": 403})
	})
}

// answered compares the answers that a script got with those it should have.
func answered(t *testing.T, l *guestlink.Link, id core.SpawnID, want map[string]int) {
	t.Helper()
	r, err := l.Read(t.Context(), id, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	lines := bufio.NewScanner(r)
	for n := 0; n < len(want); n++ {
		if !lines.Scan() {
			t.Errorf("%s ended after %d answers: %v", id, n, lines.Err())
			return
		}
		where, code, _ := cutLast(lines.Text())
		if code != strconv.Itoa(want[where]) {
			t.Errorf("%q, want %d", lines.Text(), want[where])
		}
	}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// voices keeps the caller of each message.
type voices struct {
	guestlink.Callbacks
	mu sync.Mutex
	by map[string]core.Caller
}

func (v *voices) SendMessage(_ context.Context, from core.Caller, ch core.ChannelID, text string) error {
	if ch != "" && ch != from.ChannelID {
		return core.Fail(core.CodeForbidden, nil, "An agent may name channels of its own project only.", "")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.by[text] = from
	return nil
}

func (v *voices) heard() map[string]core.Caller {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.by)
}
