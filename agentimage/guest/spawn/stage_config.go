//go:build linux

package spawn

import (
	"loop/backend/wire"
)

// stageConfig goes from loop init to the stage through a pipe, so that nothing
// of it is in any environment or command line.
type stageConfig struct {
	Argv, Env []string
	Dir       string
	UID, GID  int
	Groups    []int
	RunDir    string            // the spawn's private directory
	Files     map[string][]byte // in it
	Pipes     []int             // descriptors that the program keeps besides 0, 1 and 2
}

// stageReport is what the stage tells the keeper: once without an error, right
// before it executes the program, or last of all with one. No report at all means
// that it died earlier.
type stageReport struct {
	Error *wire.Error `json:"error,omitempty"`
}

// keepEvent is what the keeper tells loop init: first how the start went, then
// how the program ended.
type keepEvent struct {
	Pid    int         `json:"pid,omitempty"`
	Status *int        `json:"status,omitempty"` // raw wait status
	Error  *wire.Error `json:"error,omitempty"`  // why the program was not executed
}
