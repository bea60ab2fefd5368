package hostfacts

import (
	"fmt"
	"os"
	"strings"

	"loop/backend/core"
)

// Places names the folders and files that a spec's mounts lead to now, in a text that is
// another one once any of them was replaced: a container goes on showing the old one,
// which nobody else sees any more. Loop's own folders, and volumes, are nobody's to replace.
// What cannot be looked at has no name.
func (c Computer) Places(spec core.Spec) string {
	var b strings.Builder
	for _, m := range spec.Mounts {
		if m.Volume || m.Kind == core.MountState || m.Kind == core.MountSystem {
			continue
		}
		id := ""
		if f, err := os.Stat(m.Source); err == nil {
			id = fileID(m.Source, f)
		}
		fmt.Fprintf(&b, "%q %s\n", m.Target, id)
	}
	return b.String()
}
