// Package programs starts what runs on terminals (Programs): on this computer
// (Host), by the engine in containers that Loop did not make (Exec), and by loop
// init in those that it did. Containers finds and makes them. Everything it starts
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
