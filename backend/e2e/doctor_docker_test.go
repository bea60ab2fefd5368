//go:build docker

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
	"loop/backend/doctor"
)

// gateCheck has the doctor try everything, and returns what it says of the gate.
func (h *home) gateCheck() doctor.Check {
	h.t.Helper()
	r := h.run("doctor", "--json")
	var rep doctor.Report
	if err := json.Unmarshal([]byte(r.out), &rep); err != nil || r.code != 0 {
		h.t.Fatalf("exit %d, %v: %s%s", r.code, err, r.out, r.err)
	}
	for _, c := range rep.Checks {
		if c.ID == "gate" {
			return c
		}
	}
	h.t.Fatalf("no check of the gate: %s", r.out)
	return doctor.Check{}
}

// TestDoctorTriesTheGate: the doctor says of the gate what a trial in a container has
// shown, and the status bar says the same. A gate that is switched off in the person's own
// settings is called that, and so in the status bar. Nothing of the trials stays.
func TestDoctorTriesTheGate(t *testing.T) {
	t.Parallel() // mostly waits
	h := newHome(t, "")
	s := h.serve()
	status := func() core.GateStatus {
		var snap struct {
			Gate core.GateStatus `json:"gate"`
		}
		s.must("System.Snapshot", &snap)
		return snap.Gate
	}
	if st := status(); st.State != "unknown" || !st.Probed.IsZero() {
		t.Errorf("before anything was started: %+v", st)
	}
	c := h.gateCheck()
	for _, want := range []string{"Kernel: ", "can be installed", "made under signals, 0 of them broken", "20 programs started, 0 of them badly", "io_uring (ENOSYS), ptrace (EPERM)", "Landlock: "} {
		if !strings.Contains(c.Detail, want) {
			t.Errorf("no %q in %q", want, c.Detail)
		}
	}
	if c.State != doctor.OK {
		t.Errorf("%+v", c)
	}
	if st := status(); st.State != "on" || st.Probed.IsZero() {
		t.Errorf("after the trial: %+v", st)
	}
	if left := h.containers(); len(left) > 0 {
		t.Errorf("containers stay: %v", left)
	}
	if left, err := os.ReadDir(filepath.Join(h.dir, "channels")); err != nil || len(left) > 0 {
		t.Errorf("folders stay: %v %v", left, err)
	}
	if r := h.run("config", "set", "gates.agentgate.enabled", "false"); r.code != 0 {
		t.Fatalf("%s%s", r.out, r.err)
	}
	if c := h.gateCheck(); c.State != doctor.Warn || !strings.Contains(c.Summary, "gates.agentgate.enabled") {
		t.Errorf("switched off: %+v", c)
	}
	if st := status(); st.State != "off" || !strings.Contains(st.Why, "gates.agentgate.enabled") {
		t.Errorf("switched off: %+v", st)
	}
}
