package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"loop/backend/core"
)

// env makes an environment of variables and files.
func env(goos string, vars, files map[string]string) *environment {
	return &environment{
		goos: goos, home: "/home/kim", uid: 1000, userName: "kim",
		getenv: func(k string) string { return vars[k] },
		readFile: func(p string) ([]byte, error) {
			if s, ok := files[filepath.ToSlash(p)]; ok {
				return []byte(s), nil
			}
			return nil, fmt.Errorf("read %s: %w", p, fs.ErrNotExist)
		},
		exists: func(p string) bool {
			for f := range files {
				if f == filepath.ToSlash(p) || strings.HasPrefix(f, filepath.ToSlash(p)+"/") {
					return true
				}
			}
			return false
		},
	}
}

func contextDir(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return "/home/kim/.docker/contexts/" + kind + "/" + hex.EncodeToString(sum[:])
}

func TestCandidates(t *testing.T) {
	metaFile := contextDir("meta", "work") + "/meta.json"
	meta := `{"Name":"work","Endpoints":{"docker":{"Host":"tcp://box:2376","SkipTLSVerify":false}}}`
	for name, tc := range map[string]struct {
		explicit    string
		vars, files map[string]string
		host, src   string // of the first candidate
		chosen      bool
		ca          string
	}{
		"setting wins":          {"unix:///x.sock", map[string]string{"DOCKER_HOST": "unix:///y"}, nil, "unix:///x.sock", "docker_host setting", true, ""},
		"DOCKER_HOST":           {"", map[string]string{"DOCKER_HOST": "unix:///y", "DOCKER_CONTEXT": "work"}, nil, "unix:///y", "DOCKER_HOST", true, ""},
		"DOCKER_HOST with TLS":  {"", map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/c"}, map[string]string{"/c/ca.pem": ""}, "tcp://h:1", "DOCKER_HOST", true, "/c/ca.pem"},
		"DOCKER_CONTEXT":        {"", map[string]string{"DOCKER_CONTEXT": "work"}, map[string]string{metaFile: meta}, "tcp://box:2376", "DOCKER_CONTEXT “work”", true, ""},
		"current context":       {"", nil, map[string]string{"/home/kim/.docker/config.json": `{"currentContext":"work"}`, metaFile: meta, contextDir("tls", "work") + "/docker/ca.pem": ""}, "tcp://box:2376", "docker context “work”", true, contextDir("tls", "work") + "/docker/ca.pem"},
		"default context":       {"", map[string]string{"DOCKER_CONTEXT": "default"}, nil, "unix:///var/run/docker.sock", "default socket", false, ""},
		"damaged docker config": {"", nil, map[string]string{"/home/kim/.docker/config.json": `{"currentCon`}, "unix:///var/run/docker.sock", "default socket", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := env("linux", tc.vars, tc.files).candidates(tc.explicit)
			if err != nil {
				t.Fatal(err)
			}
			c := got[0]
			if c.host != tc.host || c.source != tc.src || c.chosen != tc.chosen || (tc.chosen && len(got) != 1) {
				t.Fatalf("got %+v of %d", c, len(got))
			}
			if (c.tls != nil && filepath.ToSlash(c.tls.CAFile) != tc.ca) || (c.tls == nil && tc.ca != "") {
				t.Fatalf("TLS files %+v, want CA %q", c.tls, tc.ca)
			}
		})
	}
}

