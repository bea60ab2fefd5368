package guestlink

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestModelRequestWaitsForItsRoute is a CLI that lives since an earlier link: it
// asks before the host has said where its model is.
func TestModelRequestWaitsForItsRoute(t *testing.T) {
	for name, k := range map[string]struct {
		after time.Duration // when the route is made
		code  int
		took  time.Duration
	}{
		"soon":     {after: time.Second, code: http.StatusOK, took: time.Second},
		"too late": {after: time.Minute, code: http.StatusNotFound, took: routeHold},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoutes(Options{RouteHold: routeHold, DemoModel: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
				began := time.Now()
				w := httptest.NewRecorder()
				done := make(chan time.Duration)
				go func() {
					r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/runs/r1/model/v1/messages", nil))
					done <- time.Since(began)
				}()
				go func() {
					<-time.After(k.after / 2)
					r.set("r2", core.ModelUpstream{Demo: true}) // another run's is not its own
					<-time.After(k.after / 2)
					r.set("r1", core.ModelUpstream{Demo: true})
				}()
				if took := <-done; w.Code != k.code || took != k.took {
					t.Errorf("%d after %s", w.Code, took)
				}
				<-time.After(time.Hour)
				if _, ok := r.find(nil, "r3"); ok || time.Since(began) > 2*time.Hour {
					t.Error("an old link holds requests")
				}
			})
		})
	}
}

func TestHeldModelRequestMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoutes(Options{RouteHold: time.Hour})
		left := make(chan struct{})
		close(left)
		began := time.Now()
		if _, ok := r.find(left, "r1"); ok || time.Since(began) != 0 {
			t.Error("the wait outlived its caller")
		}
	})
}
