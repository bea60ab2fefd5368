package daemon

import (
	"net/url"
	"strings"

	"loop/backend/config"
	"loop/backend/sandbox"
)

// layersOf gives the resolver the settings in force, each under the layer whose
// file it stands in, so that an explanation names the right one. The values are
// those that config merged: what a project's file says without approval is not
// among them, and the rules of merging are in one place.
func layersOf(e config.Effective) []sandbox.Layer {
	names := []string{config.LayerGlobal, config.LayerProject, config.LayerWorktree}
	by := map[string]*sandbox.Layer{}
	for _, n := range names {
		by[n] = &sandbox.Layer{Name: sandbox.LayerName(n)}
	}
	// of is the layer that a field is from; nil for what is only a default, which
	// is the resolver's own. Without origins everything is the global file's.
	of := func(field string) *sandbox.Layer {
		if e.Origins == nil {
			return by[config.LayerGlobal]
		}
		return by[e.Origins[field].Layer]
	}
	c := e.Config
	if l := of("container_image"); l != nil {
		l.Image = &c.ContainerImage
	}
	if l := of("container_memory_mb"); l != nil {
		l.MemoryMB = &c.ContainerMemoryMB
	}
	if l := of("container_cpus"); l != nil {
		l.CPUs = &c.ContainerCPUs
	}
	if l := of("container_pids"); l != nil {
		l.Pids = new(int64(c.ContainerPids))
	}
	if l := of("container_network"); l != nil {
		l.Network = &c.ContainerNetwork
	}
	if l := of("extra_dirs"); l != nil && c.ExtraDirs != nil {
		l.ExtraDirs = c.ExtraDirs
	}
	if l := of("copy_files"); l != nil && c.CopyFiles != nil {
		l.CopyFiles = c.CopyFiles
	}
	for _, m := range c.Mounts {
		l := of("mounts[" + config.MountTarget(m) + "]")
		if l == nil {
			l = by[config.LayerGlobal]
		}
		l.Mounts = append(l.Mounts, m)
	}
	for name, value := range c.Envs {
		l := of("envs." + name)
		if l == nil {
			l = by[config.LayerGlobal]
		}
		if l.Envs == nil {
			l.Envs = map[string]any{}
		}
		l.Envs[name] = value
	}
	proxies(c.Proxies, of)
	for _, name := range c.InheritEnvs {
		if l := of("inherit_envs[" + name + "]"); l != nil {
			l.Inherit = append(l.Inherit, name)
		}
	}
	if host := advertised(c); host != "" {
		l := by[config.LayerGlobal]
		if l.Proxies == nil {
			l.Proxies = &sandbox.Proxies{}
		}
		l.Proxies.NoProxy = append(l.Proxies.NoProxy, host)
	}
	out := make([]sandbox.Layer, 0, len(names))
	for _, n := range names {
		out = append(out, *by[n])
	}
	return out
}

// advertised is the host at which containers call Loop over TCP; a proxy is not
// to stand between them.
func advertised(c config.Config) string {
	if c.GuestTransport != transportTCP {
		return ""
	}
	u, err := url.Parse(c.APIAdvertiseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func proxies(p config.Proxies, of func(string) *sandbox.Layer) {
	in := func(field string) *sandbox.Proxies {
		l := of(field)
		if l == nil {
			return &sandbox.Proxies{} // a default says nothing
		}
		if l.Proxies == nil {
			l.Proxies = &sandbox.Proxies{}
		}
		return l.Proxies
	}
	if strings.TrimSpace(p.HTTPProxy) != "" {
		in("proxies.http_proxy").HTTP = p.HTTPProxy
	}
	if strings.TrimSpace(p.HTTPSProxy) != "" {
		in("proxies.https_proxy").HTTPS = p.HTTPSProxy
	}
	for _, name := range p.NoProxy {
		in := in("proxies.no_proxy[" + name + "]")
		in.NoProxy = append(in.NoProxy, name)
	}
}
