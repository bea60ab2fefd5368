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
			{func() { r.SetMode("record") }, "record"}, // before any program has shown whether it holds
			{func() { r.Probed(nil) }, "record"},
			{func() { r.SetMode("shadow") }, "shadow"},
			{func() { r.SetMode("enforce") }, "on"},
			{func() { r.SetMode("record"); r.Tried(errors.New("no")) }, "broken"},
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
