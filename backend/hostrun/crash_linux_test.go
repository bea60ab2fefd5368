package hostrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
	"loop/backend/hostpty"
)

// crashHome has the test binary spawn a program from that folder, say so, and wait.
const crashHome = "HOSTRUN_TEST_HOME"

func init() {
	home := os.Getenv(crashHome)
	if home == "" {
		return
	}
	s, err := Open(Options{Home: home})
	if err == nil {
		var l *Link
		if l, err = s.Link("run", "c"); err == nil {
			_, err = l.Spawn(context.Background(), core.SpawnRequest{
				ID: s1, Argv: []string{"sh", "-c", os.Getenv("HOSTRUN_TEST_SCRIPT")}, Dir: home, Stdin: []byte("asked\n"), Keep: core.KeepSpool,
			})
		}
	}
	fmt.Println("spawned", err)
	select {}
}

// crashed is a rig whose program was started by a Loop that was killed.
func crashed(t *testing.T, script string) *rig {
	t.Helper()
	r := &rig{t: t, home: t.TempDir()}
	r.o = Options{Home: r.home}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashHome+"="+r.home, "HOSTRUN_TEST_SCRIPT="+script, idsVar+"="+own)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := out.Read(b)
	if err != nil || !strings.HasPrefix(string(b[:n]), "spawned <nil>") {
		t.Fatalf("%s, %v", b[:n], err)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return r
}

func (r *rig) again() {
	r.t.Helper()
	r.open()
	r.t.Cleanup(r.end)
}

