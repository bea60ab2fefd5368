//go:build docker

package daemon

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/guestlink"
	"loop/backend/policy"
	"loop/backend/provision"
	"loop/backend/rulebook"
	"loop/backend/runner"
)

// arrivals reports the times at which the model's turns arrive.
type arrivals struct {
	*httptest.Server
	turns chan time.Time
}

func newArrivals(b *testing.B) *arrivals {
	a := &arrivals{turns: make(chan time.Time, 64)}
	model := demo.New(demo.Options{Pace: demo.Instant, Observe: func(o demo.Observation) {
		if o.Purpose == "turn" && o.Step == 0 {
			a.turns <- o.At
		}
	}})
	a.Server = httptest.NewServer(model)
	b.Cleanup(a.Close)
	return a
}

func (a *arrivals) next(b *testing.B, what string, since time.Time) time.Duration {
	b.Helper()
	for {
		select {
		case at := <-a.turns:
			if at.Before(since) {
				continue // a retry of the previous run
			}
			return at.Sub(since)
		case <-time.After(time.Minute):
			b.Fatalf("%s: no request within a minute", what)
		}
	}
}

// BenchmarkFirstRequest measures how long a person waits before the model can begin to
// answer: from the accepted prompt to the CLI's first request. It does so in a
// container made for it (cold), in the channel's container once a run was there (second),
// and from the spawn in a running container (warm), each with the gate and without it,
// also after a person has written it for a second (ahead), which starts the CLI before,
// and with the same program on the host, bare (host) and with what the second prompt has, too:
// Loop's tools and a conversation to go on with (tools), in turn within one run. Only the
// ratios hold for other machines; they are medians of rounds, and of the second prompt also
// the 95th percentile against those of the host and of cold.
func BenchmarkFirstRequest(b *testing.B) {
	claude := os.Getenv("LOOP_CLAUDE_BIN")
	if claude == "" {
		b.Fatal("LOOP_CLAUDE_BIN does not name the agent CLI; run this with “make bench”")
	}
	model := newArrivals(b)
	took := map[string][]float64{}
	measure := func(name string, begin func() (end func())) {
		began := time.Now()
		end := begin()
		took[name] = append(took[name], model.next(b, name, began).Seconds()*1000)
		end()
	}
	tools := newToolsOnHost(b, claude, model)
	onHost := func(home string, args []string) func() (end func()) {
		return func() func() {
			stop := startOnHost(b, claude, model.URL, home, args)
			return func() { stop() }
		}
	}
	ways := map[string]func(){
		"host":  func() { measure("host", onHost(b.TempDir(), nil)) },
		"tools": func() { measure("tools", onHost(tools.home, tools.args)) },
	}
	for name, gate := range map[string]bool{"free": false, "gated": true} {
		d := startDaemon(b, model.URL, "run", gate)
		ch, err := d.channels.Add(b.Context(), b.TempDir(), "bench")
		if err != nil {
			b.Fatal(err)
		}
		warm := newWarm(b, d, ch.Channel)
		defer warm.close()
		ways["warm-"+name] = func() {
			measure("warm-"+name, func() func() { warm.spawn(b, model.URL); return func() { warm.wait(b) } })
		}
		prompt := func(d *Daemon, ch core.ChannelID) func() (end func()) {
			return func() (end func()) {
				run, err := d.runner.Prompt(b.Context(), core.Run{ChannelID: ch, Prompt: "demo:quick\nhello"})
				if err != nil {
					b.Fatal(err)
				}
				return func() { waitEnd(b, d, run.ID) }
			}
		}
		ways["cold-"+name] = func() { measure("cold-"+name, prompt(d, ch.ID)) }
		shared := startDaemon(b, model.URL, "session", gate)
		second, err := shared.channels.Add(b.Context(), b.TempDir(), "bench")
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		end := prompt(shared, second.ID)() // the first makes the container
		model.next(b, "the first prompt", began)
		end()
		ways["second-"+name] = func() { measure("second-"+name, prompt(shared, second.ID)) }
		writing, err := shared.channels.Add(b.Context(), b.TempDir(), "bench")
		if err != nil {
			b.Fatal(err)
		}
		ways["ahead-"+name] = func() {
			shared.eager.Warm(writing.ID)
			awaitAhead(b, shared, writing.ID)
			<-time.After(time.Second)
			measure("ahead-"+name, prompt(shared, writing.ID))
		}
	}
	for b.Loop() {
		for _, way := range ways { // in any order
			way()
		}
	}
	for name, all := range took {
		b.ReportMetric(middle(all), name+"-ms")
	}
	for _, r := range [][2]string{
		{"second-free", "host"}, {"second-gated", "host"}, {"second-free", "tools"}, {"second-gated", "tools"},
		{"second-free", "cold-free"}, {"second-gated", "cold-gated"},
		{"ahead-free", "host"}, {"ahead-gated", "host"}, {"ahead-free", "cold-free"}, {"ahead-gated", "cold-gated"},
	} {
		b.ReportMetric(late(took[r[0]])/late(took[r[1]]), r[0]+"/"+r[1]+"-p95")
	}
	for _, r := range [][2]string{
		{"warm-free", "host"}, {"cold-free", "host"}, {"second-free", "host"}, {"second-gated", "host"}, {"second-free", "cold-free"}, {"second-free", "tools"}, {"second-gated", "tools"}, {"warm-gated", "host"}, {"ahead-free", "host"}, {"ahead-gated", "host"}, {"ahead-free", "cold-free"}, {"ahead-gated", "cold-gated"},
		{"second-gated", "cold-gated"}, {"warm-gated", "warm-free"}, {"cold-gated", "cold-free"},
	} {
		var all []float64
		for i, ms := range took[r[0]] {
			all = append(all, ms/took[r[1]][i])
		}
		b.ReportMetric(middle(all), r[0]+"/"+r[1])
	}
}

