//go:build docker

package daemon

import (
	"path/filepath"
	"testing"
)

// BenchmarkPageLong measures the page in Chromium with what is very long: a message of 5 MB,
// and changes of 20,000 lines in one hunk and in 2,200 of them. The same in short is the limit.
func BenchmarkPageLong(b *testing.B) {
	frontend, err := filepath.Abs(filepath.Join("..", "..", "frontend"))
	if err != nil {
		b.Fatal(err)
	}
	sums := map[string]float64{}
	for b.Loop() {
		addFigures(b, sums, frontend, "node", filepath.Join("e2e", "bench-long.mjs"))
	}
	for _, what := range []string{"brief", "endless"} {
		b.ReportMetric(sums[what+"_drawn"]/float64(b.N), what+"-drawn-ms")
		b.ReportMetric(sums[what+"_key"]/float64(b.N), what+"-key-p50-ms")
	}
	for _, look := range []string{"split", "unified"} {
		for _, what := range []string{"short", "one", "many"} {
			name := what + "_" + look
			for figure, unit := range map[string]string{"drawn": "drawn-ms", "key": "key-p50-ms", "p95": "frame-p95-ms", "worst": "frame-worst-ms"} {
				b.ReportMetric(sums[name+"_"+figure]/float64(b.N), what+"-"+look+"-"+unit)
			}
			if what != "short" {
				b.ReportMetric(sums[name+"_drawn"]/sums["short_"+look+"_drawn"], "x-short-"+what+"-"+look+"-drawn")
			}
		}
	}
}
