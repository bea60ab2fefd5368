package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/sandbox"
)

// Modes: which channels of an agent have a container. Those that have none run on this
// computer itself.
const (
	ModeOff     = "off"      // none
	ModeNonMain = "non-main" // all but the main ones, which are those of projects themselves
	ModeAll     = "all"
)

// OnHost reports whether the runs of a channel of the agent are to be on this computer
// itself. Only the person's own file says so.
func (e Effective) OnHost(main bool) bool {
	switch e.Template.Sandbox.Mode {
	case ModeOff:
		return true
	case ModeNonMain:
		return main
	}
	return false
}

// chosen has the person's choices for the channel alone count.
func (e *Effective) chosen(c core.ChannelChoices) {
	from := core.SettingsOrigin{Layer: core.LayerChannel}
	if c.Model != "" {
		e.Config.ClaudeModel, e.Origins["claude_model"] = c.Model, from
	}
	if c.Effort != "" {
		e.Config.ClaudeEffort, e.Origins["claude_effort"] = c.Effort, from
	}
	// A project that says none holds against a grant for the channel.
	if c.ClaudeSetup != "" && (c.ClaudeSetup == SetupNone || !e.projectSays("claude_setup")) {
		e.Config.ClaudeSetup, e.Origins["claude_setup"] = c.ClaudeSetup, from
	}
	e.Config.ExtraDirs = slices.Clone(e.Config.ExtraDirs)
	for _, dir := range c.ExtraDirs {
		if !slices.Contains(e.Config.ExtraDirs, dir) {
			e.Config.ExtraDirs, e.Origins["extra_dirs["+dir+"]"] = append(e.Config.ExtraDirs, dir), from
		}
	}
}

// Grants of the person's own Claude set-up.
const (
	SetupNone = "none"
	SetupRead = "read"
)

func (e *Effective) projectSays(field string) bool {
	return slices.ContainsFunc(e.Layers[1:], func(l Layer) bool { return l.Has(field) })
}

// ownContainer has a channel whose project says something of its container have one of its
// own, where all channels would share one: what one project says is not to be the others'.
// The same holds for one with further folders, wherever channels share, and for one with a
// word of its own on the Claude set-up, which lies in the state that all share.
func (e *Effective) ownContainer(chosen core.ChannelChoices) {
	all := e.Config.ContainerScope == sandbox.ScopeShared
	wide := all || e.Config.ContainerScope == sandbox.ScopeAgent
	scope := leaves()[slices.IndexFunc(leaves(), func(f Field) bool { return f.Name == "container_scope" })]
	if wide && len(chosen.ExtraDirs) > 0 || all && chosen.ClaudeSetup != "" {
		e.overrides(scope, &e.Config, &e.Config, e.Origins[scope.Name])
		e.Config.ContainerScope, e.Origins["container_scope"] = sandbox.ScopeSession, core.SettingsOrigin{Layer: core.LayerChannel}
	}
	if e.Config.ContainerScope != sandbox.ScopeShared {
		return
	}
	apart := func(from core.SettingsOrigin, path, says string) {
		e.overrides(scope, &e.Config, &e.Config, e.Origins[scope.Name])
		e.Config.ContainerScope, e.Origins["container_scope"] = sandbox.ScopeSession, from
		e.Notices = append(e.Notices, fmt.Sprintf(
			"The container that all channels share does not serve this one: %s says %s. It has one of its own.", path, says))
	}
	for _, l := range e.Layers[1:] {
		for _, f := range leaves() {
			if l.Has(f.Name) && ofContainer(f.Name) {
				apart(e.Origins[f.Name], l.Path, f.Name)
				return
			}
		}
	}
	if e.Child != nil {
		apart(core.SettingsOrigin{Layer: e.Child.Layer, Path: e.Child.Path}, e.Child.Path, "another image")
	}
}

// ofContainer reports whether a setting makes a container, or what programs in it may do.
func ofContainer(name string) bool {
	if strings.HasPrefix(name, "container_") {
		return !slices.Contains([]string{"container_timeout_sec", "container_keep_alive_sec", "container_scope"}, name)
	}
	return strings.HasPrefix(name, "proxies.") || slices.Contains([]string{
		"inherit_mounts", "mounts", "copy_files", "extra_dirs", "envs", "inherit_envs", CredentialOAuth, CredentialAPIKey, "anthropic_base_url",
		"claude_setup",
	}, name)
}

