package sandbox

import (
	"fmt"
	"regexp"
	"slices"

	"loop/backend/core"
)

// typeRule says what a container of one type has and must not have.
type typeRule struct {
	workspace bool             // shows its work directory, and keeps a channel's state and spool
	runs      bool             // may belong to a run, and be a plan's
	mounts    []core.MountKind // that it may have; nil is every kind
	network   string           // the only one it may have; empty is any
	shm       int64            // the least of /dev/shm, in bytes; 0 is the engine's 64 MiB
	name      *regexp.Regexp
}

// chromeShm is the least that a browser gets, whose share is a quarter of its memory:
// Chromium passes every tile of a page through /dev/shm and crashes where the engine's
// 64 MiB are full.
const chromeShm = 128 << 20

// typeRules has a line for every type there is; a type without one is refused.
var typeRules = map[core.ContainerType]typeRule{
	core.TypeAgent: {workspace: true, runs: true, name: namePattern},
	core.TypeShell: {workspace: true, name: namePattern},
	// A browser shows pages that nobody vouches for: nothing of the person's or of
	// the channel's is in reach, and no network but the app's filtering dialer.
	core.TypeChrome: {
		mounts: []core.MountKind{core.MountSystem, core.MountVolume}, network: "none", shm: chromeShm, name: chromeName,
	},
}

// byType checks the rules of the container's type. Shared memory counts against
// the memory limit of every type, so it lies below that.
func (c *checker) byType() {
	sp := c.spec
	rule, known := typeRules[sp.Type]
	c.must(known, "the type %q is none of Loop's", sp.Type)
	if !known {
		return
	}
	c.must(rule.name.MatchString(sp.Name), "the name %q is not one of a %s container", sp.Name, sp.Type)
	c.must(rule.runs || sp.RunID == "" && !sp.Plan, "a %s container belongs to a run", sp.Type)
	c.must(rule.network == "" || sp.Network == rule.network, "a %s container has the network %q", sp.Type, sp.Network)
	c.must(rule.workspace || len(sp.Copies) == 0, "a %s container has copies of files", sp.Type)
	for _, m := range sp.Mounts {
		c.must(rule.mounts == nil || slices.Contains(rule.mounts, m.Kind), "a %s container has a %s mount at %q", sp.Type, m.Kind, m.Target)
	}
	c.must(sp.ShmBytes >= rule.shm && sp.ShmBytes < max(sp.Limits.MemoryBytes, 1),
		"the shared memory of %s is not from %s to below the memory limit", mib(sp.ShmBytes), mib(rule.shm))
}

func mib(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
