package sandbox

import (
	"fmt"

	"loop/backend/core"
)

// LayerName says where a setting was made. The order of the constants is the
// order of precedence, lowest first.
type LayerName string

const (
	LayerBuiltin LayerName = "built-in"
	LayerGlobal  LayerName = "global"
	// LayerProject and LayerWorktree are files inside a folder that agents write;
	// the caller passes only what of them is in force.
	LayerProject  LayerName = "project"
	LayerWorktree LayerName = "worktree"
	LayerProfile  LayerName = "profile"
	LayerAgent    LayerName = "agent"
	LayerChannel  LayerName = "channel"
	LayerRun      LayerName = "run"
	// originHost marks a value taken from a fact of the host; it is not a layer
	// that anybody can write.
	originHost LayerName = "host"
)

var layerRank = map[LayerName]int{
	LayerBuiltin: 0, LayerGlobal: 1, LayerProject: 2, LayerWorktree: 3, LayerProfile: 4, LayerAgent: 5, LayerChannel: 6, LayerRun: 7,
}

// Layer is one partial set of settings. A nil field says nothing and leaves
// the value of the layers below.
type Layer struct {
	Name LayerName

	Preset       *string  // lifecycle preset; this version knows "job"
	Layout       *string  // this version knows "mirror": host paths inside
	Access       *string  // workspace access: "rw" or "ro"
	Image        *string  // image reference; Subject.Image is what is run
	MemoryMB     *int     // MiB
	CPUs         *float64 // whole CPUs, fractions allowed
	Pids         *int64   // processes and threads
	Network      *string  // "bridge", "none", or the name of a network
	ReadOnlyRoot *bool
	StopGraceSec *int // seconds between TERM and KILL when a container is stopped

	// Mounts are host:container[:mode] strings. They are merged by target: a
	// later layer wins. InheritMounts false drops those of the layers below.
	Mounts        []string
	InheritMounts *bool
	// ExtraDirs replaces the list of the layers below when it is not nil.
	ExtraDirs []string
	// CopyFiles are host files of which the container gets a copy under the same
	// path below its home; the list replaces that of the layers below.
	CopyFiles []string
	// Proxies win over the host's, field by field; NoProxy is appended.
	Proxies *Proxies
	// Inherit names variables of this computer that the container gets with the
	// value they have here (InheritNames); each layer adds to the list.
	Inherit []string
	// Envs is merged by name. A nil value removes a name set below.
	Envs map[string]any
}

// Proxies are those of a container, as the settings say them.
type Proxies struct {
	HTTP, HTTPS string   // empty says nothing
	NoProxy     []string // names and networks reached without
}

// Presets, layouts and accesses that this version can resolve.
const (
	PresetJob    = "job"
	LayoutMirror = "mirror"
	AccessRW     = "rw"
	AccessRO     = "ro"
)

// Defaults of the Loop preset.
const (
	// DefaultMemoryMB is DESIGN §10's figure; 1024 ran out of memory in practice.
	DefaultMemoryMB = 2048
	// DefaultCPUs follows the seed.
	DefaultCPUs = 1.0
	// DefaultPids counts threads too. It is four times the 256 that the
	// single-purpose agent container of the NanoClaw fork uses: a compiler or
	// test runner per CPU each brings tens of threads, and a fork bomb is still
	// stopped long before the usual kernel limit of 32768.
	DefaultPids = 1024
	// DefaultStopGraceSec is Docker's own default.
	DefaultStopGraceSec = 10

	minMemoryMB = 256     // below this the agent CLI itself is killed at start
	maxMemoryMB = 1 << 22 // 4 TiB; past it the byte count is a typing mistake
	minPids     = 32      // loop init, the CLI's own threads and one tool
	maxPids     = 1 << 22 // the kernel's PID_MAX_LIMIT
	maxGraceSec = 600
)

