package sandbox

import "fmt"

// Names of the layers that make a setting. The order is that of precedence, lowest
// first.
const (
	LayerBuiltin = "built-in"
	LayerGlobal  = "global"
	// LayerProject and LayerWorktree are files inside a folder that agents write. The
	// caller passes only those of their settings that are in force.
	LayerProject  = "project"
	LayerWorktree = "worktree"
	LayerChannel  = "channel"
	LayerRun      = "run"
	// originHost marks a value taken from a fact of the host; it is not a layer
	// that anybody can write.
	originHost = "host"
)

// Origin is where a setting was made. Path is empty where no file says it. Line and Col
// count from 1, and are 0 where the place in the file is not known.
type Origin struct {
	Layer string `json:"layer"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
}

// String names the layer, and the line where that is known.
func (o Origin) String() string { return o.Layer + o.place(", %s:%d") }

// place is empty where the line is not known.
func (o Origin) place(format string) string {
	if o.Line == 0 {
		return ""
	}
	return fmt.Sprintf(format, o.Path, o.Line)
}

// Origins that are no file's.
var (
	fromBuiltin = Origin{Layer: LayerBuiltin}
	fromHost    = Origin{Layer: originHost}
	fromChannel = Origin{Layer: LayerChannel}
	fromRun     = Origin{Layer: LayerRun}
)

// Setting is a value and where it was made.
type Setting[T any] struct {
	Value T
	From  Origin
}

// Settings are those of one container, merged by whoever read them.
type Settings struct {
	Access   Setting[string]  // workspace access: AccessRW or AccessRO
	Image    Setting[string]  // image reference; Subject.Image is what is run
	MemoryMB Setting[int]     // MiB
	CPUs     Setting[float64] // whole CPUs, fractions allowed
	Pids     Setting[int64]   // processes and threads
	Network  Setting[string]  // "bridge", "none", or the name of a network

	Mounts    []Setting[string] // host:container[:mode], one for each container path
	ExtraDirs []Setting[string] // further folders of the host to work in
	// CopyFiles are host files of which the container gets a copy under the same
	// path below its home.
	CopyFiles []Setting[string]
	// HTTPProxy and HTTPSProxy win over the host's when they are not empty.
	HTTPProxy, HTTPSProxy Setting[string]
	NoProxy               []Setting[string] // names and networks reached without
	// Inherit names variables of this computer that the container gets with the
	// value they have here: a name, or the beginning of one with a star after it.
	Inherit []Setting[string]
	Envs    map[string]Setting[any]
}

// What an agent may do in its workspace.
const (
	AccessRW = "rw"
	AccessRO = "ro"
)

// stopGraceSec is from TERM to KILL when a container is stopped; Docker's own.
const stopGraceSec = 10
