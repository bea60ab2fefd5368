//go:build linux

package spawn

import (
	"log/slog"
	"os"
	"path/filepath"

	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/supervise"
	"loop/backend/policy"
	"loop/backend/wire"
)

// judge is an engine as a supervisor asks it.
type judge struct{ *policy.Engine }

func (j judge) Exec(path string, argv []string) policy.Verdict {
	return j.Engine.Exec(policy.Command{Path: path, Argv: argv})
}

// Agents are those that the policy names.
func (j judge) Agents() ([]string, supervise.Judge) {
	files, stricter := j.Engine.Agents()
	if stricter == nil {
		return nil, nil
	}
	return files, judge{stricter}
}

// Content lets pass what changes nothing that matters.
func (j judge) Content(path string, before, after []byte) (policy.Verdict, bool) {
	if !j.Engine.Content(replaces(before), path, before, after) {
		return policy.Verdict{}, false
	}
	return policy.Verdict{Decision: policy.Allow}, true
}

// Excerpt is what matters of a change.
func (j judge) Excerpt(path string, before, after []byte) (was, is []byte, ok bool) {
	return j.Engine.Excerpt(replaces(before), path, before, after)
}

// replaces is what puts a file where another is, or none.
func replaces(before []byte) policy.Operation {
	if before == nil {
		return policy.Create
	}
	return policy.Write
}

// marks are of the sockets and terminals of all spawns of the container.
func marks(e *policy.Engine) *supervise.Marks {
	return &supervise.Marks{Dir: filepath.Join(wire.PrivateDir, "marks"), Strictness: e.Strictness()}
}

// startSupervisor takes the listener over.
func (w *watcher) startSupervisor(listener int, e *policy.Engine) (*supervise.Supervisor, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	w.denied = denial.Open(w.s.Denied, log)
	sup, err := supervise.Start(supervise.Options{
		Listener: listener, Judge: judge{e}, Version: w.s.Policy.Version, SpawnID: w.s.Spawn,
		Agent:  supervise.Agent{UID: w.s.UID, GID: w.s.GID, Groups: w.s.Groups, Home: w.s.Home},
		Tracer: w.tracer, Marks: marks(e), Ask: w.held.ask, Tell: w.held.tell, Denied: w.denied.Add, Log: log,
	})
	if err != nil {
		w.denied.Close()
	}
	return sup, err
}