// agentContainer adds what only the settings of agents can say.
func (e Effective) agentContainer(s *sandbox.Settings) {
	d := e.Template.Sandbox.Docker
	s.Agent = e.AgentID
	if _, said := e.Origins["sandbox.docker.readOnlyRoot"]; said {
		s.WritableRoot = ofAgent(e, "docker.readOnlyRoot", !d.ReadOnlyRoot)
	}
	s.Workdir = ofAgent(e, "docker.workdir", d.Workdir)
	s.Prefix = ofAgent(e, "docker.containerPrefix", d.ContainerPrefix)
	s.User = ofAgent(e, "docker.user", d.User)
	s.Setup = ofAgent(e, "docker.setupCommand", d.SetupCommand)
	s.SetupNetwork = ofAgent(e, "docker.setupNetwork", d.SetupNetwork)
	s.GPUs = ofAgent(e, "docker.gpus", d.Gpus != "")
	s.AppArmor = ofAgent(e, "docker.apparmorProfile", d.ApparmorProfile)
	s.AnyBinds = ofAgent(e, "docker.dangerouslyAllowExternalBindSources", d.AllowExternalBinds)
	swap, _ := sizeOf(d.MemorySwap) // they were read
	s.SwapBytes = ofAgent(e, "docker.memorySwap", swap)
	limits, _ := Ulimits(d.Ulimits)
	s.Ulimits = ofAgent(e, "docker.ulimits", limits)
	for _, l := range []struct {
		name string
		said []string
		to   *[]sandbox.Setting[string]
	}{
		{"docker.tmpfs", d.Tmpfs, &s.Tmpfs}, {"docker.dns", d.DNS, &s.DNS}, {"docker.extraHosts", d.ExtraHosts, &s.ExtraHosts},
		{"docker.allowedBindSources", d.AllowedBindSources, &s.BindRoots},
	} {
		for _, text := range l.said {
			*l.to = append(*l.to, ofAgent(e, l.name, text))
		}
	}
}

func ofAgent[T any](e Effective, name string, v T) sandbox.Setting[T] {
	return sandbox.Setting[T]{Value: v, From: e.origin("sandbox." + name)}
}

// AgentNotices says, in sentences, what of an agent's settings does nothing in Loop.
func (e Effective) AgentNotices() (notices []string) {
	d := e.Template.Sandbox.Docker
	if len(d.CapDrop) > 0 && !slices.ContainsFunc(d.CapDrop, func(c string) bool { return strings.EqualFold(c, "all") }) {
		notices = append(notices, "“capDrop” names single capabilities. Loop takes every capability from agents, whatever it says.")
	}
	if d.SetupCommand == "" && d.SetupNetwork != "" {
		notices = append(notices, "“setupNetwork” does nothing without “setupCommand”.")
	}
	if d.Workdir != "" && e.Config.WorkspaceLayout != sandbox.LayoutWorkspace {
		notices = append(notices,
			"“workdir” counts in the layout “workspace” alone; in “mirror” the agent works under the folder's own path.")
	}
	return notices
}

// maxProfile bounds a profile of system calls; Docker's own has some 20 kB.
const maxProfile = 1 << 20

// Seccomp reads the profile that the agent's settings name; the zero value is the engine's.
func (e Effective) Seccomp() (s sandbox.Setting[string], err error) {
	file := e.Template.Sandbox.Docker.SeccompProfile
	if file == "" {
		return s, nil
	}
	s = ofAgent(e, "docker.seccompProfile", "")
	wrong := func(err error, why string) (sandbox.Setting[string], error) {
		return s, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The seccompProfile (%s) %s.", s.From, why),
			"Name a file with a profile in Docker's form, or leave it out for the engine's own.")
	}
	if strings.EqualFold(strings.TrimSpace(file), "unconfined") {
		return wrong(nil, "is “unconfined”, which would switch the filter of system calls off")
	}
	data, _, err := atomicfile.Read(absolute(file, filepath.Dir(s.From.Path), ""), maxProfile)
	if err != nil {
		return wrong(err, "cannot be read")
	}
	if v := jsontext.Value(data); !v.IsValid() || v.Kind() != '{' {
		return wrong(errors.New("it is not a JSON object"), "is no profile")
	}
	s.Value = string(data)
	return s, nil
}