// TestProgramOutlivesLoop: the next launch finds it, reads what it said meanwhile and
// says, and can end it with its tree.
func TestProgramOutlivesLoop(t *testing.T) {
	r := crashed(t, `read q; echo "$q"; while [ ! -e go ]; do sleep 0.01; done; echo later; sleep 1000 & echo $! >child.pid; wait`)
	r.again()
	list, err := r.l.Spawns(t.Context())
	if err != nil || len(list) != 1 || list[0].Exit != nil || list[0].Pid == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := os.WriteFile(filepath.Join(r.home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rc, err := r.l.Read(r.ctx(), s1, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	b := make([]byte, 12)
	if n, err := io.ReadFull(rc, b); err != nil || string(b[:n]) != "asked\nlater\n" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if !r.alive("child.pid") {
		t.Fatal("the child does not run")
	}
	if err := r.l.Kill(r.ctx(), s1); err != nil {
		t.Fatal(err)
	}
	if r.alive("child.pid") {
		t.Error("the child lives")
	}
	// Whoever waits learns that nobody saw how it ended.
	if _, err := r.l.Wait(r.ctx(), s1); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := io.ReadAll(rc); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := r.l.Forget(r.ctx(), s1); err != nil {
		t.Error(err)
	}
}

// TestProgramThatEndedMeanwhile is not listed, its output is there, and whoever gives back the
// place of its run takes it away with what it left.
func TestProgramThatEndedMeanwhile(t *testing.T) {
	// It ends after Loop, which would otherwise know how.
	r := crashed(t, `while [ ! -e go ]; do sleep 0.01; done; echo all of it; (sleep 1000 & echo $! >left.pid); echo >gone`)
	if err := os.WriteFile(filepath.Join(r.home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the program's end", func() bool { _, err := os.Stat(filepath.Join(r.home, "gone")); return err == nil })
	if !r.alive("left.pid") {
		t.Fatal("nothing was left")
	}
	r.again()
	r.until("that it is known to have ended", func() bool {
		list, err := r.l.Spawns(t.Context())
		return err == nil && len(list) == 0
	})
	rc, err := r.l.Read(r.ctx(), s1, "out", 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(rc); string(b) != "all of it\n" || !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%q, %v", b, err)
	}
	_ = rc.Close()
	places := Places{Registry: noContainers{}, Host: r.s}
	if left := places.Left(core.HolderRun); !slices.Equal(left, []string{"run"}) || places.Left(core.HolderTerminal) != nil {
		t.Errorf("left %v", left)
	}
	if err := places.Release(r.ctx(), core.Holder{Kind: core.HolderRun, ID: "another"}, core.Ending{}); err != nil || !r.alive("left.pid") {
		t.Errorf("of a run that lives: %v", err)
	}
	if err := places.Release(r.ctx(), core.Holder{Kind: core.HolderRun, ID: "run"}, core.Ending{}); err != nil {
		t.Error(err)
	}
	if r.alive("left.pid") {
		t.Error("what it left lives")
	}
	if left, _ := os.ReadDir(r.s.Folder()); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestRemovalThatWasCutShort: output that could not be removed keeps its record, by which a
// later launch removes the rest.
func TestRemovalThatWasCutShort(t *testing.T) {
	r := newRig(t)
	r.spawn(s1, `echo out; echo err >&2`)
	r.wait(s1)
	in := filepath.Join(r.home, "channels/c/spool")
	stuck := filepath.Join(in, string(s1)+".err")
	if err := errors.Join(os.Remove(stuck), os.MkdirAll(filepath.Join(stuck, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := r.l.Forget(r.ctx(), s1); err == nil {
		t.Error("it is said to be removed")
	}
	r.s.Close()
	if err := os.RemoveAll(stuck); err != nil {
		t.Fatal(err)
	}
	r.open()
	places := Places{Registry: noContainers{}, Host: r.s}
	if err := errors.Join(os.WriteFile(stuck, nil, 0o600), places.Release(r.ctx(), core.Holder{Kind: core.HolderRun, ID: "run"}, core.Ending{})); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{in, r.s.Folder()} {
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}

// TestRecordWithoutNumber: Loop died between starting the program and writing its number
// down. The marker finds it; a program that was never started leaves nothing.
func TestRecordWithoutNumber(t *testing.T) {
	r := newRig(t)
	pid := r.spawn(s1, `echo $$ >own.pid; sleep 1000; true`).Pid
	r.s.Close()
	for _, id := range []core.SpawnID{s1, s2} {
		sp := &spawn{record: record{Spawn: id, Run: "run", Channel: "c", Ref: hostpty.Ref{Marker: string(id)}}}
		if err := errors.Join(os.MkdirAll(r.s.own(sp.Spawn), 0o700), r.s.note(sp), os.WriteFile(r.s.spool(sp, ".out"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r.open()
	list, err := r.l.Spawns(t.Context())
	if err != nil || len(list) != 1 || list[0].Pid != pid {
		t.Errorf("%+v instead of %d, %v", list, pid, err)
	}
	if left, _ := os.ReadDir(filepath.Join(r.home, "channels/c/spool")); len(left) != 2 { // of s1
		t.Errorf("%v", left)
	}
}

// TestNumberOfAnother: a number that another process has by now is not ended.
func TestNumberOfAnother(t *testing.T) {
	r := newRig(t)
	pid := r.spawn(s1, `echo $$ >own.pid; exec sleep 1000`).Pid
	other, err := Open(Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	sp := &spawn{record: record{Spawn: s2, Run: "run", Channel: "c", Ref: hostpty.Ref{PID: pid, Identity: "of before", Marker: string(s2)}}}
	if err := errors.Join(os.MkdirAll(other.own(s2), 0o700), other.note(sp), other.restore(s2)); err != nil {
		t.Fatal(err)
	}
	if err := other.end(r.ctx(), "run"); err != nil {
		t.Error(err)
	}
	if !r.alive("own.pid") {
		t.Error("another program was ended")
	}
}

// TestRecordsAreHostile: what is no record of ours is passed over.
func TestRecordsAreHostile(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "torn": `{"spawn":"torn"`, "other": `{"spawn":"x","channel":"c","program":{"marker":"x"}}`,
		"out": `{"spawn":"out","channel":"../../etc","program":{"marker":"out"}}`, "big": strings.Repeat(" ", maxRecord+1),
		"mark": `{"spawn":"mark","channel":"c","program":{"pid":1,"marker":"y"}}`,
	} {
		dir := filepath.Join(home, "run", "host", name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, recordFile), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.those(func(*spawn) bool { return true }); len(got) > 0 {
		t.Errorf("took up %d", len(got))
	}
}

// noContainers is a registry that has none.
type noContainers struct{ Registry }

func (noContainers) Release(context.Context, core.Holder, core.Ending) error { return nil }
func (noContainers) Left(core.HolderKind) []string                           { return nil }

// TestPlaces: what is about this computer never reaches the registry or an engine.
func TestPlaces(t *testing.T) {
	r := newRig(t)
	p := Places{Registry: noContainers{}, Host: r.s} // any other call of theirs would end the test
	here := core.Container{ID: core.HostPlace("run"), RunID: "run", ChannelID: "c"}
	l, err := p.Open(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r.spawn(s1, `echo $$ >own.pid; exec sleep 1000`)
	if list, err := l.Spawns(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if f, err := p.Facts(t.Context(), here.ID); err != nil || !f.Running {
		t.Errorf("%+v, %v", f, err)
	}
	if err := p.Release(r.ctx(), core.Holder{Kind: core.HolderRun, ID: "another"}, core.Ending{}); err != nil || !r.alive("own.pid") {
		t.Errorf("%v", err)
	}
	if err := p.End(r.ctx(), here.ID, core.Holder{}); !errors.Is(err, core.ErrNotFound) || r.alive("own.pid") {
		t.Errorf("%v", err)
	}
	if _, err := p.Open(t.Context(), core.Container{ID: core.HostPlace("run"), RunID: "other"}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
