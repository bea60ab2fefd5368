package engine

import (
	"errors"
	"fmt"
	"strings"

	"loop/backend/core"
)

// refused puts in words why the engine makes no terminal; the sentinels stay.
func refused(spec core.ExecSpec, err error) error {
	switch msg := err.Error(); {
	case errors.Is(err, core.ErrNotRunning):
		return core.Fail(core.CodeConflict, err, "The container is not running.", "Start it, then open the terminal again.")
	case strings.Contains(msg, "is paused"):
		return core.Fail(core.CodeConflict, err, "The container is paused.", "Let it go on (“docker unpause”), then try again.")
	case noSuchUser(msg):
		return core.Fail(core.CodeInvalid, err, "The container has no user "+spec.User+".", "Name a user that the container has.")
	case errors.Is(err, core.ErrNotFound):
		return core.Fail(core.CodeNotFound, err, "There is no such container.", "It may have been removed; choose another one.")
	}
	return err
}

// startFailure puts in words what the engine wrote where the program's output
// would have been.
func startFailure(spec core.ExecSpec, words string) error {
	err := fmt.Errorf("start a terminal: %s", words)
	name := spec.Argv[0]
	switch {
	case strings.Contains(words, "chdir to cwd"):
		return core.Fail(core.CodeDir, err, "The container has no directory "+spec.Dir+".", "Choose another directory for the terminal.")
	case noSuchUser(words):
		return core.Fail(core.CodeInvalid, err, "The container has no user "+spec.User+".", "Name a user that the container has.")
	case strings.Contains(words, "executable file not found"), strings.Contains(words, "no such file or directory"):
		return core.Fail(core.CodeNotFound, err, "The container has no program called "+name+".",
			"Name a program that the container has, for example /bin/sh.")
	case strings.Contains(words, "permission denied"), strings.Contains(words, "exec format error"):
		return core.Fail(core.CodeInvalid, err, name+" cannot be executed in the container.", "Name another program, for example /bin/sh.")
	}
	return core.Fail(core.CodeInternal, err, "The container engine could not start "+name+".", "The detail holds the engine's own words.")
}

// noSuchUser: some engines say so in answer to the request, others on the terminal.
func noSuchUser(words string) bool {
	return strings.Contains(words, "unable to find user") || strings.Contains(words, "no matching entries in passwd")
}
