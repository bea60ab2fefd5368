package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/docker/go-connections/tlsconfig"

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

func hostEnvironment() *environment {
	home, _ := os.UserHomeDir() // without a home its candidates are left out
	return &environment{
		goos: runtime.GOOS, home: home, uid: os.Getuid(), userName: cmp.Or(os.Getenv("USER"), fmt.Sprintf("uid %d", os.Getuid())),
		getenv: os.Getenv, readFile: os.ReadFile,
		exists: func(p string) bool { _, err := os.Stat(p); return err == nil },
	}
}

// candidate is one place an engine may be.
type candidate struct {
	host   string
	source string // for people: where Loop learned of this place
	chosen bool   // the person named it; nothing else is tried when it fails
	tls    *tlsconfig.Options
}

// candidates lists the places in the order they are tried. A place that the
// person chose (setting, DOCKER_HOST, docker context) is the only one: falling
// back to another engine would silently use other images and lose sight of the
// containers made so far, and the docker command does not do it either.
func (e *environment) candidates(explicit string) ([]candidate, error) {
	host, source := explicit, "docker_host setting"
	if host == "" {
		host, source = e.getenv("DOCKER_HOST"), "DOCKER_HOST"
	}
	if host != "" {
		return []candidate{{host: host, source: source, chosen: true, tls: e.envTLS(host)}}, nil
	}
	c, err := e.dockerContext()
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		return []candidate{*c}, nil
	}
	return e.wellKnown(), nil
}

// envTLS follows DOCKER_CERT_PATH and DOCKER_TLS_VERIFY as the docker command does.
func (e *environment) envTLS(host string) *tlsconfig.Options {
	dir, verify := e.getenv("DOCKER_CERT_PATH"), e.getenv("DOCKER_TLS_VERIFY") != ""
	if !strings.HasPrefix(host, "tcp://") || (dir == "" && !verify) {
		return nil
	}
	return e.tlsFrom(cmp.Or(dir, e.dockerConfigDir()), !verify)
}

func (e *environment) tlsFrom(dir string, skipVerify bool) *tlsconfig.Options {
	t := &tlsconfig.Options{InsecureSkipVerify: skipVerify}
	for name, dst := range map[string]*string{"ca.pem": &t.CAFile, "cert.pem": &t.CertFile, "key.pem": &t.KeyFile} {
		if p := filepath.Join(dir, name); e.exists(p) {
			*dst = p
		}
	}
	t.ExclusiveRootPools = t.CAFile != ""
	return t
}

func (e *environment) dockerConfigDir() string {
	return cmp.Or(e.getenv("DOCKER_CONFIG"), filepath.Join(e.home, ".docker"))
}

// dockerContext returns the engine of the docker context in use: DOCKER_CONTEXT,
// else currentContext of the docker command's config; nil where that is none or
// “default”. An unreadable config without DOCKER_CONTEXT is ignored, as the docker
// command does; a named context that cannot be resolved is an error, because the
// person meant a certain engine.
func (e *environment) dockerContext() (*candidate, error) {
	dir := e.dockerConfigDir()
	name, source := e.getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		var cfg struct {
			CurrentContext string `json:"currentContext"`
		}
		if raw, err := e.readFile(filepath.Join(dir, "config.json")); err == nil && json.Unmarshal(raw, &cfg) == nil {
			name, source = cfg.CurrentContext, "docker context"
		}
	}
	if name == "" || name == "default" {
		return nil, nil
	}
	// The docker command stores a context under the SHA-256 of its name.
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	raw, err := e.readFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	fault := "cannot be read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fault = "does not exist"
	case err == nil:
		err = json.Unmarshal(raw, &meta)
	}
	ep := meta.Endpoints["docker"]
	if err == nil && ep.Host == "" {
		fault, err = "names no engine", errors.New("no address in it")
	}
	if err != nil {
		return nil, core.Fail(core.CodeNoEngine, err, "The docker context “"+name+"” "+fault+".",
			"Choose another with “docker context use default”, or unset DOCKER_CONTEXT.")
	}
	c := &candidate{host: ep.Host, source: source + " “" + name + "”", chosen: true}
	tlsDir := filepath.Join(dir, "contexts", "tls", id, "docker")
	if e.exists(tlsDir) || ep.SkipTLSVerify {
		c.tls = e.tlsFrom(tlsDir, ep.SkipTLSVerify)
	}
	return c, nil
}

// wellKnown lists the usual sockets of each engine.
func (e *environment) wellKnown() (out []candidate) {
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

type attempt struct {
	candidate
	err error
}

// noEngine explains what was tried. A refusal outranks an absence: it means
// that an engine is there.
func noEngine(env *environment, tried []attempt) *core.Failure {
	f := core.Fail(core.CodeNoEngine, nil, "No container engine answered.", startRemedy(env.goos))
	var lines []string
	unfit := false
	for _, a := range tried {
		why := reason(a.err)
		lines = append(lines, fmt.Sprintf("%s (%s): %s", a.host, a.source, why))
		switch {
		case f.Code == core.CodeEngineDenied: // the first one counts
		case isDenied(a.err):
			remedy := "Add yourself to the group that owns the socket: “sudo usermod -aG docker $USER”, then sign out and in again."
			if env.goos != "linux" {
				remedy = "Start Docker as this user, or give this user access to " + a.host + "."
			}
			f = core.Fail(core.CodeEngineDenied, a.err,
				fmt.Sprintf("The container engine at %s (%s) refuses %s.", a.host, a.source, env.userName), remedy)
		case a.chosen:
			f = core.Fail(core.CodeNoEngine, a.err,
				fmt.Sprintf("The container engine at %s, named by %s, did not answer: %s.", a.host, a.source, why),
				"Start that engine, or remove the setting so that Loop looks in the usual places.")
		case !isAbsent(a.err) && !unfit: // it is there, which is more useful to know than that others are not
			unfit, f.Cause = true, fmt.Sprintf("The container engine at %s (%s) cannot be used: %s.", a.host, a.source, why)
		}
	}
	f.Detail = "Tried " + strings.Join(lines, "; ") + "."
	return f
}

func startRemedy(goos string) string {
	switch goos {
	case "darwin":
		return "Start your container engine, for example Docker Desktop, then try again."
	case "windows":
		return "Start Docker Desktop, then try again."
	}
	return "Start Docker (“sudo systemctl start docker”), then try again."
}
