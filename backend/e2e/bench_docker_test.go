//go:build docker

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

func median(list []time.Duration) float64 {
	s := slices.Sorted(slices.Values(list))
	return float64(s[len(s)/2]) / float64(time.Millisecond)
}

// BenchmarkStart measures from the start of the process to the page's first snapshot,
// headless. The time that the binary takes to print its version is the lower limit.
func BenchmarkStart(b *testing.B) {
	h := newHome(b, "")
	var usable, limit []time.Duration
	for b.Loop() {
		began := time.Now()
		h.run("version")
		limit = append(limit, time.Since(began))
		began = time.Now()
		s := h.serve()
		s.must("System.Snapshot", nil)
		usable = append(usable, time.Since(began))
		s.stop()
	}
	b.ReportMetric(median(limit), "version-ms")
	b.ReportMetric(median(usable), "usable-ms")
	b.ReportMetric(median(usable)/median(limit), "usable/version")
}

// BenchmarkWindow measures from the start of the process to the first snapshot that the
// page in the native window asks for, on a virtual display. It also measures the same
// binary's headless start.
func BenchmarkWindow(b *testing.B) {
	bin := os.Getenv("LOOP_DESKTOP_BIN")
	if bin == "" {
		b.Fatal("LOOP_DESKTOP_BIN does not name the binary with the window; run this with “make bench”")
	}
	h := newHome(b, "")
	h.bin = bin
	h.env = append(h.env, "DISPLAY="+display(b))
	var window, headless []time.Duration
	for b.Loop() {
		began := time.Now()
		s := h.serve()
		s.must("System.Snapshot", nil)
		headless = append(headless, time.Since(began))
		s.stop()
		if err := os.Remove(filepath.Join(h.dir, "loop.log")); err != nil {
			b.Fatal(err)
		}
		began = time.Now()
		window = append(window, openWindow(b, h).Sub(began))
	}
	b.ReportMetric(median(headless), "headless-ms")
	b.ReportMetric(median(window), "window-ms")
	b.ReportMetric(median(window)/median(headless), "window/headless")
}

// display starts an X server that draws into memory.
func display(b *testing.B) string {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1400x900x24", "-nolisten", "tcp", "-noreset") // a reset would refuse the next window
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	_ = w.Close()
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	// The number and the end of its line are two writes: a pipe closed between them
	// would end the server.
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return ":" + strings.TrimSpace(number)
}

// openWindow returns when the page in the window asks for its first snapshot.
func openWindow(b *testing.B, h *home) time.Time {
	b.Helper()
	cmd := exec.Command(h.bin)
	cmd.Env = h.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Signal(os.Interrupt); <-ended }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		select {
		case <-tick.C:
			log, _ := os.ReadFile(filepath.Join(h.dir, "loop.log"))
			if bytes.Contains(log, []byte("first page")) {
				return time.Now()
			}
		case <-ended:
			b.Fatalf("the window ended: %s", out.String())
		case <-deadline:
			b.Fatalf("the window showed no page: %s", out.String())
		}
	}
}

// BenchmarkMemory reports the resident set of “loop serve” at rest, with twenty
// channels, and after twenty runs in them.
func BenchmarkMemory(b *testing.B) {
	const channels = 20
	h := newHome(b, `{"container_keep_alive_sec":1}`)
	for b.Loop() {
		s := h.serve()
		s.must("System.Snapshot", nil)
		b.ReportMetric(s.settled(), "rest-MiB")
		ids := make([]core.ChannelID, channels)
		for i := range ids {
			ids[i] = s.add(b.TempDir())
		}
		s.must("System.Snapshot", nil)
		b.ReportMetric(s.settled(), "channels-MiB")
		runs := make([]core.RunID, channels)
		for i, ch := range ids {
			var run core.Run
			s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch, "prompt": "Hello", "demo": true, "script": "quick"})
			runs[i] = run.ID
		}
		for i, ch := range ids {
			page := s.until(ch, "the end of a run", func(p timeline) bool { return ended(p, runs[i]) })
			if st := outcome(page, runs[i]); st.State != core.RunDone {
				b.Fatalf("%+v %+v", st, st.Failure)
			}
		}
		b.ReportMetric(s.settled(), "runs-MiB")
		s.stop()
	}
}

