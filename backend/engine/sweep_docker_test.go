//go:build docker

package engine

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// ready reads until the program has printed “ready”.
func ready(t *testing.T, p core.TTY) {
	t.Helper()
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	for !strings.Contains(seen.String(), "ready") {
		n, err := p.Read(buf)
		seen.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, seen.String())
		}
	}
	go func() { _, _ = io.Copy(io.Discard, p) }()
}

// untilSleeps waits until the last command that a script put into the background has
// become a sleep.
const untilSleeps = `until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.05; done`

// TestSweepIsNotMisled: a process chooses its name, but no name makes the end of a
// terminal end another process.
func TestSweepIsNotMisled(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	inBox(t, d, id, `setsid sleep 313131 >/dev/null 2>&1 & `+untilSleeps)
	out := inBox(t, d, id, `for f in /proc/[0-9]*; do [ "$(cat $f/comm)" != sleep ] || cut -d' ' -f6 $f/stat; done`)
	victim := strings.TrimSpace(out)
	if !number(victim) {
		t.Fatalf("%q", out)
	}
	for _, name := range []string{
		`\n9 ` + victim + ` x`, // echo would turn this into a line of its own
		"\n9 " + victim + " x",
		"a) S 1 1 " + victim + "\n", // looks like the kernel's fields
		"a) S 1\n",
		`\c`,
		"(((",
		")",
	} {
		if len(name) > 15 {
			t.Fatalf("%q is too long for the kernel", name)
		}
		p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{User: "1000:1000", Argv: []string{"sh", "-c", `trap '' HUP TERM; printf %s "$0" >/proc/$$/comm; echo ready; while true; do sleep 1; done`, name}})
		if err != nil {
			t.Fatal(err)
		}
		ready(t, p)
		if err := p.Close(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if left := inBox(t, d, id, `tr '\0' ' ' </proc/`+victim+`/cmdline`); !strings.Contains(left, "313131") {
			t.Fatalf("%q ended another session", name)
		}
	}
	// The mark somewhere inside an environment does not count either.
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{ID: "c0ffee", Argv: []string{"sh", "-c", `echo ready; exec sleep 1000`}})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, p)
	inBox(t, d, id, `QUERY=LOOP_TERMINAL=c0ffee setsid sleep 323232 >/dev/null 2>&1 & `+untilSleeps+`; QUERY="a
LOOP_TERMINAL=c0ffee" setsid sleep 323232 >/dev/null 2>&1 & `+untilSleeps)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(inBox(t, d, id, `for f in /proc/[0-9]*; do tr '\0' ' ' <$f/cmdline 2>/dev/null; echo; done`), "sleep 323232"); n != 2 {
		t.Errorf("%d of 2 others live", n)
	}
}

// living are the container's processes: its first one and the shell that looks. A
// process that has ended has no arguments, even before its parent has waited for it.
func living(t *testing.T, d *Docker, id core.ContainerID) []string {
	t.Helper()
	return strings.Fields(inBox(t, d, id, `for f in /proc/[0-9]*; do { IFS= read -r args; [ -z "$args" ] || echo "$f"; } <$f/cmdline; done 2>/dev/null`))
}

// TestSweepOfLargeEnvironments: programs with megabytes of environment are found in
// time.
func TestSweepOfLargeEnvironments(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, nil)
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{User: "1000:1000", Argv: []string{"sh", "-c", `
		big=$(head -c 120000 /dev/zero | tr '\0' a)
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do eval "export A$i=\$big"; done
		trap '' HUP TERM
		i=0; while [ $i -lt 30 ]; do setsid sleep 1000 & i=$((i+1)); done; echo ready; wait`}})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, p)
	start := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("ended in %v", time.Since(start))
	if left := living(t, d, id); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}

// TestSweepOfAForkBomb ends a program that forks without end, in a container without a
// free process.
func TestSweepOfAForkBomb(t *testing.T) {
	d := realEngine(t)
	id := foreignBox(t, d, func(s *core.Spec) { s.Limits.Pids = 60 })
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{User: "1000:1000", Argv: []string{"bash", "-c", `trap '' HUP TERM; b() { b & b & wait; }; echo ready; while true; do b; done`}})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, p)
	cli, err := d.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		top, err := cli.ContainerTop(t.Context(), string(id), nil) // there may be no room for a shell that looks
		if err != nil {
			t.Fatal(err)
		}
		if len(top.Processes) > 50 {
			break
		}
	}
	start := time.Now()
	if err := p.Close(); err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("ended in %v", time.Since(start))
	if left := living(t, d, id); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
}

// TestSweepOfProcessesThatHop: each process starts the next and ends. When each also
// leaves its session, they can be faster than any sweep, as docs/terminals.md says.
func TestSweepOfProcessesThatHop(t *testing.T) {
	d := realEngine(t)
	// The first process of this container reaps its children. Otherwise processes that
	// have ended soon fill the container's limit.
	id := foreignBox(t, d, func(s *core.Spec) {
		s.Entrypoint = []string{"sh", "-c", "trap '' TERM; while :; do sleep 0.1 & wait; done"}
	})
	p, err := d.ExecTTY(t.Context(), id, core.ExecSpec{Argv: []string{"sh", "-c", `trap '' HUP TERM INT; echo "$0" >/tmp/hop; for i in 1 2 3; do sh /tmp/hop & done; echo ready; sleep 100000`, `sh "$0" & exit`}})
	if err != nil {
		t.Fatal(err)
	}
	ready(t, p)
	start := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("ended in %v", time.Since(start))
	for range 3 {
		if left := inBox(t, d, id, `grep -lz 'tmp/[h]op' /proc/[0-9]*/cmdline 2>/dev/null`); left != "" {
			t.Fatalf("left: %q", left)
		}
	}
}
