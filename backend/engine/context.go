package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"loop/backend/core"
)

func (e environment) dockerConfigDir() string {
	if d := e.getenv("DOCKER_CONFIG"); d != "" {
		return d
	}
	return filepath.Join(e.home, ".docker")
}

// dockerContext returns the engine of the docker context in use: DOCKER_CONTEXT,
// else currentContext of the docker command's config. ok is false when there is
// none or it is “default”. An unreadable config without DOCKER_CONTEXT is
// ignored, as the docker command does; a named context that cannot be resolved
// is an error, because the person meant a certain engine.
func (e environment) dockerContext() (c candidate, ok bool, err error) {
	dir := e.dockerConfigDir()
	name, source := e.getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" {
		source = "docker context"
		raw, err := e.readFile(filepath.Join(dir, "config.json"))
		var cfg struct {
			CurrentContext string `json:"currentContext"`
		}
		if err == nil && json.Unmarshal(raw, &cfg) == nil {
			name = cfg.CurrentContext
		}
	}
	if name == "" || name == "default" {
		return candidate{}, false, nil
	}
	// The docker command stores a context under the SHA-256 of its name.
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	raw, err := e.readFile(filepath.Join(dir, "contexts", "meta", id, "meta.json"))
	if err != nil {
		cause := "The docker context “" + name + "” cannot be read."
		if errors.Is(err, fs.ErrNotExist) {
			cause = "The docker context “" + name + "” does not exist."
		}
		return candidate{}, false, core.Fail(core.CodeNoEngine, err, cause,
			"Choose another with “docker context use default”, or unset DOCKER_CONTEXT.")
	}
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return candidate{}, false, core.Fail(core.CodeNoEngine, err,
			"The docker context “"+name+"” is damaged.", "Choose another with “docker context use default”.")
	}
	ep := meta.Endpoints["docker"]
	if ep.Host == "" {
		return candidate{}, false, core.Fail(core.CodeNoEngine, nil,
			"The docker context “"+name+"” names no engine.", "Choose another with “docker context use default”.")
	}
	c = candidate{host: ep.Host, source: source + " “" + name + "”", chosen: true}
	tlsDir := filepath.Join(dir, "contexts", "tls", id, "docker")
	if e.exists(tlsDir) || ep.SkipTLSVerify {
		c.tls = e.tlsFrom(tlsDir, ep.SkipTLSVerify)
	}
	return c, true, nil
}
