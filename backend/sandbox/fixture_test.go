package sandbox

import (
	"strings"
	"testing"

	"loop/backend/core"
)

// tree is a pretended file system: path to "dir", "file", "socket", "other",
// "denied", or "-> target" for a link. Parents exist by themselves.
type tree map[string]string

// fill answers the probes the way hostfacts does, so that a path Resolve needs
// and Probes forgot shows up as a failure.
func (t tree) fill(layers []Layer, sub Subject, h Host) Host {
	h.Paths = map[string]PathFact{}
	for _, p := range Probes(layers, sub, h) {
		h.Paths[p] = t.look(h.style(), p)
	}
	return h
}

// fit is fill for FitForWork.
func (t tree) fit(dir string, h Host) Host {
	h.Paths = map[string]PathFact{}
	for _, p := range FitProbes(dir, h) {
		h.Paths[p] = t.look(h.style(), p)
	}
	return h
}

func (t tree) look(s pathStyle, p string) PathFact {
	target := p
	for range 8 {
		moved := false
		for link, v := range t {
			to, isLink := strings.CutPrefix(v, "-> ")
			if !isLink {
				continue
			}
			if rel, ok := s.rel(link, target); ok {
				target, moved = s.join(to, rel), true
				break
			}
		}
		if !moved {
			break
		}
	}
	f := PathFact{Kind: PathMissing, Target: target}
	if v, ok := t[target]; ok {
		f.Kind = PathKind(v)
		if v == "denied" {
			f.Error = "permission denied"
		}
		return f
	}
	for other := range t {
		if s.within(target, other) {
			f.Kind = PathDir
		}
	}
	return f
}

const channelID = "0123456789abcdef0123456789abcdef"

func linuxHost() Host {
	return Host{
		OS: "linux", Arch: "amd64", User: "mira", UID: 1000, GID: 1000,
		Home: "/home/mira", LoopHome: "/home/mira/.loop",
		TimeZone: "Europe/Bucharest", TimeZoneOrigin: "/etc/timezone",
		EngineOS: "linux", EngineArch: "amd64", EngineCPUs: 4,
	}
}

func subject(dir string) Subject {
	return Subject{
		Channel: core.Channel{ID: channelID, Kind: core.KindProject, Name: "p", Dir: dir},
		RunID:   "11112222333344445555666677778888", Image: "loop-agent:latest", ImageID: "sha256:aa11",
		GuestVolume: "loop-guest-9f8e7d", GuestHash: "9f8e7d", InstallID: "install-1", NameSuffix: "a1b2c3",
	}
}

func projectTree() tree {
	return tree{
		"/home/mira":                "dir",
		"/home/mira/.loop":          "dir",
		"/home/mira/code/my-proj":   "dir",
		"/home/mira/.ssh":           "dir",
		"/home/mira/.gitconfig":     "file",
		"/home/mira/.gitignore_all": "file",
		"/home/mira/other":          "dir",
		"/srv/data":                 "dir",
	}
}

func mustResolve(t *testing.T, fs tree, layers []Layer, sub Subject, h Host) (core.Spec, core.Explanation) {
	t.Helper()
	h = fs.fill(layers, sub, h)
	spec, ex, err := Resolve(layers, sub, h)
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return spec, ex
}