// late is the 95th percentile.
func late(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)*95/100, len(sorted)-1)]
}

// awaitAhead waits until a CLI waits for the channel's prompt.
func awaitAhead(b *testing.B, d *Daemon, ch core.ChannelID) {
	b.Helper()
	for late := time.After(time.Minute); ; {
		for _, c := range d.containers.List() {
			if c.ChannelID != ch {
				continue
			}
			link, err := d.links.Open(b.Context(), c)
			if err != nil {
				continue // it is being made
			}
			all, err := link.Spawns(b.Context())
			_ = link.Close()
			if err == nil && slices.ContainsFunc(all, func(s core.SpawnInfo) bool { return s.InOpen && s.Exit == nil }) {
				return
			}
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-late:
			b.Fatal("no CLI waits within a minute")
		}
	}
}

// startDaemon starts one in a folder of its own, whose runs have a model at url, share
// their container as the scope says, and go by the gate or do not.
func startDaemon(b *testing.B, url, scope string, gate bool) *Daemon {
	b.Helper()
	home := b.TempDir()
	b.Setenv("LOOP_HOME", home)
	conf, err := json.Marshal(map[string]any{"anthropic_base_url": url, "container_keep_alive_sec": 0, "container_scope": scope,
		"gates": map[string]any{"agentgate": map[string]any{"enabled": gate}}})
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, config.FileName), conf, 0o600); err != nil {
		b.Fatal(err)
	}
	d, err := New(b.Context(), Options{Version: "bench", Frontend: fstest.MapFS{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, c := range d.containers.List() { // one that is shared would be there for the next launch
			if err := d.containers.Remove(context.Background(), c.ID); err != nil {
				b.Error(err)
			}
		}
		_ = d.Close()
	})
	if err := d.Start(); err != nil {
		b.Fatal(err)
	}
	if err := d.images.Ensure(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkApprovedPlan measures from a person's approval of a plan to the CLI's first
// request: in the container of the plan, and in one that is made for it.
func BenchmarkApprovedPlan(b *testing.B) {
	for name, scope := range map[string]string{"its-container": "session", "another-container": "run"} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			model := newArrivals(b)
			d := startDaemon(b, model.URL, scope, true)
			ch, err := d.channels.Add(ctx, b.TempDir(), "bench")
			if err != nil {
				b.Fatal(err)
			}
			first, err := d.runner.Prompt(ctx, core.Run{ChannelID: ch.ID, Prompt: "demo:quick\nhello"}) // shows that the gate holds
			if err != nil {
				b.Fatal(err)
			}
			waitEnd(b, d, first.ID)
			var took []float64
			for b.Loop() {
				run, err := d.runner.Prompt(ctx, core.Run{ChannelID: ch.ID, Prompt: "demo:plan\nhello", Plan: true})
				if err != nil {
					b.Fatal(err)
				}
				waitEnd(b, d, run.ID)
				open, err := d.runner.Questions(ctx, ch.ID)
				if err != nil || len(open) != 1 {
					b.Fatalf("%+v %v", open, err)
				}
				began := time.Now()
				q, err := d.runner.Answer(ctx, open[0].ID, core.Answer{Action: core.AnswerApprove})
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, model.next(b, name, began).Seconds()*1000)
				waitEnd(b, d, q.NextRunID)
			}
			b.ReportMetric(middle(took), "approved-ms")
		})
	}
}

func middle(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}

func waitEnd(b *testing.B, d *Daemon, id core.RunID) {
	b.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		run, err := d.store.Run(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		if run.State == core.RunDone {
			return
		}
		if run.State.Terminal() {
			b.Fatalf("the run ended as %s: %+v", run.State, run.Outcome.Failure)
		}
	}
}

