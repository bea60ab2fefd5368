// Package programs starts what runs on terminals: on this computer (Host), and by
// the engine in containers that Loop did not make (Exec). Everything it starts
// passes programtest.
//
// daemon and tests may import it.
package programs

import (
	"loop/backend/core"
	"loop/backend/sandbox"
)

// Env is what programs look at to know what a terminal can do.
func Env() []core.EnvVar {
	return []core.EnvVar{
		{Name: "TERM", Value: "xterm-256color", Lane: sandbox.LaneApp},
		{Name: "COLORTERM", Value: "truecolor", Lane: sandbox.LaneApp},
		{Name: "TERM_PROGRAM", Value: "Loop", Lane: sandbox.LaneApp},
	}
}
