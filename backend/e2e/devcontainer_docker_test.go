//go:build docker

package e2e

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// TestDevcontainer: its Dockerfile, its commands and its plain variables make the image; what is left out is
// said.
func TestDevcontainer(t *testing.T) {
	t.Parallel()
	r := newToolchainRig(t)
	r.put(".devcontainer/devcontainer.json", `{
		// for everybody
		"build": {"dockerfile": "Dockerfile", "target": "dev", "args": {"WORD": "built"}},
		"postCreateCommand": "echo \"of $(cat /word)\" >/created",
		"containerEnv": {"GREETING": "hello there", "LD_PRELOAD": "/nowhere.so"},
		"runArgs": ["--privileged"],
	}`)
	r.put(".devcontainer/Dockerfile", "FROM loop-agent:latest AS dev\nARG WORD\nCOPY own /own\nRUN echo $WORD >/word\nHEALTHCHECK CMD touch /var/tmp/taken\n"+
		"ENTRYPOINT [\"/bin/false\"]\nUSER nobody\nFROM dev AS other\nRUN exit 1\n")
	r.put(".devcontainer/own", "a file of the build\n")
	r.c.steps["look"] = []step{bash(`{ cat /created /own; echo "$GREETING, ${LD_PRELOAD:-nothing}"; ls /var/tmp/taken; } >seen 2>&1; true`)}
	run := r.held("Do-look")
	tc := r.toolchain()
	if tc.Kind != core.ToolchainDevcontainer || !strings.Contains(strings.Join(tc.Notes, " "), "runArgs") || !strings.Contains(tc.Text, "a file of the build") {
		t.Fatalf("asked about %+v", tc)
	}
	r.decide("Approve")
	page := r.s.finished(r.ch, run)
	if seen := r.seen(); !strings.Contains(seen, "of built\na file of the build\nhello there, nothing\n") || !strings.Contains(seen, "cannot access '/var/tmp/taken'") {
		t.Errorf("the agent sees %s", seen)
	}
	if said := strings.Join(kept(page, run, core.EventNotice), " "); !strings.Contains(said, "“runArgs” of the devcontainer is left out") {
		t.Errorf("the person is told %s", said)
	}
	if made := r.images(); len(made) != 2 { // its own, and what was run on it; Loop's part is in both
		t.Errorf("images %q", made)
	}
	box := r.h.containers()
	if len(box) != 1 || len(box[0].HostConfig.CapAdd) > 6 || !box[0].HostConfig.ReadonlyRootfs {
		t.Errorf("containers %+v", box)
	}
}
