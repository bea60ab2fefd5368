package config

import (
	"net/url"
	"strings"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// TransportTCP is the value of guest_transport for callbacks over TCP.
const TransportTCP = "tcp"

// Container lists the settings that make a container, each with its origin.
func (e Effective) Container() sandbox.Settings {
	c, s := e.Config, sandbox.Settings{}
	s.Layout = made(e, "workspace_layout", c.WorkspaceLayout)
	s.Access = made(e, "workspace_access", c.WorkspaceAccess)
	if s.Access.Value == "" {
		s.Access = sandbox.Setting[string]{Value: sandbox.DefaultAccess(s.Layout.Value), From: core.SettingsOrigin{Layer: core.LayerBuiltin}}
	}
	e.agentContainer(&s)
	s.Scope = made(e, "container_scope", c.ContainerScope)
	life := c.ContainerLife()
	s.Idle, s.MaxAge = made(e, "container_idle_hours", life.Idle), made(e, "container_max_age_days", life.Age)
	s.Image = made(e, "container_image", c.ContainerImage)
	s.MemoryMB = made(e, "container_memory_mb", c.ContainerMemoryMB)
	s.CPUs = made(e, "container_cpus", c.ContainerCPUs)
	s.Pids = made(e, "container_pids", int64(c.ContainerPids))
	s.Network = made(e, "container_network", c.ContainerNetwork)
	s.Mounts = e.list("mounts", c.Mounts)
	s.ExtraDirs = e.list("extra_dirs", c.ExtraDirs)
	s.CopyFiles = e.list("copy_files", c.CopyFiles)
	s.HTTPProxy = made(e, "proxies.http_proxy", strings.TrimSpace(c.Proxies.HTTPProxy))
	s.HTTPSProxy = made(e, "proxies.https_proxy", strings.TrimSpace(c.Proxies.HTTPSProxy))
	if u, err := url.Parse(c.APIAdvertiseURL); err == nil && c.GuestTransport == TransportTCP && u.Hostname() != "" {
		// Containers call Loop at this host; a proxy is not to stand between them.
		s.NoProxy = append(s.NoProxy, made(e, "api_advertise_url", u.Hostname()))
	}
	s.NoProxy = append(s.NoProxy, e.list("proxies.no_proxy", c.Proxies.NoProxy)...)
	s.Inherit = e.list("inherit_envs", c.InheritEnvs)
	s.Envs = map[string]sandbox.Setting[any]{}
	s.Gate = made(e, "gates.agentgate.enabled", c.Gates.AgentGate.Enabled)
	for name, v := range c.Envs {
		if v != nil { // null removes one
			s.Envs[name] = made(e, "envs."+name, v)
		}
	}
	return s
}

// BrowserContainer lists the settings that make the container of a browser, each with its origin.
func (e Effective) BrowserContainer() sandbox.BrowserSettings {
	b := e.Config.Browser
	return sandbox.BrowserSettings{
		MemoryMB: made(e, "browser.memory_mb", b.MemoryMB), CPUs: made(e, "browser.cpus", b.CPUs),
	}
}

func made[T any](e Effective, name string, v T) sandbox.Setting[T] {
	return sandbox.Setting[T]{Value: v, From: e.origin(name)}
}

func (e Effective) list(field string, texts []string) (out []sandbox.Setting[string]) {
	for _, text := range texts {
		key := text
		if field == "mounts" {
			key = MountTarget(text)
		}
		out = append(out, made(e, field+"["+key+"]", text))
	}
	return out
}
