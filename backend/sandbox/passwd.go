package sandbox

import (
	"fmt"
	"strings"

	"loop/backend/core"
)

// shell of the generated entries; the base image has it.
const agentShell = "/bin/bash"

// PasswdFile is the text of /etc/passwd inside: the image's usual system
// users, loop init's and the agent. It is the same for every container of a
// Loop folder, and mounted read-only, so that no useradd is needed. An entry of
// the image that the agent shares a name or an id with gives way.
func PasswdFile(agent core.AgentUser) string {
	var b strings.Builder
	line := func(name string, uid, gid int, gecos, home, shell string) {
		fmt.Fprintf(&b, "%s:x:%d:%d:%s:%s:%s\n", name, uid, gid, gecos, home, shell)
	}
	if agent.UID != 0 {
		line("root", 0, 0, "root", "/root", agentShell)
	}
	line(agent.Name, agent.UID, agent.GID, "", agent.Home, agentShell)
	line(SupervisorName, SupervisorID, SupervisorID, "Loop supervisor", "/nonexistent", "/usr/sbin/nologin")
	for _, u := range []struct {
		name     string
		uid, gid int
		home     string
	}{
		{"daemon", 1, 1, "/usr/sbin"}, {"bin", 2, 2, "/bin"}, {"sys", 3, 3, "/dev"}, {"mail", 8, 8, "/var/mail"},
		{"www-data", 33, 33, "/var/www"}, {"_apt", 42, 65534, "/nonexistent"}, {"nobody", 65534, 65534, "/nonexistent"},
	} {
		if u.name != agent.Name && u.uid != agent.UID {
			line(u.name, u.uid, u.gid, u.name, u.home, "/usr/sbin/nologin")
		}
	}
	return b.String()
}

// GroupFile is the text of /etc/group that goes with PasswdFile. A group of
// Debian's with the agent's gid keeps its name (gid 20 is staff on a Mac and
// dialout here); otherwise the agent's group is called like the agent.
func GroupFile(agent core.AgentUser) string {
	var b strings.Builder
	known := false
	groups := []struct {
		name string
		gid  int
	}{
		{"root", 0}, {"daemon", 1}, {"bin", 2}, {"sys", 3}, {"adm", 4}, {"tty", 5}, {"disk", 6}, {"mail", 8}, {"dialout", 20},
		{"audio", 29}, {"www-data", 33}, {"shadow", 42}, {"video", 44}, {"staff", 50}, {"games", 60}, {"users", 100},
		{SupervisorName, SupervisorID}, {"nogroup", 65534},
	}
	for _, g := range groups {
		if g.name == agent.Name && g.gid != agent.GID {
			continue
		}
		known = known || g.gid == agent.GID
		fmt.Fprintf(&b, "%s:x:%d:\n", g.name, g.gid)
	}
	if !known {
		fmt.Fprintf(&b, "%s:x:%d:\n", agent.Name, agent.GID)
	}
	return b.String()
}
