package engine

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/system"

	"loop/backend/core"
)

// otherMachine is an engine behind an address, which sees other files in a folder than
// this computer does. It knows the calls that making a container takes.
type otherMachine struct {
	shows func(dir, name string) ([]byte, bool) // contents of a file in a bind of dir
	binds func(dir string) bool                 // whether the engine has such a folder; nil: always

	mu    sync.Mutex
	made  map[string]string // bound folder by helper container
	calls []string
	last  int
}

func (m *otherMachine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, p, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	m.calls = append(m.calls, r.Method+" "+path.Base(p))
	w.Header().Set("Content-Type", "application/json")
	say := func(code int, v any) { w.WriteHeader(code); _ = json.NewEncoder(w).Encode(v) }
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
		w.Header().Set("API-Version", "1.41")
		w.Header().Set("OSType", "linux")
	case p == "containers/json":
		say(200, []any{})
	case p == "containers/create":
		var req struct{ HostConfig container.HostConfig }
		_ = json.NewDecoder(r.Body).Decode(&req)
		dir := req.HostConfig.Mounts[0].Source
		if m.binds != nil && !m.binds(dir) {
			say(400, map[string]string{"message": "invalid mount config for type \"bind\": bind source path does not exist: " + dir})
			return
		}
		m.last++
		id := fmt.Sprintf("%064x", m.last)
		m.made[id] = dir
		say(201, map[string]any{"Id": id})
	case strings.HasSuffix(p, "/archive"):
		file := r.URL.Query().Get("path")
		data, ok := m.shows(m.made[strings.Split(p, "/")[1]], path.Base(file))
		if !ok {
			say(404, map[string]string{"message": "Could not find the file " + file})
			return
		}
		w.Header().Set("X-Docker-Container-Path-Stat", "e30=")
		tw := tar.NewWriter(w)
		_ = tw.WriteHeader(&tar.Header{Name: path.Base(file), Size: int64(len(data)), Mode: 0o600})
		_, _ = tw.Write(data)
		_ = tw.Close()
	case r.Method == http.MethodDelete:
		delete(m.made, strings.Split(p, "/")[1])
		w.WriteHeader(204)
	default:
		say(500, map[string]string{"message": "not known here: " + r.URL.Path})
	}
}

func (m *otherMachine) engine(t *testing.T) (*Docker, string) {
	t.Helper()
	m.made = map[string]string{}
	srv := httptest.NewServer(m)
	folder := t.TempDir()
	d := Open(Options{Host: "tcp://" + strings.TrimPrefix(srv.URL, "http://"), Folder: folder})
	t.Cleanup(func() { _ = d.Close(); srv.Close() })
	return d, folder
}

func bindSpec(src string) core.Spec {
	return core.Spec{Name: "x", Image: "img", Network: "none", Mounts: []core.Mount{{Kind: core.MountWorkspace, Source: src, Target: "/w"}}}
}

