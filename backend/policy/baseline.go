package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of the baseline's policies.
const (
	NameAgent  = "agent"  // runs, and agents in a pane
	NamePerson = "person" // a plain shell that the person opened
	NameSystem = "system" // git and set-up that Loop starts by itself
	NamePlan   = "plan"   // a run that may change nothing
)

// Ids of rules that something else goes by.
const (
	ruleGitConfig   = "startup.git-config"
	ruleGitHome     = "startup.git-home"
	ruleAgent       = "startup.agent"
	ruleAgentConfig = "startup.agent-config"
)

// Place is what the baseline has to know of a container. Paths are absolute and as the
// kernel resolves them in the container: no symbolic link is on the way.
type Place struct {
	Home             string   // the agent's; may be empty
	Workspaces       []string // the project's folders that can be written
	Mounts           []string // what else of the person's can be written: other folders, files and volumes
	State            []string // folders that keep state, e.g. CLAUDE_CONFIG_DIR
	RunDir           string   // the spawn's own below /run/loop/runs; may be empty
	CredentialGrants []string // files and folders that the person let the agent read
}

var (
	mutations = []Operation{Write, Create, Delete, Chmod, Chown, Link}
	// texts is for files that are read and never run as programs: their mode makes no
	// difference, and what writes one often sets it.
	texts    = []Operation{Write, Create, Delete, Chown, Link}
	changes  = []Operation{Write, Link} // of what is there already
	contents = []Operation{Write, Create, Delete, Chmod}
	access   = []Operation{Read, Write, Create, Delete, Chmod, Chown, Link}
)

// Baseline is the policy that Loop ships under a name, for a place. An error is a
// place that no rule can be written for, or a name that nobody knows: then nothing may
// start.
func Baseline(name string, p Place) (Policy, error) {
	p, err := p.clean()
	if err != nil {
		return Policy{}, fmt.Errorf("place of the baseline: %w", err)
	}
	b := baseline{Place: p, homes: p.homes(), claude: p.claudeDirs(), ask: Approve}
	b.policy = Policy{Name: name, DefaultDecision: Allow}
	b.own()
	b.escape()
	switch name {
	case NameAgent:
		b.credentials(Deny)
		b.startup()
		b.sockets(Deny)
		b.removal()
		b.policy.SiteRules = []SiteRule{newSite(Approve)}
	case NamePerson:
		b.credentials(Approve)
		b.sockets(Approve)
	case NameSystem:
		// What git runs there is the repository's: its hooks and filters.
		b.ask = Deny
		b.credentials(Deny)
		b.startup()
		b.sockets(Deny)
		b.policy.SiteRules = []SiteRule{newSite(Deny)}
	case NamePlan:
		b.ask = Deny
		b.credentials(Deny)
		b.startup()
		b.plan()
		b.sockets(Deny)
		b.removal()
		b.policy.SiteRules = []SiteRule{newSite(Approve)}
	default:
		return Policy{}, fmt.Errorf("nobody knows the policy %q", name)
	}
	return b.policy, nil
}

// clean refuses what cannot stand in a pattern or would cover everything.
func (p Place) clean() (Place, error) {
	one := func(what, dir string) (string, error) {
		clean := path.Clean(dir)
		switch {
		case !path.IsAbs(dir) || !utf8.ValidString(dir) || strings.ContainsRune(dir, 0):
			return "", fmt.Errorf("%s %q is not an absolute path", what, dir)
		case clean == "/":
			return "", errors.New(what + " is the root of the file system")
		case slices.Contains(strings.Split(dir, "/"), ".."):
			return "", fmt.Errorf("%s %q is not resolved", what, dir)
		}
		return clean, nil
	}
	var err error
	for what, at := range map[string]*string{"the home": &p.Home, "the run's folder": &p.RunDir} {
		if *at == "" {
			continue
		}
		if *at, err = one(what, *at); err != nil {
			return p, err
		}
	}
	for what, list := range map[string]*[]string{
		"a workspace": &p.Workspaces, "a mount": &p.Mounts, "a state folder": &p.State, "a granted path": &p.CredentialGrants,
	} {
		all := make([]string, 0, len(*list))
		for _, dir := range *list {
			if dir, err = one(what, dir); err != nil {
				return p, err
			}
			all = append(all, dir)
		}
		*list = all
	}
	if p.RunDir != "" && !strings.HasPrefix(p.RunDir, "/run/loop/runs/") {
		return p, fmt.Errorf("the run's folder %q is not below /run/loop/runs", p.RunDir)
	}
	return p, nil
}

// homes are patterns for the folders in which start-up files and keys lie. An image
// may have users that Loop did not make, and programs that think of them. Folders of
// the computer are mounted under their own names, which on a Mac and on Windows are
// others.
func (p Place) homes() []string {
	homes := []string{"/root", "/home/*", "/Users/*", "/[a-z]/Users/*"}
	if p.Home != "" && p.Home != "/root" && path.Dir(p.Home) != "/home" && path.Dir(p.Home) != "/Users" {
		homes = append(homes, Quote(p.Home))
	}
	return homes
}