// BenchmarkWarmMemory reports the resident set of what is left in a warm container after a
// run, the middle one of ten, beside that of Loop with ten of them.
func BenchmarkWarmMemory(b *testing.B) {
	h := newHome(b, `{"container_warm_max":10}`)
	for b.Loop() {
		s := h.serve()
		for range 10 {
			ch := s.add(b.TempDir())
			var run core.Run
			s.must("Runs.Prompt", &run, map[string]any{"client_id": core.NewID(), "channel_id": ch, "prompt": "Hello", "demo": true, "script": "quick"})
			s.until(ch, "the end of a run", func(p timeline) bool { return ended(p, run.ID) })
		}
		var each []float64
		for _, c := range h.containers() {
			if c.State.Running {
				each = append(each, resident(b, c.State.Pid))
			}
		}
		if len(each) != 10 {
			b.Fatalf("%d warm containers", len(each))
		}
		slices.Sort(each)
		b.ReportMetric(each[5], "container-MiB")
		loop := s.settled()
		b.ReportMetric(loop, "loop-MiB")
		b.ReportMetric(each[5]/loop, "container/loop")
		s.stop()
		h.removeContainers()
	}
}

// settled is the resident set in MiB, once it has changed by less than a twentieth for
// five seconds. Go gives memory back little by little.
func (s *server) settled() float64 {
	s.h.t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	base, calm := 0.0, 0
	for range 60 {
		<-tick.C
		now := resident(s.h.t, s.cmd.Process.Pid)
		if now > base*0.95 && now < base*1.05 {
			if calm++; calm == 5 {
				return now
			}
			continue
		}
		base, calm = now, 0
	}
	return base
}

func resident(t testing.TB, pid int) float64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n / 1024
}

// BenchmarkRun measures one command from its start to its exit. It times a run that
// uses a tool with the test's own model, the same CLI and model on the host, and the
// shortest script of the demo.
func BenchmarkRun(b *testing.B) {
	claude := os.Getenv("LOOP_CLAUDE_BIN")
	if claude == "" {
		b.Fatal("LOOP_CLAUDE_BIN does not name the agent CLI; run this with “make bench”")
	}
	m := newModel(b, "127.0.0.1:0")
	h := newHome(b, fmt.Sprintf(`{"anthropic_base_url":"http://127.0.0.1:%s","anthropic_api_key":"k","container_keep_alive_sec":0}`, m.port))
	var loop, demo, host []time.Duration
	for b.Loop() {
		r := h.run("run", "--json", "--dir", b.TempDir(), "Write the file")
		if r.code != 0 {
			b.Fatalf("exit %d: %s", r.code, r.err)
		}
		loop = append(loop, r.took)
		if r = h.run("run", "--demo", "--script", "quick", "--json", "--dir", b.TempDir(), "Hello"); r.code != 0 {
			b.Fatalf("exit %d: %s", r.code, r.err)
		}
		demo = append(demo, r.took)
		host = append(host, onHost(b, claude, m.port))
	}
	b.ReportMetric(median(host), "host-ms")
	b.ReportMetric(median(loop), "run-ms")
	b.ReportMetric(median(demo), "demo-ms")
	b.ReportMetric(median(loop)/median(host), "run/host")
}

func onHost(b *testing.B, claude, port string) time.Duration {
	b.Helper()
	home := b.TempDir()
	cmd := exec.CommandContext(b.Context(), claude, "--dangerously-skip-permissions", "--print", "--verbose",
		"--include-partial-messages", "--output-format", "stream-json")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=http://127.0.0.1:" + port, "ANTHROPIC_API_KEY=k",
		"IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	cmd.Stdin = strings.NewReader("Write the file")
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("the CLI on the host: %v\n%s", err, out)
	}
	return time.Since(began)
}
