package engine

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"loop/backend/core"
)

// TestPauseIsTriedAgain: on a busy machine runc gives up freezing, and the pause is
// tried again.
func TestPauseIsTriedAgain(t *testing.T) {
	var asked atomic.Int32
	host := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ping(w, "1.41", "linux")
		if !strings.HasSuffix(r.URL.Path, "/pause") {
			return
		}
		n := asked.Add(1)
		switch {
		case strings.Contains(r.URL.Path, "busy") && n < 3:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"message":"Cannot pause container busy: OCI runtime pause failed: unable to freeze: unknown"}`))
		case strings.Contains(r.URL.Path, "other"):
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"message":"Cannot pause container other: cgroups: cannot write"}`))
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	d, err := Connect(t.Context(), Options{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Pause(t.Context(), "busy"); err != nil || asked.Load() != 3 {
		t.Errorf("%v after %d tries", err, asked.Load())
	}
	asked.Store(0)
	if err := d.Pause(t.Context(), "other"); core.AsFailure(err).Code == "" || err == nil || asked.Load() != 1 {
		t.Errorf("%v after %d tries", err, asked.Load())
	}
}
