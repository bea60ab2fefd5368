package gate

import (
	"errors"
	"testing"
	"testing/synctest"

	"loop/backend/core"
)

func TestTheStatusSaysThatItOnlyRecords(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { r.SetMode("record", nil) }, "record"}, // before any program has shown whether it holds
			{func() { r.Probed(nil, false) }, "record"},
			{func() { r.SetMode("shadow", nil) }, "shadow"},
			{func() { r.SetMode("enforce", nil) }, "on"},
			{func() { r.SetMode("record", nil); r.Tried(errors.New("no")) }, "broken"},
			{func() { r.Enable(false) }, "off"},
			{func() { r.Enable(true) }, "record"},
		} {
			step.do()
			if st := r.Status(); st.State != step.want || st.Text == "" {
				t.Errorf("%+v, not %s", st, step.want)
			}
		}
		synctest.Wait()
		if n := len(r.heard(core.EventGateStatus)); n != 8 {
			t.Errorf("%d changes were told", n)
		}
	})
}

// TestTheStatusSaysThatDebuggersWork: once a program has shown it, whatever others may do,
// until the settings do not want them any more.
func TestTheStatusSaysThatDebuggersWork(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { r.SetDebuggers(true) }, "Gate not probed yet"},
			{func() { r.Probed(nil, false) }, "Gate on"},
			{func() { r.Probed(nil, true) }, "Gate on, debuggers allowed"},
			{func() { r.Probed(nil, false) }, "Gate on, debuggers allowed"}, // of what may not debug
			{func() { r.SetDebuggers(true) }, "Gate on, debuggers allowed"},
			{func() { r.SetMode("record", nil) }, "Gate only records"},
			{func() { r.SetMode("enforce", nil); r.SetDebuggers(false) }, "Gate on"},
		} {
			step.do()
			if st := r.Status(); st.Text != step.want {
				t.Errorf("%+v, not %s", st, step.want)
			}
		}
		synctest.Wait()
		if n := len(r.heard(core.EventGateStatus)); n != 5 {
			t.Errorf("%d changes were told", n)
		}
	})
}

func TestTheStatusNamesFoldersWithAnotherMode(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.Probed(nil, false)
		r.SetMode("enforce", map[string]string{"/app": "shadow", "/same": "enforce", "/none": ""})
		st := r.Status()
		if st.State != "on" || len(st.Modes) != 1 || st.Modes["/app"] != "shadow" || st.Why != "In /app its mode is shadow." {
			t.Errorf("%+v", st)
		}
		r.SetMode("enforce", nil)
		synctest.Wait()
		if n := len(r.heard(core.EventGateStatus)); n != 3 || r.Status().Modes != nil {
			t.Errorf("%d changes were told: %+v", n, r.Status())
		}
	})
}
