package store

import (
	"context"
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
