//go:build docker

package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkTerminalPage measures a pane of the page on the real listener, in Chromium
// and in WebKitGTK. It reports the rate at which a host program's bytes become cells,
// against the same terminal fed from memory. It also reports the time from a key to the
// program's answer, idle and in a flood.
func BenchmarkTerminalPage(b *testing.B) {
	frontend, err := filepath.Abs(filepath.Join("..", "..", "frontend"))
	if err != nil {
		b.Fatal(err)
	}
	page := b.TempDir()
	build := exec.Command("node", "--input-type=module", "-e", `await (await import("./e2e/pane/build.mjs")).buildPane(process.argv[1])`, page)
	build.Dir = frontend
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the page: %v %s", err, out)
	}
	b.Setenv("LOOP_HOME", b.TempDir())
	b.Setenv("SHELL", "/bin/bash")
	d, err := New(b.Context(), Options{Version: "bench", Frontend: os.DirFS(page)})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if err := d.Start(); err != nil {
		b.Fatal(err)
	}
	address := d.URL() + "?channel=&target=host#token=" + d.Token()
	for _, engine := range []string{"chromium", "webkit"} {
		b.Run(engine, func(b *testing.B) {
			sums := map[string]float64{}
			for b.Loop() {
				argv := []string{"node", filepath.Join("e2e", "bench-page.mjs"), engine, address, filepath.Join(frontend, "e2e", "flooder.mjs")}
				if engine == "webkit" {
					argv = append([]string{"xvfb-run", "-a"}, argv...)
				}
				addFigures(b, sums, frontend, argv...)
			}
			for name, unit := range map[string]string{
				"page": "page-MB/s", "memory": "memory-MB/s", "ratio": "x-memory",
				"idle_p50": "key-p50-ms", "idle_p95": "key-p95-ms", "busy_p50": "flood-key-p50-ms", "busy_p95": "flood-key-p95-ms",
			} {
				b.ReportMetric(sums[name]/float64(b.N), unit)
			}
		})
	}
}
