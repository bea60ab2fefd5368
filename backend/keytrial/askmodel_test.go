package keytrial

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/demo"
	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

const canary = core.Secret("sk-ant-api03-canary-71c0")

func try(t *testing.T, a Asking) Answer {
	t.Helper()
	got, err := Try(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if got.Err != nil && strings.Contains(got.Err.Error(), canary.Reveal()) {
		t.Errorf("the key is in the error: %v", got.Err)
	}
	return got
}

func TestWhatAnAnswerSaysOfAKey(t *testing.T) {
	for name, tc := range map[string]struct {
		models, count int
		want          Outcome
		asked         int
	}{
		"good":                            {200, 0, Accepted, 1},
		"wrong":                           {401, 0, Refused, 1},
		"a token that may not list":       {403, 200, Accepted, 2},
		"may do nothing":                  {403, 403, Refused, 2},
		"a gateway without a list":        {404, 200, Accepted, 2},
		"a gateway that refuses":          {404, 401, Refused, 2},
		"a model that is not there":       {405, 404, Accepted, 2},
		"a request that it does not like": {400, 400, Accepted, 2},
		"no Messages API":                 {404, 404, Unsure, 2},
		"overloaded":                      {529, 0, Unsure, 1},
		"broken":                          {500, 0, Unsure, 1},
		"too many":                        {429, 0, Unsure, 1},
		"a redirect":                      {302, 302, Unsure, 2},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed a redirect") }))
			defer elsewhere.Close()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if r.Header.Get("x-api-key") != canary.Reveal() || r.Header.Get("Authorization") != "" || r.Header.Get("anthropic-version") == "" {
					t.Errorf("headers %v", r.Header)
				}
				w.Header().Set("Location", elsewhere.URL)
				switch r.Method + r.URL.Path {
				case "GET/v1/models":
					w.WriteHeader(tc.models)
				case "POST/v1/messages/count_tokens":
					if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), "messages") {
						t.Errorf("body %s", body)
					}
					w.WriteHeader(tc.count)
				default:
					t.Errorf("%s %s", r.Method, r.URL)
				}
				_, _ = w.Write([]byte(canary)) // an answer that repeats the key
			}))
			defer srv.Close()
			got := try(t, Asking{Base: srv.URL + "/", Key: canary})
			if got.Outcome != tc.want || asked != tc.asked || got.Status == 0 || got.Host != strings.TrimPrefix(srv.URL, "http://") {
				t.Errorf("%+v after %d requests", got, asked)
			}
		})
	}
}

func TestATokenGoesAsOne(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary.Reveal() || r.Header.Get("anthropic-beta") == "" || r.Header.Get("x-api-key") != "" {
			t.Errorf("headers %v", r.Header)
		}
	}))
	defer srv.Close()
	// Containers know this computer by another name.
	at := strings.Replace(srv.URL, "127.0.0.1", "host.docker.internal", 1)
	if got := try(t, Asking{Base: at, Token: canary, Key: "other"}); got.Outcome != Accepted {
		t.Errorf("%+v", got)
	}
}

// TestTheScriptedModelTakesKeys: what ships with Loop answers as the real API does.
func TestTheScriptedModelTakesKeys(t *testing.T) {
	srv := httptest.NewServer(demo.New(demo.Options{Pace: demo.Instant}))
	defer srv.Close()
	if got := try(t, Asking{Base: srv.URL, Key: canary}); got.Outcome != Accepted {
		t.Errorf("%+v", got)
	}
	if got := try(t, Asking{Base: srv.URL, Key: demo.RefusedKey}); got.Outcome != Refused || got.Status != 401 {
		t.Errorf("%+v", got)
	}
}

func TestNoAnswer(t *testing.T) {
	for _, bad := range []string{"ftp://x", "http://", "::"} {
		if _, err := Try(t.Context(), Asking{Base: bad, Key: canary}); core.AsFailure(err).Code != core.CodeConfig {
			t.Errorf("%s: %v", bad, err)
		}
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	if got := try(t, Asking{Base: closed.URL, Key: canary}); got.Outcome != Unreached || got.Err == nil {
		t.Errorf("%+v", got)
	}
	// One that takes the connection and says nothing.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	if got := try(t, Asking{Base: "http://" + silent.Addr().String(), Key: canary, Budget: 50 * time.Millisecond}); got.Outcome != Unreached || got.Err.Error() != "no answer in time" {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Try(ctx, Asking{Base: "http://" + silent.Addr().String(), Key: canary}); err != nil || got.Outcome != Unreached {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTheWayOut: the settings' proxy carries the request, unless the host is an exception.
func TestTheWayOut(t *testing.T) {
	var through []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through = append(through, r.URL.Host)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer proxy.Close()
	p := Proxy{HTTP: proxy.URL}
	if got := try(t, Asking{Base: "http://model.invalid", Key: canary, Proxy: p}); got.Outcome != Refused || len(through) != 1 || through[0] != "model.invalid" {
		t.Errorf("%+v through %v", got, through)
	}
	at, _ := url.Parse(proxy.URL)
	p.HTTP = "http://host.docker.internal:" + at.Port()
	if got := try(t, Asking{Base: "http://model.invalid", Key: canary, Proxy: p}); got.Outcome != Refused || len(through) != 2 {
		t.Errorf("%+v through %v", got, through)
	}
	p.Except = []string{".invalid"}
	if got := try(t, Asking{Base: "http://model.invalid", Key: canary, Proxy: p}); got.Outcome != Unreached || len(through) != 2 {
		t.Errorf("%+v through %v", got, through)
	}
}

func TestRoots(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	srv.Config.ErrorLog = nil
	if got := try(t, Asking{Base: srv.URL, Key: canary, Roots: Roots(nil, ReadPEM)}); got.Outcome != Unreached {
		t.Errorf("a certificate that nobody vouches for: %+v", got)
	}
	pem := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(pem, pemOf(srv), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := try(t, Asking{Base: srv.URL, Key: canary, Roots: Roots([]string{"/missing", t.TempDir(), pem}, ReadPEM)}); got.Outcome != Accepted {
		t.Errorf("%+v", got)
	}
}
