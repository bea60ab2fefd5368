package sandbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// tree is a pretended file system. It maps a path to "dir", "file", "socket", "other",
// "denied", or "-> target" for a link. Parent folders exist by themselves.
type tree map[string]string

// fill shows the tree to the host as hostfacts shows it this computer.
func (t tree) fill(_ []Layer, _ Subject, h Host) Host {
	h.Look = func(p string) PathFact { return t.look(h.style(), p) }
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
		OS: "linux", User: "mira", UID: 1000, GID: 1000,
		Home: "/home/mira", LoopHome: "/home/mira/.loop",
		TimeZone: "Europe/Bucharest",
		EngineOS: "linux", EngineArch: "amd64", EngineCPUs: 4,
	}
}

func subject(dir string) Subject {
	return Subject{
		Type:    core.TypeAgent,
		Channel: core.Channel{ID: channelID, Kind: core.KindProject, Name: "p", Dir: dir},
		RunID:   "11112222333344445555666677778888", Image: "loop-agent:latest", ImageID: "sha256:aa11",
		GuestVolume: "loop-guest-9f8e7d", InstallID: "install-1", NameSuffix: "a1b2c3",
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
	spec, ex, err := resolveLayers(layers, sub, fs.fill(layers, sub, h))
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	return spec, ex
}

// resolveLayers resolves layers as on the way to a container.
func resolveLayers(layers []Layer, sub Subject, h Host) (core.Spec, core.Explanation, error) {
	spec, ex, err := Resolve(merged(layers...), sub, h)
	if err == nil {
		err = Validate(spec, h)
	}
	return spec, ex, err
}

// Layer has the settings of one file, as tests write them. A nil field makes no
// setting.
type Layer struct {
	Name string
	Path string // when set, each setting has a line in this file

	Scope, Access, Image, Network         *string
	Gate                                  *bool
	MemoryMB                              *int
	CPUs                                  *float64
	Pids                                  *int64
	Mounts, ExtraDirs, CopyFiles, Inherit []string
	Proxies                               *Proxies
	Envs                                  map[string]any
}

type Proxies struct {
	HTTP, HTTPS string
	NoProxy     []string
}

// No file makes settings in these layers yet.
const (
	layerProfile = "profile"
	layerAgent   = "agent"
)

func builtin[T any](v T) Setting[T] { return Setting[T]{v, fromBuiltin} }

// merged does in small what package config does with files.
func merged(layers ...Layer) Settings {
	s := Settings{
		Idle: builtin(24 * time.Hour), MaxAge: builtin(7 * 24 * time.Hour),
		Scope: builtin(ScopeSession), Access: builtin(AccessRW), Image: builtin(""), MemoryMB: builtin(2048), CPUs: builtin(1.0), Pids: builtin(int64(1024)),
		Network: builtin("bridge"), Gate: builtin(true),
	}
	s.Envs = map[string]Setting[any]{}
	for _, l := range layers {
		line := 0
		from := func() core.SettingsOrigin {
			if l.Path != "" {
				line++
			}
			return core.SettingsOrigin{Layer: l.Name, Path: l.Path, Line: line}
		}
		set(&s.Scope, l.Scope, from)
		set(&s.Gate, l.Gate, from)
		set(&s.Access, l.Access, from)
		set(&s.Image, l.Image, from)
		set(&s.Network, l.Network, from)
		set(&s.MemoryMB, l.MemoryMB, from)
		set(&s.CPUs, l.CPUs, from)
		set(&s.Pids, l.Pids, from)
		for _, m := range l.Mounts {
			target := func(text string) string { return strings.TrimSuffix(text[strings.LastIndex(text, ":/"):], ":ro") }
			s.Mounts = slices.DeleteFunc(s.Mounts, func(o Setting[string]) bool {
				return o.From.Layer != l.Name && strings.Contains(o.Value, ":/") && strings.Contains(m, ":/") && target(o.Value) == target(m)
			})
			s.Mounts = append(s.Mounts, Setting[string]{m, from()})
		}
		if l.ExtraDirs != nil {
			s.ExtraDirs = said(nil, l.ExtraDirs, from)
		}
		if l.CopyFiles != nil {
			s.CopyFiles = said(nil, l.CopyFiles, from)
		}
		if p := l.Proxies; p != nil {
			set(&s.HTTPProxy, filled(p.HTTP), from)
			set(&s.HTTPSProxy, filled(p.HTTPS), from)
			s.NoProxy = said(s.NoProxy, p.NoProxy, from)
		}
		s.Inherit = said(s.Inherit, l.Inherit, from)
		for _, name := range sortedKeys(l.Envs) {
			if v := l.Envs[name]; v != nil {
				s.Envs[name] = Setting[any]{v, from()}
			} else {
				delete(s.Envs, name)
			}
		}
	}
	return s
}

func set[T any](s *Setting[T], v *T, from func() core.SettingsOrigin) {
	if v != nil {
		*s = Setting[T]{*v, from()}
	}
}

func filled(v string) *string {
	if v == "" {
		return nil
	}
	return &v
}

func said(to []Setting[string], texts []string, from func() core.SettingsOrigin) []Setting[string] {
	for _, text := range texts {
		to = append(to, Setting[string]{text, from()})
	}
	return to
}

// programEnv is what programs of a container get: openly, and the credentials.
func programEnv(t *testing.T, spec core.Spec, layers []Layer, h Host) (open map[string]core.EnvVar, secret []core.EnvVar) {
	t.Helper()
	spawn, err := SpawnEnv(merged(layers...), h, spec.ChannelID)
	if err != nil {
		t.Fatal(err)
	}
	open = map[string]core.EnvVar{}
	for _, v := range append(slices.Clone(spec.Env), spawn...) {
		if v.Secret {
			secret = append(secret, v)
			continue
		}
		open[v.Name] = v
	}
	return open, secret
}
