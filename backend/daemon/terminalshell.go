package daemon

import "loop/backend/core"

// integrated is a request for a shell or another program.
func integrated(req core.SpawnRequest, argv []string) core.SpawnRequest {
	req.Argv = argv
	return req
}

// hostShell prepares the person's own shell.
func (t terminalPrograms) hostShell(_ core.TerminalID, argv, env []string) ([]string, []string, error) {
	return argv, env, nil
}
