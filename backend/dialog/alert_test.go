package dialog

import (
	"testing"
	"time"
)

// The numbers are those of NSAlert.h and NSApplication.h: what no button stands for is no answer.
func TestAnswersOfAnAlert(t *testing.T) {
	for _, c := range []struct {
		response int
		noAllow  bool
		want     Choice
		chosen   bool
	}{
		{1000, false, AllowOnce, true}, {1001, false, Deny, true}, {1002, false, Review, true},
		{1000, true, Deny, false}, {1001, true, Deny, true}, {1002, true, Review, true},
		{1003, false, Deny, false}, {0, false, Deny, false}, {1, false, Deny, false},
		{-1000, false, Deny, false}, {-1001, false, Deny, false},
	} {
		if got, chosen := choiceOf(c.response, c.noAllow); got != c.want || chosen != c.chosen {
			t.Errorf("%d, noAllow %v: %v, %v; want %v, %v", c.response, c.noAllow, got, chosen, c.want, c.chosen)
		}
	}
	for i, c := range alertButtons() {
		if got := responseOf(c); got != 1000+i {
			t.Errorf("button %d has the response %d", i, got)
		}
	}
	if got := responseOf(Choice(7)); got != -1001 {
		t.Errorf("no button has the response %d", got)
	}
}

// No key allows; Return, Enter and Escape deny, and reach no button.
func TestKeysOfAnAlert(t *testing.T) {
	const capsLock, keypad, command = 1 << 16, 1 << 21, 1 << 20
	for _, c := range []struct {
		name         string
		code         uint16
		held         uint
		denies, kept bool
	}{
		{"Return", 0x24, 0, true, true}, {"Enter", 0x4c, keypad, true, true}, {"Escape", 0x35, capsLock, true, true},
		{"Command-Return", 0x24, command, false, true}, {"Space", 0x31, 0, false, false}, {"A", 0, 0, false, false},
	} {
		if denies, kept := keyOf(c.code, c.held); denies != c.denies || kept != c.kept {
			t.Errorf("%s: denies %v, kept %v", c.name, denies, kept)
		}
	}
}

func TestAnAlertIsInertAtFirstAndWhenItGetsTheKeyboard(t *testing.T) {
	var a arming
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		after time.Duration
		front bool
		want  bool
	}{
		{0, false, false}, {499 * time.Millisecond, false, false}, {500 * time.Millisecond, false, true},
		{600 * time.Millisecond, true, false}, {1099 * time.Millisecond, true, false}, {1100 * time.Millisecond, true, true},
		{1200 * time.Millisecond, false, true}, {1300 * time.Millisecond, true, false}, {1800 * time.Millisecond, true, true},
	} {
		if got := a.look(c.front, start.Add(c.after)); got != c.want {
			t.Errorf("after %v, in front %v: %v", c.after, c.front, got)
		}
	}
}
