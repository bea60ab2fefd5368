package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// setupCaps are further capabilities of a container with a set-up: package managers change
// the modes of files that they have given away. loop init leaves them when it leaves uid 0.
var setupCaps = []string{"FOWNER", "FSETID"}

// setupFolder is the state folder with one folder for each container that is set up.
const setupFolder = "setup"

// setupName is the name of such a folder: of a scope's container, or of one that serves once.
var setupName = regexp.MustCompile(`^(scope|once)-[0-9a-f]{6,16}$`)

// setupNetworks are those that a set-up may have instead of the container's own.
var setupNetworks = []string{"bridge", "none"}

// setupOf is the set-up of a container that people and agents work in. It has the network
// “bridge” where the container has none, unless the settings say otherwise: both are the
// person's own words.
func setupOf(m Settings, sub Subject, sc scope, host Host) (s core.ContainerSetup, err error) {
	if m.Setup.Value == "" || !sub.Shared {
		return s, nil
	}
	bad := func(cause, remedy string) (core.ContainerSetup, error) {
		return core.ContainerSetup{}, core.Fail(core.CodeInvalid, nil, cause, remedy)
	}
	field := "“setupCommand” (" + m.Setup.From.String() + ")"
	uid, _, _ := strings.Cut(m.User.Value, ":")
	switch {
	case len(m.Setup.Value) > wire.MaxSetupCommand:
		return bad(field+" is longer than 64 KiB.", "Put what it does into an image, or into a script that it fetches.")
	case m.WritableRoot.From != (core.SettingsOrigin{}) && !m.WritableRoot.Value:
		return bad(field+" cannot install anything, because “readOnlyRoot” ("+m.WritableRoot.From.String()+") is true.",
			"Leave “readOnlyRoot” out or set it to false, or put what “setupCommand” does into an image.")
	case uid != "" && uid != "0":
		return bad(field+" runs as root, and “user” ("+m.User.From.String()+") is another.",
			"Leave “user” out: agents are you all the same. Or put what “setupCommand” does into an image.")
	case m.SetupNetwork.Value != "" && !slices.Contains(setupNetworks, m.SetupNetwork.Value):
		return bad("“setupNetwork” ("+m.SetupNetwork.From.String()+") is neither “bridge” nor “none”.",
			"Write one of the two, or leave it out.")
	}
	s = core.ContainerSetup{Command: m.Setup.Value, Network: m.SetupNetwork.Value}
	if s.Network == "" && m.Network.Value == "none" {
		s.Network = "bridge"
	}
	if s.Network == m.Network.Value {
		s.Network = ""
	}
	name := "once-" + sub.NameSuffix
	if sc.key != "" {
		sum := sha256.Sum256([]byte(sc.key))
		name = "scope-" + hex.EncodeToString(sum[:8])
	}
	s.Dir = host.style().join(stateDir(host.style(), host.LoopHome, sc.owner, setupFolder), name)
	return s, nil
}

// markSetup has loop init look for the command of a set-up. Only the host can put one where it
// looks then.
func markSetup(spec *core.Spec, ex *explainer) {
	v := core.EnvVar{Name: wire.SetupMark, Value: "1", Lane: LaneApp}
	spec.Env = append(spec.Env, v)
	slices.SortFunc(spec.Env, func(a, b core.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	ex.set("env["+v.Name+"]", v.Value, fromBuiltin)
}

// setUp has a spec be set up. Package managers add users, and so passwd and group are the
// image's own there, to which loop init adds before the command.
func setUp(spec *core.Spec, s core.ContainerSetup) {
	spec.Setup, spec.ReadOnlyRoot = s, false
	spec.Mounts = slices.DeleteFunc(spec.Mounts, func(m core.Mount) bool { return m.Kind == core.MountSystem && path.Dir(m.Target) == "/etc" })
	spec.CapAdd = append(spec.CapAdd, setupCaps...)
	spec.Mounts = append(spec.Mounts, core.Mount{Kind: core.MountSystem, Source: s.Dir, Target: wire.SetupDir, ReadOnly: true})
}

func explainSetup(ex *explainer, s core.ContainerSetup, m Settings) {
	ex.set("mounts["+wire.SetupDir+"]", s.Dir+" (ro)", fromBuiltin)
	ex.set("setup.command", core.CleanTitle(s.Command), m.Setup.From)
	ex.set("setup.network", cmp.Or(s.Network, m.Network.Value), cmp.Or(m.SetupNetwork.From, m.Setup.From))
}

// setup checks what the set-up of a container may be.
func (c *checker) setup() {
	sp := c.spec
	marked := slices.ContainsFunc(sp.Env, func(e core.EnvVar) bool { return e.Name == wire.SetupMark })
	c.must(marked == (sp.Setup != core.ContainerSetup{}), "loop init looks for a set-up: %v", marked)
	s, mounted := sp.Setup, slices.ContainsFunc(sp.Mounts, func(m core.Mount) bool { return m.Target == wire.SetupDir })
	if s == (core.ContainerSetup{}) {
		c.must(!mounted, "the folder of a set-up is mounted, and there is none")
		return
	}
	c.must(mounted, "the folder of the set-up is not mounted")
	c.must(s.Command != "" && len(s.Command) <= wire.MaxSetupCommand && !strings.ContainsRune(s.Command, 0),
		"the command of the set-up is not valid")
	c.must(s.Network == "" || slices.Contains(setupNetworks, s.Network) && s.Network != sp.Network, "the set-up has the network %q", s.Network)
	c.must(!sp.ReadOnlyRoot, "a container with a read-only root is to be set up")
	c.must(sp.Type != core.TypeChrome, "a browser is to be set up")
	own := stateDir(c.s, c.host.LoopHome, sp.ChannelID, setupFolder)
	name, in := c.s.rel(own, s.Dir)
	c.must(in && setupName.MatchString(name) && path.Base(name) == name, "the folder of the set-up %q is not this channel's", s.Dir)
	c.must(c.s.same(c.host.resolved(s.Dir), c.s.join(c.host.resolved(c.host.LoopHome), "channels", string(sp.ChannelID), setupFolder, name)),
		"the folder of the set-up %q is a link", s.Dir)
}