// TestEngineOfAnotherMachine: such an engine is refused before anything runs in one of
// its containers. No container and no file is left.
func TestEngineOfAnotherMachine(t *testing.T) {
	for name, m := range map[string]*otherMachine{
		"another file":   {shows: func(string, string) ([]byte, bool) { return []byte("26 letters of another word"), true }},
		"no file":        {shows: func(string, string) ([]byte, bool) { return nil, false }},
		"no folder":      {binds: func(string) bool { return false }},
		"a longer file":  {shows: func(string, string) ([]byte, bool) { return make([]byte, 1<<20), true }},
		"nothing to see": {shows: func(string, string) ([]byte, bool) { return nil, true }},
	} {
		t.Run(name, func(t *testing.T) {
			d, folder := m.engine(t)
			_, _, err := d.Create(t.Context(), bindSpec("/home/mira/code"))
			f, ok := errors.AsType[*core.Failure](err)
			if name != "a longer file" && (!ok || f.Code != core.CodeMount || !strings.Contains(f.Cause, "does not see this computer's folders") || f.Remedy == "") {
				t.Errorf("%v", err)
			}
			if err == nil {
				t.Error("made")
			}
			_ = d.Close() // waits for the clean-up
			if len(m.made) != 0 {
				t.Errorf("containers left: %v", m.made)
			}
			if left, _ := os.ReadDir(folder); len(left) != 0 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// TestEngineOfThisComputer: one trial is enough, even when the first containers are
// made side by side.
func TestEngineOfThisComputer(t *testing.T) {
	m := &otherMachine{shows: func(dir, name string) ([]byte, bool) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		return data, err == nil
	}}
	d, folder := m.engine(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, _, err := d.Create(t.Context(), bindSpec("/home/mira/code")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, _, err := d.Create(t.Context(), bindSpec("/home/mira/code")); err != nil {
		t.Error(err)
	}
	_ = d.Close()
	trials := 0
	for _, c := range m.calls {
		if c == "GET archive" {
			trials++
		}
	}
	if trials != 1 || len(m.made) != 5 {
		t.Errorf("%d trials, %d containers", trials, len(m.made))
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("files left: %v", left)
	}
}

// TestTrialIsMadeAgain: a trial failed for a reason that went away, so the next
// container tries again.
func TestTrialIsMadeAgain(t *testing.T) {
	shared := false
	m := &otherMachine{shows: func(dir, name string) ([]byte, bool) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		return data, err == nil && shared
	}}
	d, _ := m.engine(t)
	if _, _, err := d.Create(t.Context(), bindSpec("/w")); err == nil {
		t.Error("made")
	}
	m.mu.Lock()
	shared = true
	m.mu.Unlock()
	if _, _, err := d.Create(t.Context(), bindSpec("/w")); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Create(ctx, bindSpec("/w")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEngineThatPassedBefore: the connections to a socket of this computer share one
// trial. Each connection to a network address has its own.
func TestEngineThatPassedBefore(t *testing.T) {
	folder := t.TempDir()
	line := func(host, id string) string {
		d := &Docker{opts: Options{Folder: folder}, at: candidate{host: host}, known: core.EngineTraits{ID: id}}
		_, line := d.proof()
		return line
	}
	same := line("unix:///var/run/docker.sock", "A")
	if same == "" || same == line("unix:///var/run/docker.sock", "B") || same == line("unix:///run/other.sock", "A") {
		t.Error("the line does not tell engines apart")
	}
	if line("unix:///var/run/docker.sock", "") != "" || line("tcp://10.0.0.7:2376", "A") != "" {
		t.Error("remembered what may be another engine tomorrow")
	}
	srv := httptest.NewUnstartedServer(nil)
	m := &otherMachine{made: map[string]string{}, shows: func(string, string) ([]byte, bool) { return nil, false }}
	srv.Config.Handler = m
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = srv.Listener.Close()
	srv.Listener = ln
	srv.Start()
	defer srv.Close()
	for id, passes := range map[string]bool{"A": true, "B": false} {
		d := Open(Options{Host: "unix://" + path, Folder: folder})
		d.known.ID = id
		if err := os.MkdirAll(filepath.Join(folder, "run"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "run", "engine-seen"), []byte("unix://"+path+" A\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Create(t.Context(), bindSpec("/w")); (err == nil) != passes {
			t.Errorf("engine %s: %v", id, err)
		}
		_ = d.Close()
	}
}

func TestTraits(t *testing.T) {
	for name, tc := range map[string]struct {
		info system.Info
		want core.EngineTraits
	}{
		"plain": {system.Info{KernelVersion: "6.1.0-18-amd64", NCPU: 8, MemTotal: 1 << 34, CgroupVersion: "2", SecurityOptions: []string{"name=apparmor", "name=seccomp,profile=builtin"}},
			core.EngineTraits{Kernel: "6.1.0-18-amd64", CPUs: 8, MemoryBytes: 1 << 34, CgroupVersion: "2", Seccomp: true}},
		"rootless on an old kernel": {system.Info{KernelVersion: "5.8.1", SecurityOptions: []string{"name=seccomp,profile=default", "name=rootless"}},
			core.EngineTraits{Kernel: "5.8.1", Seccomp: true, Rootless: true}},
		"desktop without seccomp": {system.Info{KernelVersion: "linuxkit", OperatingSystem: "Docker Desktop"}, core.EngineTraits{Kernel: "linuxkit", Desktop: true}},
	} {
		if got := traitsOf(tc.info); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
