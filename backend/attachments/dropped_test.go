package attachments

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestDropped: a picture goes a week after the last draft has let it go, unless anything names it.
func TestDropped(t *testing.T) {
	named, lost := map[string]bool{}, error(nil)
	f := Files{Home: t.TempDir(), Channels: channels{}, Log: slog.New(slog.DiscardHandler), Named: func(_ context.Context, ch core.ChannelID, id string) (bool, error) {
		return ch != "c" || named[id], lost
	}}
	add := func(w int) string {
		t.Helper()
		a, err := f.Add(t.Context(), "c", "x", picture(t, w, 2))
		if err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	drop := func(id string) {
		t.Helper()
		if err := f.Drop("c", id); err != nil {
			t.Fatal(err)
		}
	}
	there := func(id string) bool { _, err := f.Read("c", id); return err == nil }
	gone, draft, twice, sent, again, old := add(1), add(2), add(3), add(4), add(5), add(6)
	add(3)
	for _, id := range []string{gone, twice, sent, again} {
		drop(id)
	}
	named[sent] = true
	add(5) // into another draft
	if err := os.Remove(f.path("c", old) + uses); err != nil {
		t.Fatal(err)
	}
	drop(old) // from before uses were counted
	add(6)
	drop(old)

	now := time.Now()
	for _, step := range []struct {
		after time.Duration
		lost  error
		want  bool
	}{{6 * 24 * time.Hour, nil, true}, {8 * 24 * time.Hour, errors.New("disk full"), true}, {8 * 24 * time.Hour, nil, false}} {
		lost = step.lost
		if err := f.removeDropped(t.Context(), now.Add(step.after)); (err != nil) != (step.lost != nil) {
			t.Errorf("%+v: %v", step, err)
		}
		if there(gone) != step.want {
			t.Errorf("%+v: %v", step, there(gone))
		}
		for name, id := range map[string]string{"draft": draft, "twice": twice, "sent": sent, "again": again, "old": old} {
			if !there(id) {
				t.Errorf("%+v: the picture %q is gone", step, name)
			}
		}
	}
	if _, err := os.Stat(f.path("c", gone) + uses); err == nil {
		t.Error("its count is left")
	}
	if add(1) != gone || !there(gone) {
		t.Error("it cannot be attached again")
	}
	for _, id := range []string{"", "../../x", strings.Repeat("a", 62)} {
		if err := f.Drop("c", id); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestDroppedEachDay: Loop looks at its start, and each day while it runs.
func TestDroppedEachDay(t *testing.T) {
	home, data := t.TempDir(), picture(t, 1, 1)
	synctest.Test(t, func(t *testing.T) {
		f := Files{Home: home, Channels: channels{}, Log: slog.New(slog.DiscardHandler),
			Named: func(context.Context, core.ChannelID, string) (bool, error) { return false, nil }}
		a, err := f.Add(t.Context(), "c", "x", data)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Drop("c", a.ID); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f.path("c", a.ID)+uses, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.Run(ctx) }()
		<-time.After(6*lookEvery + time.Hour)
		if _, err := f.Read("c", a.ID); err != nil {
			t.Errorf("after six days: %v", err)
		}
		<-time.After(2 * lookEvery)
		if _, err := f.Read("c", a.ID); err == nil {
			t.Error("it is there after eight days")
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
