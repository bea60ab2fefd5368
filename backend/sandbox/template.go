package sandbox

import (
	"errors"
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
)

var (
	tmpfsOption = regexp.MustCompile(`^(size=[0-9]{1,12}[kmg]?|mode=[0-7]{3,4}|exec|noexec|nosuid|nodev|rw)$`)
	hostName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$`)
)

// tmpfsBase are options that every further folder in memory has.
const tmpfsBase = "nosuid,nodev"

// ParseTmpfs reads /path or /path:option,option. Pages in it count against the memory limit.
func ParseTmpfs(text string) (core.Tmpfs, error) {
	target, options, _ := strings.Cut(text, ":")
	if plainText(target) != nil || !path.IsAbs(target) || path.Clean(target) != target {
		return core.Tmpfs{}, errors.New("its path is not absolute and clean")
	}
	out := core.Tmpfs{Target: target, Options: tmpfsBase}
	for o := range strings.SplitSeq(options, ",") {
		switch {
		case o == "" || o == "rw" || o == "nosuid" || o == "nodev":
		case !tmpfsOption.MatchString(o):
			return core.Tmpfs{}, fmt.Errorf("the option %q is none that a folder in memory may have", o)
		default:
			out.Options += "," + o
		}
	}
	return out, nil
}

// ParseExtraHost checks name:address.
func ParseExtraHost(text string) error {
	name, address, ok := strings.Cut(text, ":")
	address = strings.Trim(address, "[]")
	if !ok || !hostName.MatchString(name) || net.ParseIP(address) == nil {
		return errors.New("it is not a name and an address")
	}
	if strings.EqualFold(name, "host.docker.internal") {
		return errors.New("host.docker.internal is Loop's")
	}
	return nil
}

// moreTmpfs adds the folders in memory of the settings.
func (p *plan) moreTmpfs(m Settings, standing []core.Tmpfs) []core.Tmpfs {
	out := standing
	for _, e := range m.Tmpfs {
		t, err := ParseTmpfs(e.Value)
		reason := ""
		switch {
		case err != nil:
			reason = "Refused: " + err.Error() + "."
		case slices.ContainsFunc(standing, func(o core.Tmpfs) bool { return o.Target == t.Target }):
			continue // Loop's own, with bounds that fit the memory limit
		case p.taken(t.Target) != nil:
			reason = "A mount has its path inside the container."
		default:
			if why := checkTarget(t.Target, p.home); why != "" {
				reason = "Refused: " + why + "."
			}
		}
		if reason != "" {
			p.skip("tmpfs "+e.Value, reason)
			continue
		}
		out = append(out, t)
		p.ex.set("tmpfs["+t.Target+"]", t.Options, e.From)
	}
	return out
}

// agentUserOf is the agent's user. Settings may choose other numbers, but not those of
// root for a person who is not: what such an agent writes into a folder of the host would
// be root's there, programs with root's rights among them.
func agentUserOf(m Settings, host Host, home string) (core.AgentUser, error) {
	u := host.agentUser(home)
	if m.User.Value == "" {
		return u, nil
	}
	uid, gid, two := strings.Cut(m.User.Value, ":")
	id, err := strconv.Atoi(uid)
	group := id
	if two && err == nil {
		group, err = strconv.Atoi(gid)
	}
	field := "The agent's user (" + m.User.From.String() + ")"
	switch {
	case err != nil || id < 0 || group < 0:
		return u, core.Fail(core.CodeInvalid, err, field+" is not a number.", "Write it like 1000:1000.")
	case (id == 0 || group == 0) && u.UID != 0:
		return u, core.Fail(core.CodeInvalid, nil, field+" is root. What it writes into your folders would be root's on this computer.",
			"Leave “user” out; “setupCommand” runs as root all the same.")
	}
	return core.AgentUser{Name: agentName(host.User, id), UID: id, GID: group, Home: home}, nil
}

// outside says why a mount of an agent's template may not come from where it does, or "".
// Both the path as it is written and the one that its links lead to have to lie in a root.
func (p *plan) outside(m Settings, source string, from core.SettingsOrigin) string {
	if from.Layer != core.LayerAgents && from.Layer != core.LayerAgent || m.AnyBinds.Value {
		return ""
	}
	s := p.host.style()
	roots := slices.Clone(p.roots)
	for _, r := range m.BindRoots {
		if dir, err := expandHost(r.Value, p.host, ""); err == nil && !s.isRoot(dir) {
			roots = append(roots, dir)
		}
	}
	in := func(path string, of func(string) string) bool {
		return slices.ContainsFunc(roots, func(r string) bool { return s.within(of(r), path) })
	}
	if in(source, func(r string) string { return r }) && in(p.host.resolved(source), p.host.resolved) {
		return ""
	}
	return "Refused: it lies outside the folders that the agent works in and those of “allowedBindSources”; " +
		"add its folder there, or name it in “mounts”."
}
