package sandbox

import (
	"testing"

	"loop/backend/core"
)

// TestThreadSharesItsParentsMemory: the Claude folder belongs to the state owner. The
// home and a run's output stay the channel's own.
func TestThreadSharesItsParentsMemory(t *testing.T) {
	const owner = "fedcba9876543210fedcba9876543210"
	sub := subject("/home/mira/code/my-proj")
	sub.Channel.Kind, sub.Channel.ParentID, sub.Channel.StateID = core.KindThread, "00000000000000000000000000000001", owner
	fs, h := projectTree(), linuxHost()
	spec, _ := mustResolve(t, fs, nil, sub, h)
	want := map[string]string{
		"/home/mira":  "/home/mira/.loop/channels/" + channelID + "/home",
		ClaudeDir:     "/home/mira/.loop/channels/" + owner + "/claude",
		GuestSpoolDir: "/home/mira/.loop/channels/" + channelID + "/spool",
	}
	got := map[string]string{}
	for _, m := range spec.Mounts {
		if m.Kind == core.MountState {
			got[m.Target] = m.Source
		}
	}
	for target, source := range want {
		if got[target] != source {
			t.Errorf("%s is %s, want %s", target, got[target], source)
		}
	}
	if len(got) != len(want) || spec.ChannelID != channelID || spec.StateID != owner {
		t.Errorf("%+v for %s, %s", got, spec.ChannelID, spec.StateID)
	}
	h = fs.fill(nil, sub, h)
	if err := Validate(spec, h); err != nil {
		t.Error(err)
	}
	spec.StateID = "00000000000000000000000000000001"
	if err := Validate(spec, h); err == nil {
		t.Error("another channel's state was accepted")
	}
	sub.Channel.StateID = "../x"
	if _, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, linuxHost())); err == nil {
		t.Error("a state that is a path was accepted")
	}
}

// TestThreadOfADemoInADemo: at any depth, the folder is the state owner's.
func TestThreadOfADemoInADemo(t *testing.T) {
	const owner = "fedcba9876543210fedcba9876543210"
	dir := "/home/mira/.loop/channels/" + owner + "/work"
	fs := projectTree()
	fs[dir] = "dir"
	sub := subject(dir)
	sub.Channel.Kind, sub.Channel.ParentID, sub.Channel.StateID = core.KindDemo, "00000000000000000000000000000001", owner
	mustResolve(t, fs, nil, sub, linuxHost())
	sub.Channel.StateID = "00000000000000000000000000000001"
	if _, _, err := resolveLayers(nil, sub, fs.fill(nil, sub, linuxHost())); err == nil {
		t.Error("another channel's folder was accepted as workspace")
	}
}
