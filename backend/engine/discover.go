package engine

import (
	"context"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"loop/backend/core"
)

// environment is what discovery reads of the host; tests make their own.
type environment struct {
	goos     string
	home     string
	uid      int
	userName string
	getenv   func(string) string
	readFile func(string) ([]byte, error)
	exists   func(string) bool
}

func hostEnvironment() environment {
	home, _ := os.UserHomeDir() // without a home its candidates are left out
	name := os.Getenv("USER")
	if name == "" {
		name = fmt.Sprintf("uid %d", os.Getuid())
	}
	return environment{
		goos: runtime.GOOS, home: home, uid: os.Getuid(), userName: name,
		getenv: os.Getenv, readFile: readBounded,
		exists: func(p string) bool { _, err := os.Stat(p); return err == nil },
	}
}

// candidate is one place an engine may be.
type candidate struct {
	host   string
	source string // for people: where Loop learned of this place
	chosen bool   // the person named it; nothing else is tried when it fails
	tls    *tlsFiles
}

type tlsFiles struct {
	ca, cert, key string
	skipVerify    bool
}

// candidates lists the places in the order they are tried. A place that the
// person chose (setting, DOCKER_HOST, docker context) is the only one: falling
// back to another engine would silently use other images and lose sight of the
// containers made so far, and the docker command does not do it either.
func (e environment) candidates(explicit string) ([]candidate, error) {
	if explicit != "" {
		return []candidate{{host: explicit, source: "docker_host setting", chosen: true, tls: e.envTLS(explicit)}}, nil
	}
	if h := e.getenv("DOCKER_HOST"); h != "" {
		return []candidate{{host: h, source: "DOCKER_HOST", chosen: true, tls: e.envTLS(h)}}, nil
	}
	c, ok, err := e.dockerContext()
	if err != nil {
		return nil, err
	}
	if ok {
		return []candidate{c}, nil
	}
	return e.wellKnown(), nil
}

// envTLS follows DOCKER_CERT_PATH and DOCKER_TLS_VERIFY as the docker command does.
func (e environment) envTLS(host string) *tlsFiles {
	dir, verify := e.getenv("DOCKER_CERT_PATH"), e.getenv("DOCKER_TLS_VERIFY") != ""
	if !strings.HasPrefix(host, "tcp://") || (dir == "" && !verify) {
		return nil
	}
	if dir == "" {
		dir = e.dockerConfigDir()
	}
	return e.tlsFrom(dir, !verify)
}

func (e environment) tlsFrom(dir string, skipVerify bool) *tlsFiles {
	t := &tlsFiles{skipVerify: skipVerify}
	for name, dst := range map[string]*string{"ca.pem": &t.ca, "cert.pem": &t.cert, "key.pem": &t.key} {
		if p := filepath.Join(dir, name); e.exists(p) {
			*dst = p
		}
	}
	return t
}

// wellKnown lists the usual sockets of each engine.
func (e environment) wellKnown() []candidate {
	var out []candidate
	add := func(source, p string) { out = append(out, candidate{host: "unix://" + p, source: source}) }
	if e.goos == "windows" {
		return []candidate{
			{host: "npipe:////./pipe/docker_engine", source: "Docker Desktop pipe"},
			{host: "npipe:////./pipe/dockerDesktopLinuxEngine", source: "Docker Desktop Linux pipe"},
			{host: "npipe:////./pipe/podman-machine-default", source: "Podman machine pipe"},
		}
	}
	add("default socket", "/var/run/docker.sock")
	xdg := e.getenv("XDG_RUNTIME_DIR")
	if xdg == "" && e.goos == "linux" && e.uid > 0 {
		xdg = fmt.Sprintf("/run/user/%d", e.uid)
	}
	if xdg != "" {
		add("rootless Docker socket", path.Join(xdg, "docker.sock"))
		add("Podman socket", path.Join(xdg, "podman/podman.sock"))
	}
	if e.goos == "linux" {
		add("Podman system socket", "/run/podman/podman.sock")
	}
	if h := e.home; h != "" {
		add("Podman machine", path.Join(h, ".local/share/containers/podman/machine/podman.sock"))
		add("Podman machine", path.Join(h, ".local/share/containers/podman/machine/qemu/podman.sock"))
		add("Colima", path.Join(h, ".colima/default/docker.sock"))
		add("Colima", path.Join(h, ".config/colima/default/docker.sock"))
		add("OrbStack", path.Join(h, ".orbstack/run/docker.sock"))
		add("Docker Desktop", path.Join(h, ".docker/run/docker.sock"))
		add("Docker Desktop", path.Join(h, ".docker/desktop/docker.sock"))
	}
	return out
}

// probeSocket opens and closes a Unix socket to learn why it cannot be used.
func probeSocket(ctx context.Context, host string) error {
	p, ok := strings.CutPrefix(host, "unix://")
	if !ok {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: tryTimeout}).DialContext(ctx, "unix", p)
	if err != nil {
		return err
	}
	return conn.Close()
}

type attempt struct {
	candidate
	err error
}

// noEngine explains what was tried. A refusal outranks an absence: it means
// that an engine is there.
func noEngine(env environment, tried []attempt) *core.Failure {
	var lines []string
	var denied, absent []attempt
	for _, a := range tried {
		lines = append(lines, fmt.Sprintf("%s (%s): %s", a.host, a.source, reason(a.err)))
		if isDenied(a.err) {
			denied = append(denied, a)
		} else {
			absent = append(absent, a)
		}
	}
	detail := "Tried " + strings.Join(lines, "; ") + "."
	var f *core.Failure
	switch {
	case len(denied) > 0:
		a := denied[0]
		remedy := "Add yourself to the group that owns the socket: “sudo usermod -aG docker $USER”, then sign out and in again."
		if env.goos != "linux" {
			remedy = "Start Docker as this user, or give this user access to " + a.host + "."
		}
		f = core.Fail(core.CodeEngineDenied, a.err,
			fmt.Sprintf("The container engine at %s (%s) refuses %s.", a.host, a.source, env.userName), remedy)
	case len(tried) == 1 && tried[0].chosen:
		a := absent[0]
		f = core.Fail(core.CodeNoEngine, a.err,
			fmt.Sprintf("The container engine at %s, named by %s, did not answer: %s.", a.host, a.source, reason(a.err)),
			"Start that engine, or remove the setting so that Loop looks in the usual places.")
	default:
		f = core.Fail(core.CodeNoEngine, nil, "No container engine answered.", startRemedy(env.goos))
		for _, a := range absent {
			if !isAbsent(a.err) { // there, but unfit: the more useful thing to say
				f.Cause = fmt.Sprintf("The container engine at %s (%s) cannot be used: %s.", a.host, a.source, reason(a.err))
				break
			}
		}
	}
	f.Detail = detail
	return f
}

func startRemedy(goos string) string {
	switch goos {
	case "darwin":
		return "Start Docker Desktop, OrbStack, Colima or Podman, then try again."
	case "windows":
		return "Start Docker Desktop, then try again."
	}
	return "Start Docker (“sudo systemctl start docker”) or Podman (“systemctl --user start podman.socket”), then try again."
}

// readBounded reads a small configuration file; 1 MiB is far above any real one.
func readBounded(p string) ([]byte, error) {
	st, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return nil, fmt.Errorf("%s is not a file of reasonable size", p)
	}
	return os.ReadFile(p)
}

// stampNow is the clock of names and ages inside this package.
var stampNow = time.Now
