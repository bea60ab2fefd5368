//go:build docker

package daemon

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkPageFrames measures the page in Chromium while nobody, one channel and twenty
// channels write: the time between frames, and from a letter to its frame. Nobody's is the
// limit. The channels are those of the page tests, at the pace of a real model.
func BenchmarkPageFrames(b *testing.B) {
	frontend, err := filepath.Abs(filepath.Join("..", "..", "frontend"))
	if err != nil {
		b.Fatal(err)
	}
	sums := map[string]float64{}
	for b.Loop() {
		addFigures(b, sums, frontend, "node", filepath.Join("e2e", "bench-frames.mjs"))
	}
	for _, who := range []string{"idle", "one", "twenty"} {
		for name, unit := range map[string]string{"p95": "frame-p95-ms", "worst": "frame-worst-ms", "key50": "key-p50-ms", "key95": "key-p95-ms"} {
			b.ReportMetric(sums[who+"_"+name]/float64(b.N), who+"-"+unit)
		}
	}
	b.ReportMetric(sums["twenty_p95"]/sums["idle_p95"], "x-idle-frame-p95")
}

// addFigures runs a program of the page's folder, and adds the figures that it prints as JSON.
func addFigures(b *testing.B, sums map[string]float64, frontend string, argv ...string) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stderr = frontend, os.Stderr
	cmd.Env = append(os.Environ(), "WEBKIT_DISABLE_DMABUF_RENDERER=1")
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var figures map[string]float64
	if err := json.Unmarshal(out, &figures); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for k, v := range figures {
		sums[k] += v
	}
}
