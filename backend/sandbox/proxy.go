package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"loop/backend/core"
)

var (
	proxyNames   = []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
	noProxyNames = []string{"NO_PROXY", "no_proxy"}
	barePort     = regexp.MustCompile(`^:[0-9]{1,5}$`)
	// proxyAddress cuts any text into scheme and user, host and port, or a host that is
	// an address of IPv6 without brackets, and what comes after.
	proxyAddress = regexp.MustCompile(`(?s)^((?:.*?://)?(?:[^/?#]*@)?)(?:(\[[^/?#]*\]|[^:/?#]*)(:[^:/?#\]]*)?|([^/?#]*))([/?#].*)?$`)
)

const (
	// hostAlias is this computer, as containers name it.
	hostAlias = "host.docker.internal"
	// maxProxy bounds an address, and maxNoProxy a list, that comes from outside.
	maxProxy   = 4096
	maxNoProxy = 32768
)

// noProxyAlways must never pass through a proxy: the relay, this computer, and
// the networks that engines put containers on, siblings included.
var noProxyAlways = []string{hostAlias, "localhost", "127.0.0.1", "::1", "172.16.0.0/12"}

// Unproxied is what containers never pass to a proxy.
func Unproxied() []string { return slices.Clone(noProxyAlways) }

// proxies takes the settings' proxies, else this computer's, in both letter cases:
// programs disagree about which one they read. Those with a login are marked Secret.
func (l *lanes) proxies(m Settings, host Host) {
	found := false
	for _, kind := range []struct {
		upper, lower string
		configured   Setting[string]
	}{{"HTTP_PROXY", "http_proxy", m.HTTPProxy}, {"HTTPS_PROXY", "https_proxy", m.HTTPSProxy}} {
		upper, lower, lane, from := kind.configured.Value, kind.configured.Value, LaneOperator, kind.configured.From
		if upper == "" {
			lane, from = LaneInherited, fromHost
			upper = cmp.Or(host.Env[kind.upper], host.Env[kind.lower])
			lower = cmp.Or(host.Env[kind.lower], upper)
		}
		for _, v := range []core.EnvVar{{Name: kind.upper, Value: upper, Lane: lane}, {Name: kind.lower, Value: lower, Lane: lane}} {
			if v.Value == "" {
				continue
			}
			address, moved, err := containerProxy(v.Value)
			if err != nil {
				// The value may hold a password, so it is not shown.
				l.note("The proxy %s (%s) was left out: %v.", v.Name, from, err)
				continue
			}
			if moved && host.OS == "linux" {
				l.note("A proxy on this computer's own address is reached from containers as %s; "+
					"it has to listen there too, not on 127.0.0.1 alone.", hostAlias)
			}
			v.Value, v.Secret = address, strings.Contains(address, "@")
			l.set(v, from)
			found = true
		}
	}
	if !found {
		return
	}
	list, from := noProxy(m, host)
	lane := LaneInherited
	if from != fromHost {
		lane = LaneOperator
	}
	for _, name := range noProxyNames {
		l.set(core.EnvVar{Name: name, Value: list, Lane: lane}, from)
	}
}

// containerProxy is a proxy's address as a container reaches it; moved says
// that it named this computer. It may lack a scheme, as many programs allow.
func containerProxy(value string) (address string, moved bool, err error) {
	value = strings.TrimSpace(value)
	if err := plainText(value); err != nil {
		return "", false, err
	}
	if len(value) > maxProxy || strings.ContainsAny(value, " \t") {
		return "", false, errors.New("it is not the address of a proxy")
	}
	if barePort.MatchString(value) {
		return "http://" + hostAlias + value, true, nil
	}
	parts := proxyAddress.FindStringSubmatch(value)
	before, name, port, tail := parts[1], parts[2]+parts[4], parts[3], parts[5]
	if name == "" && port == "" {
		return "", false, errors.New("it is not the address of a proxy")
	}
	if moved = name == "" || core.Loopback(name); moved {
		name = hostAlias
	}
	return before + name + port + tail, moved, nil
}

// noProxy is the list for both letter cases: this computer's, then the
// settings', then what must be on it.
func noProxy(m Settings, host Host) (list string, from core.SettingsOrigin) {
	from = fromHost
	var out []string
	left := maxNoProxy - len(strings.Join(noProxyAlways, ",")) // nothing crowds them out
	add := func(list string) {
		for item := range strings.SplitSeq(list, ",") {
			item = strings.TrimSpace(item)
			if item == "" || plainText(item) != nil || slices.Contains(out, item) || len(item) >= left {
				continue
			}
			left -= len(item) + 1
			out = append(out, item)
		}
	}
	for _, name := range noProxyNames {
		if v := host.Env[name]; len(v) <= maxNoProxy {
			add(v)
		}
	}
	for _, e := range m.NoProxy {
		add(e.Value)
		from = e.From
	}
	for _, must := range noProxyAlways {
		if !slices.Contains(out, must) {
			out = append(out, must)
		}
	}
	return strings.Join(out, ","), from
}

// DockerConfig is the configuration file of the Docker CLI that tells builds
// and containers of the agent's own about the proxies; nil when there is none,
// or when the settings bring a file or a folder of their own. It may hold a
// login, so it travels with the spawn request.
func DockerConfig(m Settings, host Host) ([]byte, error) {
	if m.Network.Value == "none" || m.ownDockerConfig(host) {
		return nil, nil
	}
	l := lanes{vars: map[string]core.EnvVar{}, from: map[string]core.SettingsOrigin{}}
	l.proxies(m, host)
	p := map[string]string{}
	for name, field := range map[string]string{"HTTP_PROXY": "httpProxy", "HTTPS_PROXY": "httpsProxy", "NO_PROXY": "noProxy"} {
		if v := l.vars[name].Value; v != "" {
			p[field] = v
		}
	}
	if len(p) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"proxies": map[string]any{"default": p}})
}

// ownDockerConfig says that the settings decide about ~/.docker themselves.
func (m Settings) ownDockerConfig(host Host) bool {
	if _, set := m.Envs["DOCKER_CONFIG"]; set {
		return true
	}
	home := ContainerPath(host.OS, host.Home)
	dir := home + "/.docker"
	for _, e := range m.Mounts {
		if t, err := ParseMount(e.Value, host, host.Home); err == nil && inside(dir, t.Target) {
			return true
		}
	}
	return slices.ContainsFunc(m.CopyFiles, func(e Setting[string]) bool {
		p, err := expandHost(e.Value, host, "")
		return err == nil && inside(dir, ContainerPath(host.OS, p))
	})
}
