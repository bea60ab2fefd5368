package sandbox

import (
	"path"
	"slices"
	"strings"
)

// blockedHost are host trees that a container must never see, in any mode:
// kernel interfaces, runtime sockets, and the engine's own storage. The check
// also refuses their ancestors (/var), which a plain list would let through.
var blockedHost = []string{
	"/proc", "/sys", "/dev", "/boot", "/run", "/var/run", "/private/var/run",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/host_mnt", "/run/host-services",
}

// allowedUnderBlocked are places below them where people keep projects.
var allowedUnderBlocked = []string{"/run/media", "/usr/src", "/usr/local/src"}

// readOnlyHost may be shown to a container, but not written by one.
var readOnlyHost = []string{
	"/etc", "/private/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/System", "/Library", "/Applications",
}

// readOnlyWindows is the same on any drive of a Windows host.
var readOnlyWindows = []string{`\Windows`, `\Program Files`, `\Program Files (x86)`, `\ProgramData`}

// credentialHome are places below the home directory that hold credentials;
// naming one in the person's own settings is the grant, and it is read-only.
var credentialHome = []string{
	".ssh", ".aws", ".azure", ".gcp", ".config/gcloud", ".config/gh", ".kube", ".gnupg", ".netrc", ".pgpass",
	".git-credentials", ".npmrc", ".pypirc", ".docker/config.json", ".cargo/credentials.toml", ".claude/.credentials.json",
}

// socketHome hold engine sockets, which a read-only mount does not guard:
// connecting writes nothing.
var socketHome = []string{
	".docker", ".colima", ".lima", ".orbstack", ".rd", ".local/share/containers", ".local/share/docker",
}

// engineSockets are names under which container engines listen.
var engineSockets = map[string]bool{
	"docker.sock": true, "docker.sock.host": true, "docker.sock.raw": true, "docker_engine": true, "podman.sock": true,
	"containerd.sock": true, "crio.sock": true, "buildkitd.sock": true, "docker-cli.sock": true,
}

// appTargets are container paths that belong to the app, with all below them.
var appTargets = []string{
	GuestRunDir, path.Dir(GuestDir), "/proc", "/sys", "/dev",
	"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf",
	"/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/loop",
	"/var/run/docker.sock", "/run/docker.sock", "/.dockerenv",
}

// imageTargets are the image's own trees; a mount over one of them, or above
// an app target, would replace programs that loop init and the agent rely on.
// Below them (/usr/share/fonts) is allowed.
var imageTargets = []string{
	"/", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/usr/bin", "/usr/sbin", "/usr/lib",
	"/etc", "/run", "/var", "/opt", "/var/run", "/tmp", "/var/tmp",
}

// sourceVerdict says why a host path may not be mounted, or "". readOnly is
// the mode asked for; forceRO says it may be mounted, but only to be read.
type sourceVerdict struct {
	refuse     string
	forceRO    bool
	credential bool
}

// checkSource judges a host path both as written and with its links followed:
// a link inside a project must not reach what its name hides.
func (h Host) checkSource(p string) sourceVerdict {
	v := h.checkOne(p, h.Home, h.LoopHome)
	if v.refuse != "" {
		return v
	}
	r := h.checkOne(h.resolved(p), h.resolved(h.Home), h.resolved(h.LoopHome))
	if r.refuse != "" {
		if h.resolved(p) != p {
			r.refuse = "it leads to " + quote(h.resolved(p)) + ": " + r.refuse
		}
		return r
	}
	v.forceRO = v.forceRO || r.forceRO
	v.credential = v.credential || r.credential
	return v
}

func (h Host) checkOne(p, home, loopHome string) sourceVerdict {
	s := h.style()
	if s.isRoot(p) {
		return sourceVerdict{refuse: "it is the whole file system"}
	}
	if engineSockets[s.base(p)] {
		return sourceVerdict{refuse: "it is a container engine's socket, which is as good as root on this computer"}
	}
	if home != "" && s.within(p, home) {
		return sourceVerdict{refuse: "it contains your whole home directory"}
	}
	if loopHome != "" && s.within(loopHome, p) {
		return sourceVerdict{refuse: "it is inside Loop's own folder, which holds credentials and the memory of other channels"}
	}
	if s.windows {
		for _, b := range readOnlyWindows {
			if s.within(p[:2]+b, p) {
				return sourceVerdict{forceRO: true}
			}
		}
	} else {
		for _, allowed := range allowedUnderBlocked {
			if p != allowed && inside(allowed, p) {
				return sourceVerdict{}
			}
		}
		for _, b := range blockedHost {
			if s.within(b, p) || s.within(p, b) {
				return sourceVerdict{refuse: "it is, or contains, the system directory " + b}
			}
		}
		for _, b := range readOnlyHost {
			if s.within(b, p) {
				return sourceVerdict{forceRO: true, credential: sensitiveEtc(b, p)}
			}
		}
	}
	if home == "" {
		return sourceVerdict{}
	}
	for _, c := range credentialHome {
		if s.within(s.join(home, c), p) {
			return sourceVerdict{forceRO: true, credential: true}
		}
	}
	for _, c := range socketHome {
		if full := s.join(home, c); s.within(full, p) || s.within(p, full) {
			return sourceVerdict{refuse: "it is, or contains, " + quote("~/"+c) + ", where a container engine keeps its socket"}
		}
	}
	for _, c := range credentialHome {
		if s.within(p, s.join(home, c)) {
			return sourceVerdict{forceRO: true, credential: true} // ~/.config holds ~/.config/gh
		}
	}
	return sourceVerdict{}
}

func sensitiveEtc(root, p string) bool {
	rest, in := strings.CutPrefix(p, root)
	return in && path.Base(root) == "etc" && (rest == "" || slices.ContainsFunc(
		[]string{"/shadow", "/gshadow", "/sudoers", "/ssh"}, func(f string) bool { return inside(f, rest) }))
}

// checkTarget says why a configured mount may not land on a container path, or "".
func checkTarget(t, home string) string {
	if engineSockets[path.Base(t)] {
		return "a container engine's socket is never put into a container"
	}
	for _, a := range appTargets {
		if inside(a, t) && !strings.HasPrefix(t, ClaudeDir+"/") || inside(t, a) {
			return "the container path " + quote(t) + " belongs to Loop or to the system"
		}
	}
	if slices.Contains(imageTargets, t) {
		return "the container path " + quote(t) + " would cover part of the image"
	}
	if t == home {
		return "the home directory inside is the channel's own"
	}
	if inside(t, home) {
		return "the container path " + quote(t) + " holds the channel's memory"
	}
	if c := home + "/.claude"; inside(c, t) || t == c+".json" {
		return "~/.claude and ~/.claude.json inside are the channel's memory; mounts can name what is in ~/.claude (~/.claude/skills)"
	}
	return ""
}

func quote(s string) string { return "“" + s + "”" }

// when is the reason if it holds, else "".
func when(holds bool, reason string) string {
	if holds {
		return reason
	}
	return ""
}
