package guestlink

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
)

// TestRequestWaitsForItsIdentity: a CLI that has run since an earlier link asks for its
// model. The host has not yet told the new link which run it is and where its model is.
func TestRequestWaitsForItsIdentity(t *testing.T) {
	for name, k := range map[string]struct {
		after time.Duration // the time until it is admitted
		code  int
		took  time.Duration
	}{
		"soon":     {after: time.Second, code: http.StatusOK, took: time.Second},
		"too late": {after: time.Minute, code: http.StatusNotFound, took: admitHold},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newAskers(Options{AdmitHold: admitHold, DemoModel: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
				began := time.Now()
				w := httptest.NewRecorder()
				done := make(chan time.Duration)
				go func() {
					r.serveModel(w, asked(t.Context(), "s1"))
					done <- time.Since(began)
				}()
				go func() {
					<-time.After(k.after / 2)
					r.admit("s2", core.Identity{RunID: "r1", Upstream: core.ModelUpstream{Demo: true}}) // another spawn's identity does not serve it
					<-time.After(k.after / 2)
					r.admit("s1", core.Identity{RunID: "r1", Upstream: core.ModelUpstream{Demo: true}})
				}()
				if took := <-done; w.Code != k.code || took != k.took {
					t.Errorf("%d after %s", w.Code, took)
				}
				<-time.After(time.Hour)
				if _, ok := r.find(asked(t.Context(), "s3")); ok || time.Since(began) > 2*time.Hour {
					t.Error("an old link holds requests")
				}
			})
		})
	}
}

func TestHeldRequestMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newAskers(Options{AdmitHold: time.Hour})
		left, leave := context.WithCancel(t.Context())
		leave()
		began := time.Now()
		if _, ok := r.find(asked(left, "s1")); ok || time.Since(began) != 0 {
			t.Error("the wait outlived its caller")
		}
	})
}

// asked is a model request from a spawn.
func asked(ctx context.Context, spawn core.SpawnID) *http.Request {
	return httptest.NewRequestWithContext(withStream(ctx, &guestConn{spawn: spawn}), http.MethodPost, "/runs/r1/model/v1/messages", nil)
}
