package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"loop/backend/core"
)

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
