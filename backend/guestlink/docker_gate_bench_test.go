//go:build docker

package guestlink_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/policy"
)

// work is something that agents do all day. Its script prints nothing; prepare runs before
// each time, and is not measured.
type work struct{ prepare, script string }

// works are measured in a container whose /work is a folder of this computer with a copy
// of this repository's Go code, the page's package list, and a repository of 50,000 files.
var works = map[string]work{
	"git-status": {"", "cd /work/large && git status --porcelain"},
	// Into a new folder each time: where thousands of files have just been removed, a file
	// system may search past each of them for every new one, which is not what is compared.
	"npm-install": {"at=/work/page/$(date +%s%N) && mkdir $at && cp /work/page/*.json $at",
		"cd $at && npm ci --offline --ignore-scripts --no-audit --no-fund --loglevel=error"},
	"go-build-warm": {"echo '// '$(date +%N) >> /work/module/agentimage/guest/main.go", "cd /work/module && go build -o /work/out/loop ./agentimage/guest"},
	"go-build-cold": {"", "cd /work/module && go build -a -o /work/out/loop ./agentimage/guest"},
	// A shell forks for each, and waits.
	"programs-500": {"", "i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i + 1)); done"},
}

// spent is a function of a shell that prints what the whole container has computed until
// now, in nanoseconds: its programs, their supervisor and loop init.
// It starts no program, whose start would be part of what is measured.
const spent = `spent() {
	if [ -e /sys/fs/cgroup/cpuacct/cpuacct.usage ]; then
		read -r v </sys/fs/cgroup/cpuacct/cpuacct.usage && echo "$v"
		return
	fi
	while read -r k v; do [ "$k" != usage_usec ] || echo "${v}000"; done </sys/fs/cgroup/cpu.stat
}`

// BenchmarkGatedWork does each work under the policy that agents have and without one, in
// turn, in one container. On a computer that does other things, too, the time is shared
// between more programs where there is a supervisor, and says little; what was computed,
// the supervisor's part included, is the figure to go by. Ratios are medians of pairs.
func BenchmarkGatedWork(b *testing.B) {
	dir := b.TempDir()
	prepareWorks(b, dir)
	root, cache := goEnv(b, "GOROOT"), goEnv(b, "GOMODCACHE")
	box := newBox(b, boxOptions{agent: 1000, args: []string{"-v", dir + ":/work", "-v", root + ":" + root + ":ro", "-v", cache + ":/modules:ro"}})
	l, _ := box.link(b, guestlink.Options{})
	p, err := policy.Baseline(policy.NameAgent, policy.Place{Home: home, Workspaces: []string{"/work"}, State: []string{home + "/.claude"}})
	if err != nil {
		b.Fatal(err)
	}
	gated := p.Encode()
	timed := func(b *testing.B, doc []byte, w work) (wall, cpu float64) {
		id := core.SpawnID(core.NewID())
		script := "exec 2>&1\n" + w.prepare + "\n" + spent + "\na=$(date +%s%N); u=$(spent); { " + w.script +
			"\n} >/tmp/said || exec cat /tmp/said\nv=$(spent); b=$(date +%s%N); echo $((b - a)) $((v - u))"
		if _, err := l.Spawn(b.Context(), core.SpawnRequest{ID: id, Argv: []string{"sh", "-c", script}, Dir: "/work", Stdio: core.StdioPipes,
			Env: []core.EnvVar{{Name: "PATH", Value: root + "/bin:/usr/local/bin:/usr/bin:/bin"}, {Name: "GOCACHE", Value: "/work/gocache"}, {Name: "HOME", Value: home},
				{Name: "GOMODCACHE", Value: "/modules"}, {Name: "GOFLAGS", Value: "-mod=mod -trimpath"}, {Name: "GOPROXY", Value: "off"},
				{Name: "CGO_ENABLED", Value: "0"}, {Name: "GOTOOLCHAIN", Value: "local"}, {Name: "npm_config_cache", Value: "/work/npm"}},
			Policy: doc, PolicyVersion: int64(min(len(doc), 1))}); err != nil {
			b.Fatal(err)
		}
		out := string(readAll(b, l, id, "out", 0))
		if _, err := l.Wait(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		if err := l.Forget(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		if n, err := fmt.Sscan(out, &wall, &cpu); n != 2 || err != nil {
			b.Fatalf("%s: %s", w.script, out)
		}
		return wall / 1e9, cpu / 1e9
	}
	for name, w := range works {
		b.Run(name, func(b *testing.B) {
			timed(b, nil, w) // the caches of the kernel and of the tools
			var free, with, ratios, cpus, fcpus, gcpus []float64
			for i := 0; b.Loop(); i++ {
				var f, g, fcpu, gcpu float64
				if i%2 == 0 {
					f, fcpu = timed(b, nil, w)
					g, gcpu = timed(b, gated, w)
				} else {
					g, gcpu = timed(b, gated, w)
					f, fcpu = timed(b, nil, w)
				}
				free, with, ratios, cpus = append(free, f), append(with, g), append(ratios, g/f), append(cpus, gcpu/fcpu)
				fcpus, gcpus = append(fcpus, fcpu), append(gcpus, gcpu)
				_, _ = fmt.Fprintf(os.Stderr, "%s: took %.2f s, %.2f s gated; computed %.2f s, %.2f s gated\n", name, f, g, fcpu, gcpu) // a long one may be ended
			}
			b.ReportMetric(middle(free), "free-s")
			b.ReportMetric(middle(with), "gated-s")
			b.ReportMetric(100*(middle(ratios)-1), "more-time-%")
			b.ReportMetric(100*(middle(cpus)-1), "more-cpu-%")
			b.ReportMetric(middle(fcpus), "free-cpu-s")
			b.ReportMetric(middle(gcpus), "gated-cpu-s")
		})
	}
}

func middle(all []float64) float64 {
	s := slices.Sorted(slices.Values(all))
	return s[len(s)/2]
}

func goEnv(tb testing.TB, name string) string {
	tb.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// prepareWorks fills the folder, whose files then belong to the agent.
func prepareWorks(b *testing.B, dir string) {
	b.Helper()
	sh := func(script string) {
		b.Helper()
		cmd := exec.Command("bash", "-euc", script)
		cmd.Env = append(os.Environ(), "DIR="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	sh(`cd ` + repo + ` && mkdir -p $DIR/module/agentimage $DIR/page $DIR/out $DIR/gocache $DIR/large && cp go.mod go.sum $DIR/module &&
cp -r backend $DIR/module && cp -r agentimage/guest agentimage/*.go $DIR/module/agentimage && cp frontend/package.json frontend/package-lock.json $DIR/page &&
cp -r "$(npm config get cache 2>/dev/null)" $DIR/npm`)
	for i := range 500 { // folders of a hundred files, as in large repositories
		at := filepath.Join(dir, "large", fmt.Sprintf("area%02d", i/20), fmt.Sprintf("package%02d", i%20))
		if err := os.MkdirAll(at, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("file%02d.go", j)), fmt.Appendf(nil, "package p%d // %d\n", i, j), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	sh(`cd $DIR/large && git init -q && git add -A && git -c gc.auto=0 -c user.name=a -c user.email=a@b commit -qm all && git gc -q && chown -R 1000:1000 $DIR && chmod 755 $DIR`)
}