// Builtin is the lowest layer; Resolve adds it by itself.
func Builtin() Layer {
	return Layer{
		Name:         LayerBuiltin,
		Preset:       new(PresetJob),
		Layout:       new(LayoutMirror),
		Access:       new(AccessRW),
		MemoryMB:     new(DefaultMemoryMB),
		CPUs:         new(DefaultCPUs),
		Pids:         new(int64(DefaultPids)),
		Network:      new("bridge"),
		ReadOnlyRoot: new(true),
		StopGraceSec: new(DefaultStopGraceSec),
	}
}

// setting is a value with the layer it came from.
type setting[T any] struct {
	value T
	from  LayerName
}

func pick[T any](s *setting[T], l LayerName, v *T) {
	if v != nil {
		s.value, s.from = *v, l
	}
}

// mountEntry is one configured mount string and where it stands.
type mountEntry struct {
	text  string
	layer LayerName
	index int // in its layer, for messages
}

func (e mountEntry) where() string { return fmt.Sprintf("%s mounts[%d]", e.layer, e.index) }

type envEntry struct {
	value any
	layer LayerName
}

// textEntry is one element of a list and the layer it came from.
type textEntry struct {
	text  string
	layer LayerName
}

// merged is all layers in one, before host facts are applied.
type merged struct {
	preset, layout, access, image, network setting[string]
	memoryMB, graceSec                     setting[int]
	cpus                                   setting[float64]
	pids                                   setting[int64]
	readOnlyRoot, inheritMounts            setting[bool]
	mounts                                 []mountEntry
	extraDirs, copyFiles                   setting[[]string]
	httpProxy, httpsProxy                  setting[string]
	noProxy, inherit                       []textEntry
	envs                                   map[string]envEntry
}

func mergeLayers(layers []Layer) (merged, error) {
	var m merged
	m.envs = map[string]envEntry{}
	rank := 0
	for i, l := range append([]Layer{Builtin()}, layers...) {
		r, known := layerRank[l.Name]
		if !known {
			return m, core.Fail(core.CodeInternal, nil, fmt.Sprintf("The settings name a layer %q that Loop does not know.", l.Name), "")
		}
		if r < rank || (i > 0 && r == 0) {
			return m, core.Fail(core.CodeInternal, nil, fmt.Sprintf("The settings layer %q came out of order.", l.Name), "")
		}
		rank = r
		pick(&m.preset, l.Name, l.Preset)
		pick(&m.layout, l.Name, l.Layout)
		pick(&m.access, l.Name, l.Access)
		pick(&m.image, l.Name, l.Image)
		pick(&m.network, l.Name, l.Network)
		pick(&m.memoryMB, l.Name, l.MemoryMB)
		pick(&m.graceSec, l.Name, l.StopGraceSec)
		pick(&m.cpus, l.Name, l.CPUs)
		pick(&m.pids, l.Name, l.Pids)
		pick(&m.readOnlyRoot, l.Name, l.ReadOnlyRoot)
		pick(&m.inheritMounts, l.Name, l.InheritMounts)
		if l.InheritMounts != nil && !*l.InheritMounts {
			m.mounts = nil
		}
		for n, text := range l.Mounts {
			m.mounts = append(m.mounts, mountEntry{text: text, layer: l.Name, index: n})
		}
		if l.ExtraDirs != nil {
			m.extraDirs = setting[[]string]{l.ExtraDirs, l.Name}
		}
		if l.CopyFiles != nil {
			m.copyFiles = setting[[]string]{l.CopyFiles, l.Name}
		}
		m.addProxies(l)
		for _, text := range l.Inherit {
			m.inherit = append(m.inherit, textEntry{text, l.Name})
		}
		for name, v := range l.Envs {
			if v == nil {
				delete(m.envs, name)
				continue
			}
			m.envs[name] = envEntry{v, l.Name}
		}
	}
	return m, nil
}

func (m *merged) addProxies(l Layer) {
	if l.Proxies == nil {
		return
	}
	if v := l.Proxies.HTTP; v != "" {
		m.httpProxy = setting[string]{v, l.Name}
	}
	if v := l.Proxies.HTTPS; v != "" {
		m.httpsProxy = setting[string]{v, l.Name}
	}
	for _, text := range l.Proxies.NoProxy {
		m.noProxy = append(m.noProxy, textEntry{text, l.Name})
	}
}
