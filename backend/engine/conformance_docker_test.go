//go:build docker

package engine

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/engine/enginetest"
)

// testImage returns any image with a shell that the engine has: the base of the agent
// image, or the agent image itself.
func testImage(t testing.TB, d *Docker) string {
	t.Helper()
	for _, ref := range []string{"debian:bookworm-slim", "loop-base:bookworm", "loop-agent:latest"} {
		if _, _, err := d.ImageInspect(t.Context(), ref); err == nil {
			return ref
		}
	}
	t.Fatal("the engine has no image to test with; run “make image”")
	return ""
}

func realEngine(t *testing.T) *Docker {
	t.Helper()
	d, err := Connect(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestDockerConformance(t *testing.T) {
	d := realEngine(t)
	enginetest.Run(t, d, testImage(t, d))
}

// TestVolumeAsReadOnlyEntrypoint puts a file into a volume through a container that
// never ran. Another container mounts the volume read-only over a read-only root, and
// the file is executable as its entrypoint.
func TestVolumeAsReadOnlyEntrypoint(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := realEngine(t)
	vol := "loop-test-" + core.NewID()[:8]
	if err := d.EnsureVolume(ctx, vol, map[string]string{"loop-test": "engine"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.VolumeRemove(context.WithoutCancel(ctx), vol) })
	script := "#!/bin/sh\necho from the volume\ntouch /opt/tool/x || echo volume is read-only\ntouch /x || echo root is read-only\n"
	if err := d.VolumeFill(ctx, vol, testImage(t, d), []core.VolumeFile{{Path: "bin/run", Mode: 0o755, Data: []byte(script)}}); err != nil {
		t.Fatal(err)
	}
	id, _, err := d.Create(ctx, core.Spec{
		Name: "loop-test-" + core.NewID()[:8], Image: testImage(t, d), Entrypoint: []string{"/opt/tool/bin/run"},
		Labels: map[string]string{"loop-test": "engine"}, Network: "none", ReadOnlyRoot: true, NoNewPrivileges: true,
		CapDrop: []string{"ALL"}, User: "0:0", Limits: core.Limits{MemoryBytes: 64 << 20, CPUs: 0.5, Pids: 32},
		Tmpfs:  []core.Tmpfs{{Target: "/tmp", Options: "size=1m"}},
		Mounts: []core.Mount{{Kind: core.MountVolume, Source: vol, Target: "/opt/tool", ReadOnly: true, Volume: true, NoCopy: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.WithoutCancel(ctx), id, true) })
	mounts := []core.Mount{{Source: vol, Target: "/opt/tool", ReadOnly: true, Volume: true}}
	if f, err := d.Inspect(ctx, id); err != nil || !slices.Equal(f.Mounts, mounts) {
		t.Errorf("mounts %+v: %v", f.Mounts, err)
	}
	if err := d.Start(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Wait(ctx, id); err != nil {
		t.Fatal(err)
	}
	log, err := d.Logs(ctx, id, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"from the volume", "volume is read-only", "root is read-only"} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
}

// TestExecOfMissingProgram: the engine refuses an exec of a missing program only after
// the stream was upgraded. The message must come back as an error and as the reason for
// the end, not as output.
func TestExecOfMissingProgram(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	d := realEngine(t)
	id, _, err := d.Create(ctx, core.Spec{
		Name: "loop-test-" + core.NewID()[:8], Image: testImage(t, d), Entrypoint: []string{"sleep", "600"},
		Labels: map[string]string{"loop-test": "engine"}, Network: "none",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Remove(context.WithoutCancel(ctx), id, true) })
	if err := d.Start(ctx, id); err != nil {
		t.Fatal(err)
	}
	c, err := d.DialExec(ctx, id, "64999:64999", []string{"/no/such/program"})
	if err != nil {
		return // newer engines refuse the start of the exec
	}
	defer func() { _ = c.Close() }()
	if _, err = c.Read(make([]byte, 4096)); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Fatalf("read gave %v", err)
	}
	if words := c.(*ExecStream).Stderr(); !strings.Contains(words, "/no/such/program") {
		t.Errorf("the stream explains its end with %q", words)
	}
}

// TestFilesOfThisComputer: a real engine of this computer passes the trial. Only the
// first container makes it, and nothing of it is left. The engine has the traits that
// every engine has.
func TestFilesOfThisComputer(t *testing.T) {
	folder := t.TempDir()
	d, err := Connect(t.Context(), Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if tr := d.Status(t.Context()).Traits; tr.CPUs == 0 || tr.MemoryBytes == 0 || tr.Kernel == "" {
		t.Errorf("%+v", tr)
	}
	for i := range 3 {
		began := time.Now()
		id, _, err := d.Create(t.Context(), core.Spec{
			Name: "loop-test-" + core.NewID()[:8], Image: testImage(t, d), Entrypoint: []string{"true"},
			Labels: map[string]string{"loop-test": "engine"}, Network: "none",
			Mounts: []core.Mount{{Kind: core.MountExtra, Source: t.TempDir(), Target: "/mnt"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("container %d took %s", i, time.Since(began))
		defer func() { _ = d.Remove(context.WithoutCancel(t.Context()), id, true) }()
		if !d.files.here {
			t.Error("not believed")
		}
	}
	d.wg.Wait()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 || left[0].Name() != "run" {
		t.Errorf("left %v (%v)", left, err)
	}
}