// startOnHost runs the same program outside any container, with the options of a run.
func startOnHost(b *testing.B, claude, url, home string, args []string) (stop func() string) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), claude, append([]string{"--dangerously-skip-permissions", "--print", "--verbose",
		"--include-partial-messages", "--output-format", "stream-json"}, args...)...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=none",
		"IS_SANDBOX=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	cmd.Stdin = strings.NewReader("demo:quick\nhello")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return func() string {
		if err := cmd.Wait(); err != nil {
			b.Fatalf("the CLI on the host: %v", err)
		}
		return out.String()
	}
}

// toolsOnHost is what the CLI on the host needs to do what it does for a second prompt.
type toolsOnHost struct {
	home string
	args []string
}

func newToolsOnHost(b *testing.B, claude string, model *arrivals) toolsOnHost {
	b.Helper()
	guest := os.Getenv("LOOP_GUEST_BIN")
	if guest == "" {
		b.Fatal("LOOP_GUEST_BIN does not name the guest’s program; run this with “make bench”")
	}
	t := toolsOnHost{home: b.TempDir()}
	servers := map[string]any{}
	for name, tool := range map[string]string{"loop": "mcp", "loop-browser": "mcp-browser"} {
		servers[name] = map[string]any{"command": guest, "args": []string{tool, "--channel-id", "bench", "--api-url", "http://127.0.0.1:9"}}
	}
	conf, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(t.home, "mcp.json")
	if err := os.WriteFile(file, conf, 0o600); err != nil {
		b.Fatal(err)
	}
	t.args = []string{"--mcp-config", file, "--permission-prompt-tool", "mcp__loop__permission_prompt"}
	began := time.Now()
	stop := startOnHost(b, claude, model.URL, t.home, t.args)
	model.next(b, "the first prompt on the host", began)
	var first struct {
		SessionID string `json:"session_id"`
	}
	if err := json.NewDecoder(strings.NewReader(stop())).Decode(&first); err != nil || first.SessionID == "" {
		b.Fatalf("the CLI on the host names no session: %v", err)
	}
	t.args = append(t.args, "--resume", first.SessionID)
	return t
}

// warmed is a container that is already running, with its link open.
type warmed struct {
	d     *Daemon
	ch    core.Channel
	lease *provision.Lease
	link  core.Link
	id    core.SpawnID
	dir   string
}

func newWarm(b *testing.B, d *Daemon, ch core.Channel) *warmed {
	b.Helper()
	ctx := b.Context()
	lease, err := d.provision.Ensure(ctx, provision.Want{Channel: ch, Link: true, Holder: core.Holder{Kind: core.HolderSetUp, ID: core.NewID()}})
	if err != nil {
		b.Fatal(err)
	}
	w := &warmed{d: d, ch: ch, lease: lease, dir: lease.Spec.WorkDir, link: lease.Link}
	return w
}

func (w *warmed) spawn(b *testing.B, url string) {
	b.Helper()
	w.id = core.SpawnID(core.NewID())
	run := core.RunID(core.NewID())
	w.link.Admit(w.id, core.Identity{RunID: run, Upstream: core.ModelUpstream{BaseURL: url}})
	rules, err := rulebook.Policies{Settings: settingsReader{from: w.d.settings}}.Policy(policy.NameAgent, w.ch, w.lease.Spec, w.id)
	if err != nil {
		b.Fatal(err)
	}
	_, err = w.link.Spawn(b.Context(), core.SpawnRequest{
		Policy: rules, PolicyVersion: 1,
		ID: w.id, Dir: w.dir, Stdio: core.StdioPipes, Keep: core.KeepSpool, Stdin: []byte("demo:quick\nhello"),
		Argv: []string{"claude", "--dangerously-skip-permissions", "--print", "--verbose", "--include-partial-messages", "--output-format", "stream-json"},
		Env: []core.EnvVar{{Name: "ANTHROPIC_BASE_URL", Value: "http://127.0.0.1:8222/runs/" + string(run) + "/model"}, {Name: "ANTHROPIC_API_KEY", Value: "none"},
			{Name: "IS_SANDBOX", Value: "1"}, {Name: "DISABLE_AUTOUPDATER", Value: "1"}, {Name: "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", Value: "1"}},
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (w *warmed) wait(b *testing.B) {
	b.Helper()
	if _, err := w.link.Wait(b.Context(), w.id); err != nil {
		b.Fatal(err)
	}
	if err := w.link.Forget(b.Context(), w.id); err != nil {
		b.Fatal(err)
	}
}

func (w *warmed) close() {
	if w.link != nil {
		_ = w.link.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	_ = w.lease.Release(ctx, core.Ending{Now: true})
}

var _ runner.Links = (*guestlink.Opener)(nil)
