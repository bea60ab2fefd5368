package guestlink

import (
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

func spawnRequest(req core.SpawnRequest) (wire.Request, [][]byte) {
	s := wire.Spawn{
		Argv: req.Argv, Dir: req.Dir, Stdio: string(req.Stdio), Cols: req.Cols, Rows: req.Rows,
		HasStdin: req.Stdin != nil, StdinSize: int64(len(req.Stdin)), OpenStdin: req.OpenStdin,
		Spool: req.Keep == core.KeepSpool, Pause: req.Keep == core.KeepPause,
	}
	for _, p := range req.Pipes {
		s.Pipes = append(s.Pipes, wire.Pipe(p))
	}
	for _, e := range req.Env {
		s.Env = append(s.Env, e.Name+"="+e.Value)
	}
	body := [][]byte{req.Stdin}
	for _, f := range req.Files {
		s.Files = append(s.Files, wire.File{Name: f.Name, Size: int64(len(f.Data))})
		body = append(body, f.Data)
	}
	return wire.Request{Op: wire.OpSpawn, ID: string(req.ID), Spawn: &s}, body
}

func spawnInfo(i wire.Info) core.SpawnInfo {
	out := core.SpawnInfo{
		ID: core.SpawnID(i.ID), Pid: i.Pid, Stdio: core.Stdio(i.Stdio), Started: time.UnixMilli(i.Started),
		OutEnd: i.OutEnd, ErrEnd: i.ErrEnd, Paused: i.Paused,
		Detached: i.Detached[:min(len(i.Detached), wire.MaxDetached)],
	}
	if i.Exit != nil {
		e := exitStatus(*i.Exit)
		out.Exit = &e
	}
	return out
}

func exitStatus(e wire.Exit) core.ExitStatus {
	return core.ExitStatus{Code: e.Code, Signal: e.Signal, At: time.UnixMilli(e.At)}
}
