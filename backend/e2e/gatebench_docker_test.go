//go:build docker

package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// asker makes files that are asked about, one for each key, and notes when each
// call has returned, in seconds. Bash reads the clock without another program.
const asker = `stty raw -echo; exec 3>times; printf OPEN; i=0; while read -rn 1; do i=$((i + 1)); : >asked-$i; echo $EPOCHREALTIME >&3; done`

// BenchmarkResumedCall is the time from an answer until the held call has returned in the
// container: an answer as the window sends it, and one of the command line from its start.
// In turn it measures what each takes with nothing to answer, an empty call of the page and
// a list of what waits. Each iteration is one question of each kind.
func BenchmarkResumedCall(b *testing.B) {
	s := newHome(b, `{"gates":{"agentgate":{"file_rules":[{"id":"asked","paths":["/**/asked-*"],"operations":["create"],"decision":"approve"}]}}}`).serve()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	c := s.terminal(b)
	c.say(map[string]any{"type": "create", "target": "agent", "channel_id": s.add(dir), "acks": true, "cmd": []string{"bash", "-c", asker}})
	c.until("the program", func() bool { return len(c.steps) > 1 })
	asked := 0
	resumed := func(answer func(a core.Approval)) time.Duration {
		c.keys("x")
		asked++
		// A run may ask ten new questions in a second.
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		var list []core.Approval
		for len(list) == 0 {
			<-tick.C
			s.must("Gate.Pending", &list)
		}
		began := time.Now()
		answer(list[0])
		for {
			<-tick.C
			data, err := os.ReadFile(filepath.Join(dir, "times"))
			if err != nil {
				b.Fatal(err)
			}
			if lines := strings.Fields(string(data)); len(lines) == asked {
				var at float64
				if _, err := fmt.Sscan(lines[asked-1], &at); err != nil {
					b.Fatal(err)
				}
				whole, part := math.Modf(at)
				return time.Unix(int64(whole), int64(part*1e9)).Sub(began.Round(0)) // without the monotonic clock
			}
		}
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		began := time.Now()
		s.must("Gate.Status", nil)
		took["call"] = append(took["call"], time.Since(began))
		took["click"] = append(took["click"], resumed(func(a core.Approval) { s.answers(a, true) }))
		took["list"] = append(took["list"], s.h.run("gate", "pending").took)
		took["command"] = append(took["command"], resumed(func(a core.Approval) {
			if r := s.h.run("gate", "allow", a.ID); r.code != 0 {
				b.Fatal(r.out, r.err)
			}
		}))
	}
	for name, all := range took {
		slices.Sort(all)
		for _, q := range []int{50, 99} {
			b.ReportMetric(float64(all[len(all)*q/100].Microseconds())/1000, fmt.Sprintf("%s-p%d-ms", name, q))
		}
	}
	b.ReportMetric(median(took["click"])/median(took["call"]), "click/call")
	b.ReportMetric(median(took["command"])/median(took["list"]), "command/list")
}
