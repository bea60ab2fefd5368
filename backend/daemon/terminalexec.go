package daemon

import (
	"context"

	"loop/backend/core"
	"loop/backend/terminal"
)

// startExec starts a program in a container that Loop did not make.
func (t terminalPrograms) startExec(_ context.Context, s terminal.Start) (terminal.Program, error) {
	return nil, core.Fail(core.CodeForbidden, nil, "The container "+string(s.Container.ID)+" was not made by Loop.", "Open a terminal in one of Loop's own.")
}

// integrated is a request for a shell or another program.
func integrated(req core.SpawnRequest, argv []string) core.SpawnRequest {
	req.Argv = argv
	return req
}

// hostShell prepares the person's own shell.
func (t terminalPrograms) hostShell(_ core.TerminalID, argv, env []string) ([]string, []string, error) {
	return argv, env, nil
}