func TestContextErrors(t *testing.T) {
	file := contextDir("meta", "work") + "/meta.json"
	for name, files := range map[string]map[string]string{
		"absent": nil, "damaged": {file: "{"}, "empty": {file: "{}"},
	} {
		_, err := env("linux", map[string]string{"DOCKER_CONTEXT": "work"}, files).candidates("")
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeNoEngine || f.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWellKnownOrder(t *testing.T) {
	var got []string
	for _, c := range env("linux", map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"}, nil).wellKnown() {
		got = append(got, c.source+" "+strings.TrimPrefix(c.host, "unix://"))
	}
	want := []string{
		"default socket /var/run/docker.sock", "rootless Docker socket /run/user/7/docker.sock",
		"Podman socket /run/user/7/podman/podman.sock", "Podman system socket /run/podman/podman.sock",
		"Podman machine /home/kim/.local/share/containers/podman/machine/podman.sock",
		"Podman machine /home/kim/.local/share/containers/podman/machine/qemu/podman.sock",
		"Colima /home/kim/.colima/default/docker.sock", "Colima /home/kim/.config/colima/default/docker.sock",
		"OrbStack /home/kim/.orbstack/run/docker.sock",
		"Docker Desktop /home/kim/.docker/run/docker.sock", "Docker Desktop /home/kim/.docker/desktop/docker.sock",
	}
	if !slices.Equal(got, want) {
		t.Errorf("order\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, c := range env("windows", nil, nil).wellKnown() {
		if !strings.HasPrefix(c.host, "npipe://") {
			t.Errorf("windows candidate %+v", c)
		}
	}
}

func TestNoEngineSaysWhatWasTried(t *testing.T) {
	e := env("linux", nil, nil)
	abs := attempt{candidate{host: "unix:///a", source: "default socket"}, fmt.Errorf("dial: %w", fs.ErrNotExist)}
	ref := attempt{candidate{host: "unix:///b", source: "Podman socket"}, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)}
	den := attempt{candidate{host: "unix:///c", source: "Colima"}, fmt.Errorf("dial: %w", fs.ErrPermission)}
	odd := attempt{candidate{host: "unix:///d", source: "OrbStack"}, errors.New("it runs windows containers; Loop needs Linux containers")}
	for name, tc := range map[string]struct {
		tried []attempt
		code  core.Code
		say   []string
	}{
		"nothing there": {[]attempt{abs, ref}, core.CodeNoEngine, []string{"No container engine answered", "no such socket", "nothing listens there", "systemctl start docker"}},
		"denied":        {[]attempt{abs, den, ref}, core.CodeEngineDenied, []string{"refuses kim", "usermod -aG docker", "no such socket"}},
		"unfit":         {[]attempt{abs, odd}, core.CodeNoEngine, []string{"windows containers"}},
		"chosen":        {[]attempt{{candidate{host: "unix:///e", source: "DOCKER_HOST", chosen: true}, syscall.ECONNREFUSED}}, core.CodeNoEngine, []string{"named by DOCKER_HOST", "remove the setting"}},
	} {
		f := noEngine(e, tc.tried)
		text := f.Cause + " " + f.Remedy + " " + f.Detail
		if f.Code != tc.code {
			t.Errorf("%s: code %s", name, f.Code)
		}
		for _, s := range tc.say {
			if !strings.Contains(text, s) {
				t.Errorf("%s: %q lacks %q", name, text, s)
			}
		}
		for _, a := range tc.tried {
			if !strings.Contains(f.Detail, a.host) {
				t.Errorf("%s: detail %q lacks %s", name, f.Detail, a.host)
			}
		}
	}
}

// listen serves an engine's API on a socket. The handler h plays the engine.
func listen(t *testing.T, h http.Handler) (host string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "eng") // t.TempDir is too long for a socket on some systems
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
		_ = os.RemoveAll(dir)
	})
	return "unix://" + filepath.Join(dir, "s")
}

func ping(w http.ResponseWriter, version, goos string) {
	w.Header().Set("Api-Version", version)
	w.Header().Set("Ostype", goos)
}

