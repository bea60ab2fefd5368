package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// million is the size that docs/performance.md speaks of.
const million = 1_000_000

// BenchmarkFind finds words in a million events of twenty channels: a rare one, one that is
// everywhere, and two of which one is, each against a walk through all texts. The walk is what
// there would be without an index.
func BenchmarkFind(b *testing.B) {
	s, ctx := open(b), context.Background()
	for i := range 20 {
		addChannel(b, s, core.ChannelID(rune('a'+i)))
	}
	began := time.Now()
	if _, err := s.writer.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO events (channel_id, run_id, type, ts, data)
		SELECT char(97 + i % 20), 'r' || (i / 50), 'tool.result', i,
			json_object('tool_use_id', 't' || i, 'output', 'ok package' || (i % 977) || ' passes in ' || i || ' ms' || CASE WHEN i % 99991 = 0 THEN ' needle' ELSE '' END)
		FROM n`, million); err != nil {
		b.Fatal(err)
	}
	b.Logf("a million events were stored in %v", time.Since(began).Round(time.Second))
	for _, q := range []core.FindQuery{{Words: "needle"}, {Words: "passes"}, {Words: "passes needl", ChannelID: "l"}, {Words: "p"}} {
		b.Run(q.Words, func(b *testing.B) {
			for b.Loop() {
				if got, err := s.Find(ctx, q); err != nil || len(got.Found) == 0 {
					b.Fatalf("%v: %d found", err, len(got.Found))
				}
			}
			b.StopTimer()
			began := time.Now()
			var n int
			if err := s.reader.QueryRowContext(ctx, `SELECT count(*) FROM events WHERE data LIKE '%needle%'`).Scan(&n); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Since(began)), "of-a-walk")
		})
	}
}

// BenchmarkAppendFound appends the same events to a database as it is and to one without the
// index of what was said, in turns. The metrics say how many times as long the first takes, and
// how much longer for one event.
func BenchmarkAppendFound(b *testing.B) {
	for _, c := range []struct {
		name         string
		bytes, batch int
	}{{"one message", 400, 1}, {"20 messages", 400, 20}, {"one result of 8 KB", 8 << 10, 1}, {"20 results of 8 KB", 8 << 10, 20}} {
		b.Run(c.name, func(b *testing.B) {
			stores, ctx := []*Store{open(b), open(b)}, b.Context()
			for _, s := range stores {
				addChannel(b, s, "c")
			}
			for _, trigger := range []string{"events_said", "events_resaid", "events_unsaid"} {
				if _, err := stores[1].writer.ExecContext(ctx, "DROP TRIGGER "+trigger); err != nil {
					b.Fatal(err)
				}
			}
			words := rand.New(rand.NewPCG(1, 2))
			said := func() core.Event {
				var text strings.Builder
				for text.Len() < c.bytes { // few words are frequent, as in any language
					fmt.Fprintf(&text, "word%d ", int(20_000*words.Float64()*words.Float64()*words.Float64()))
				}
				data, err := json.Marshal(map[string]string{"output": text.String()})
				if err != nil {
					b.Fatal(err)
				}
				return core.Event{ChannelID: "c", RunID: "r", Type: core.EventToolResult, Timestamp: 1, Data: data}
			}
			evs := make([]core.Event, c.batch)
			var took [2]time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range evs {
					evs[i] = said()
				}
				for i := range stores {
					at := (n + i) % len(stores)
					began := time.Now()
					if _, err := stores[at].AddEvents(ctx, evs...); err != nil {
						b.Fatal(err)
					}
					took[at] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[0])/float64(took[1]), "of-without")
			b.ReportMetric(float64(took[0]-took[1])/1000/float64(b.N*c.batch), "µs-more/event")
			if found, err := stores[0].Find(ctx, core.FindQuery{Words: "word0"}); err != nil || len(found.Found) == 0 {
				b.Errorf("found %d, %v", len(found.Found), err)
			}
			if found, err := stores[1].Find(ctx, core.FindQuery{Words: "word0"}); err != nil || len(found.Found) != 0 {
				b.Errorf("found %d without an index, %v", len(found.Found), err)
			}
		})
	}
}
