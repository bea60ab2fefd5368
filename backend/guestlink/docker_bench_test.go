//go:build docker

package guestlink_test

import (
	"fmt"
	"io"
	"sort"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// BenchmarkLinkRoundTrip sends a ping through docker exec, loop link and loop init.
func BenchmarkLinkRoundTrip(b *testing.B) {
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	var all []time.Duration
	for b.Loop() {
		d, err := l.Ping(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, d)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkLinkRead reads a spool of 256 MiB from offset 0.
func BenchmarkLinkRead(b *testing.B) {
	const size = 256 << 20
	box := newBox(b, boxOptions{agent: 1000})
	l, _ := box.link(b, guestlink.Options{})
	id := core.SpawnID(core.NewID())
	if _, err := l.Spawn(b.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepSpool,
		Argv: []string{"head", "-c", fmt.Sprint(size), "/dev/zero"}}); err != nil {
		b.Fatal(err)
	}
	if _, err := l.Wait(b.Context(), id); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		r, err := l.Read(b.Context(), id, "out", 0)
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil || n != size {
			b.Fatal(n, err)
		}
		_ = r.Close()
	}
}

// BenchmarkSpawn starts true, waits and forgets, without supervision and with it. The
// other figures are of the keeper of a program that sleeps.
func BenchmarkSpawn(b *testing.B) {
	for name, doc := range map[string][]byte{"free": nil, "gated": ruled(policy.Deny)} {
		b.Run(name, func(b *testing.B) {
			box := newBox(b, boxOptions{agent: 1000})
			l, _ := box.link(b, guestlink.Options{})
			start := func(argv ...string) core.SpawnID {
				id := core.SpawnID(core.NewID())
				if _, err := l.Spawn(b.Context(), core.SpawnRequest{ID: id, Argv: argv, Dir: "/", Stdio: core.StdioPipes, Policy: doc, PolicyVersion: 1}); err != nil {
					b.Fatal(err)
				}
				return id
			}
			for b.Loop() {
				id := start("true")
				if _, err := l.Wait(b.Context(), id); err != nil {
					b.Fatal(err)
				}
				if err := l.Forget(b.Context(), id); err != nil {
					b.Fatal(err)
				}
			}
			start("sleep", "1000")
			out, err := box.sh(b, "0:0", `p=$(pgrep -of '^loop syscallwrap'); awk '/Threads/ { print $2 }' /proc/$p/status
awk '/^Rss/ { r = $2 } /^Private_/ { s += $2 } END { print r; print s }' /proc/$p/smaps_rollup`)
			var threads, rss, private float64
			if _, serr := fmt.Sscan(out, &threads, &rss, &private); err != nil || serr != nil {
				b.Fatal(out, err, serr)
			}
			b.ReportMetric(threads, "threads")
			b.ReportMetric(rss/1024, "rss-MiB")
			b.ReportMetric(private/1024, "private-MiB")
		})
	}
}
