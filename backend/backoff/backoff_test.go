package backoff

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := Backoff{First: time.Second, Most: 3 * time.Second}
		for i, want := range []float64{1, 2, 3, 3, 1} {
			if i == 4 {
				b.Reset()
			}
			began := time.Now()
			if !b.Wait(ctx) || time.Since(began).Seconds() != want {
				t.Errorf("pause %d took %v", i, time.Since(began))
			}
		}
		cancel()
		if b.Wait(ctx) {
			t.Error("a context that is over is waited on")
		}
	})
}