// claudeDirs are patterns for the folders of the agent CLI.
func (p Place) claudeDirs() []string {
	var dirs []string
	for _, state := range p.State {
		if path.Base(state) == ".claude" {
			dirs = append(dirs, Quote(state))
		}
	}
	return append(dirs, below(p.homes(), ".claude")...)
}

// below is every name under every folder; both are patterns.
func below(dirs []string, names ...string) []string {
	all := make([]string, 0, len(dirs)*len(names))
	for _, dir := range dirs {
		for _, name := range names {
			all = append(all, dir+"/"+name)
		}
	}
	return all
}

// quoted are the patterns for the paths themselves.
func quoted(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, p := range paths {
		all = append(all, Quote(p))
	}
	return all
}

// baseline is a policy in the making.
type baseline struct {
	Place
	homes  []string
	claude []string
	ask    Decision // what is said of things that run later
	policy Policy
}

// says is what a rule says: what is guarded and why, for everybody, and what the agent
// can do instead.
type says struct{ message, advice string }

// file adds a rule, unless there is nothing for it to match.
func (b *baseline) file(id string, c Category, d Decision, ops []Operation, s says, patterns ...string) {
	if len(patterns) == 0 {
		return // an empty list would match everything
	}
	b.policy.FileRules = append(b.policy.FileRules, FileRule{
		ID: id, Paths: patterns, Operations: ops, Decision: d, Message: s.message, Advice: s.advice, Category: c,
	})
}

// own are the rules that keep the gate out of the agent's reach.
func (b *baseline) own() {
	if b.RunDir != "" {
		b.file("gate.run", GateOwn, Allow, access, says{}, Quote(b.RunDir)+"/**")
	}
	b.file("gate.private", GateOwn, Deny, access,
		says{"These are the private files of Loop's own supervisor. No program in the container needs them.", ""},
		"/run/loop/private/**", "/var/log/loop-gate/**")
	b.file("gate.files", GateOwn, Deny, mutations,
		says{"Loop's own files say what is allowed here, so nothing in the container may change them.",
			"Ask the person to change the settings of Loop."},
		"/run/loop/**", "/opt/loop/bin/**", "/etc/loop/**")
	b.policy.PathRules = append(b.policy.PathRules, PathRule{
		ID: "gate.socket", Pattern: "/run/loop/**", Decision: Deny, Category: GateOwn,
		Message: "Loop's own sockets are for Loop alone.", Advice: "Use the tools that Loop offers over MCP.",
	})
}

func (b *baseline) escape() {
	b.file("escape.memory", Escape, Deny, access,
		says{"This file is the memory of a process or of the computer.",
			"A debugger works only where the person's settings have gates.agentgate.debuggers, and without this file."},
		"/proc/*/mem", "/proc/*/task/*/mem", "/proc/kcore", "/proc/kmem", "/dev/mem", "/dev/kmem", "/dev/port")
	b.file("escape.kernel", Escape, Deny, mutations,
		says{"This changes the settings of the kernel that all containers and the computer share.",
			"Ask the person to change them on the computer."},
		"/proc/sys/**", "/proc/sysrq-trigger", "/sys/**")
	b.file("escape.disk", Escape, Deny, access,
		says{"This is a disk of the computer itself.", "Work with the files that are mounted here."},
		"/dev/{sd,hd,vd,xvd,nvme,mmcblk,dm-,loop,md,sr}[a-z0-9]*", "/dev/mapper/**", "/dev/disk/**", "/dev/block/**")
}

// sockets adds the rules for daemons whose socket is as good as the computer itself.
func (b *baseline) sockets(d Decision) {
	const (
		message = "Behind this socket is a daemon of the computer itself, which would run anything outside the container."
		advice  = "Use the container's own /var/run/docker.sock where there is one, or ask the person."
	)
	patterns := []string{
		"{/var,}/run/docker.sock.host",
		"{/var,}/run/{host-services,guest-services,containerd,podman,crio,libvirt,systemd,desktop}/**",
		"{/var,}/run/user/*/{docker.sock,podman/**,bus,systemd/**}",
		"{/var,}/run/dbus/system_bus_socket",
		"/host_mnt/**",
	}
	patterns = append(patterns, below(b.homes, "{.docker/run/docker.sock,.docker/desktop/**,.colima/**,.rd/docker.sock,.orbstack/run/**}")...)
	for _, pattern := range patterns {
		for _, one := range absolute(pattern) {
			b.policy.PathRules = append(b.policy.PathRules, PathRule{
				ID: "socket.host", Pattern: one, Decision: d, Message: message, Advice: advice, Category: Socket,
			})
		}
	}
}

// absolute writes out “{/var,}” at the beginning, as a pattern begins with a slash.
func absolute(pattern string) []string {
	if rest, is := strings.CutPrefix(pattern, "{/var,}"); is {
		return []string{"/var" + rest, rest}
	}
	return []string{pattern}
}