func TestConnectIsPickyAndLate(t *testing.T) {
	for name, tc := range map[string]struct{ version, goos, say string }{
		"too old": {"1.30", "linux", "speaks API 1.30"}, "windows": {"1.41", "windows", "windows containers"},
	} {
		host := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { ping(w, tc.version, tc.goos) }))
		_, err := Connect(t.Context(), Options{Host: host})
		if f := core.AsFailure(err); f.Code != core.CodeNoEngine || !strings.Contains(f.Cause, tc.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Every call looks again, so it finds an engine that started after Loop.
	e := env("linux", map[string]string{"DOCKER_HOST": "unix:///no/such.sock"}, nil)
	d := Open(Options{env: e})
	defer func() { _ = d.Close() }()
	if st := d.Status(t.Context()); st.OK || st.Failure == nil || st.Failure.Code != core.CodeNoEngine {
		t.Fatalf("status %+v", st)
	}
	host := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ping(w, "1.41", "linux")
		if strings.HasSuffix(r.URL.Path, "/version") {
			_, _ = w.Write([]byte(`{"Version":"9","Os":"linux","Arch":"arm64","Components":[{"Name":"Podman Engine","Version":"5.0"}]}`))
		}
	}))
	d.env.getenv = func(k string) string {
		if k == "DOCKER_HOST" {
			return host
		}
		return ""
	}
	if st := d.Status(t.Context()); !st.OK || st.Name != "Podman" || st.Version != "5.0" || st.Arch != "arm64" || st.Source != "DOCKER_HOST" {
		t.Fatalf("status %+v", st)
	}
}

// TestEngineDiesMidCall: an engine that dies in the middle of a call gives
// CodeEngineLost, whichever call it was.
func TestEngineDiesMidCall(t *testing.T) {
	host := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/_ping") {
			ping(w, "1.41", "linux")
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	d, err := Connect(t.Context(), Options{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	ctx := context.Background()
	for name, call := range map[string]func() error{
		"create":  func() error { _, _, err := d.Create(ctx, core.Spec{}); return err },
		"start":   func() error { return d.Start(ctx, "x") },
		"stop":    func() error { return d.Stop(ctx, "x", 0) },
		"remove":  func() error { return d.Remove(ctx, "x", true) },
		"wait":    func() error { _, err := d.Wait(ctx, "x"); return err },
		"inspect": func() error { _, err := d.Inspect(ctx, "x"); return err },
		"list":    func() error { _, err := d.List(ctx, nil); return err },
		"logs":    func() error { _, err := d.Logs(ctx, "x", 1); return err },
		"exec":    func() error { _, err := d.DialExec(ctx, "x", "", nil); return err },
		"image":   func() error { _, _, err := d.ImageInspect(ctx, "x"); return err },
		"pull":    func() error { return d.ImagePull(ctx, "x", nil) },
		"build": func() error {
			_, err := d.ImageBuildClassic(ctx, strings.NewReader(""), core.BuildOptions{}, nil)
			return err
		},
		"import":  func() error { return d.ImageImport(ctx, strings.NewReader(""), "x") },
		"tag":     func() error { return d.ImageTag(ctx, "x", "y") },
		"named":   func() error { _, err := d.ImagesNamed(ctx, nil); return err },
		"volume":  func() error { return d.EnsureVolume(ctx, "x", nil) },
		"fill":    func() error { return d.VolumeFill(ctx, "x", "y", nil) },
		"gateway": func() error { _, err := d.GatewayIP(ctx); return err },
	} {
		err := call()
		if f, ok := errors.AsType[*core.Failure](err); !ok || f.Code != core.CodeEngineLost || f.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := d.Status(ctx); st.OK || st.Failure == nil || st.Failure.Code != core.CodeEngineLost {
		t.Errorf("status %+v", st)
	}
}

// TestEventsReconnect: the event stream reconnects after a break, and announces each
// connection.
func TestEventsReconnect(t *testing.T) {
	host := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ping(w, "1.41", "linux")
		if strings.HasSuffix(r.URL.Path, "/events") {
			_, _ = w.Write([]byte(`{"Type":"container","Action":"die","Actor":{"ID":"c","Attributes":{"exitCode":"7"}},"timeNano":5}` + "\n" + `{"Type":"container","Action":"exec_start: x"}`))
		}
	}))
	d, err := Connect(t.Context(), Options{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	ch := d.Events(ctx, nil)
	for range 2 {
		if ev := <-ch; ev.Kind != core.ContainerResync {
			t.Fatalf("got %+v, want resync", ev)
		}
		if ev := <-ch; ev.Kind != core.ContainerDied || ev.ID != "c" || ev.ExitCode != 7 {
			t.Fatalf("got %+v, want die", ev)
		}
	}
	cancel()
	for range ch { //nolint:revive // until the channel is closed
	}
}
