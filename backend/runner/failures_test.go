package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// TestBadCLI tries every way in which the CLI can misbehave. Each ends the run with its
// own message, keeps the turns printed before, and leaves nothing running.
func TestBadCLI(t *testing.T) {
	forever := func(p *proc) { <-p.killed }
	for name, tc := range map[string]struct {
		cli    func(*proc)
		state  core.RunState
		code   core.Code
		cause  string
		detail string
		oom    bool
		late   int // reports of the engine until the kill for memory shows
	}{
		"garbage":             {cli: plays(turn("one")+"npm ERR! code 1\nnpm ERR! bad\n", 1), code: core.CodeNoResult, cause: "exit code 1", detail: "npm ERR! bad"},
		"nothing":             {cli: plays("", 0), code: core.CodeNoResult, cause: "without printing anything"},
		"stderr only":         {cli: func(p *proc) { p.stderr("Error: no such option"); p.end(2) }, code: core.CodeNoResult, cause: "exit code 2", detail: "no such option"},
		"half JSON":           {cli: plays(turn("one")+`{"type":"assistant","message":{"con`, 1), code: core.CodeNoResult, cause: "without a result"},
		"half a result":       {cli: plays(turn("one")+strings.TrimSuffix(goodResult, "}\n"), 1), code: core.CodeNoResult, cause: "without a result"},
		"invalid UTF-8":       {cli: plays("\xff\xfe\n"+turn("one")+goodResult, 0), state: core.RunDone},
		"64 MiB line":         {cli: plays(strings.Repeat("x", 64<<20)+"\n"+turn("after")+goodResult, 0), state: core.RunDone},
		"never ends":          {cli: forever, code: core.CodeTimeout, cause: "longer than 1h0m0s"},
		"prints then hangs":   {cli: func(p *proc) { p.print(turn("one")); <-p.killed }, code: core.CodeTimeout, cause: "longer"},
		"result then hangs":   {cli: func(p *proc) { p.print(turn("one") + goodResult); <-p.killed }, state: core.RunDone},
		"killed":              {cli: plays(turn("one"), 137), code: core.CodeKilled, cause: "137"},
		"out of memory":       {cli: plays(turn("one"), 137), code: core.CodeOutOfMemory, cause: "memory", oom: true},
		"out of memory, late": {cli: plays(turn("one"), 137), code: core.CodeOutOfMemory, cause: "memory", oom: true, late: 4},
		"disk full":           {cli: func(p *proc) { p.stderr("ENOSPC: no space left on device, write"); p.end(1) }, code: core.CodeDiskFull, cause: "disk is full"},
		"not there":           {cli: plays("sh: claude: not found\n", 127), code: core.CodeNoResult, cause: "could not be started", detail: "not found"},
		"401":                 {cli: plays(recording(t, "error-401"), 1), code: core.CodeModelAuth, cause: "refused the credentials (401)", detail: "Invalid API key"},
		"403":                 {cli: plays(recording(t, "error-403"), 1), code: core.CodeModelAuth, cause: "refused the credentials (403)"},
		"429":                 {cli: plays(recording(t, "error-429"), 1), code: core.CodeModelLimit, cause: "(429)"},
		"529":                 {cli: plays(recording(t, "error-529"), 1), code: core.CodeModelOverloaded, cause: "(529)"},
		"500":                 {cli: plays(recording(t, "error-500"), 1), code: core.CodeModel, cause: "(500)"},
		"billing":             {cli: plays(recording(t, "error-billing"), 1), code: core.CodeModelLimit, cause: "no credit"},
		"cut stream":          {cli: plays(recording(t, "error-cut-stream"), 1), code: core.CodeModel, cause: "broke off"},
		"prompt too long":     {cli: plays(recording(t, "error-prompt-too-long"), 1), code: core.CodeModel, cause: "too long"},
		"max turns":           {cli: plays(recording(t, "error-max-turns"), 1), code: core.CodeModel, cause: "limit of turns"},
		"error without words": {cli: plays(`{"type":"result","subtype":"error_during_execution","is_error":true}`+"\n", 1), code: core.CodeModel, cause: "reported an error"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, tc.cli)
				r.boxes.oom, r.boxes.oomLate = tc.oom, tc.late
				r.store.channels["c"].SessionID = "old"
				r.start()
				defer r.quit()
				run := r.ended(r.prompt("c", "x").ID, 2*time.Hour)
				if tc.state == "" {
					tc.state = core.RunFailed
				}
				if run.State != tc.state {
					t.Fatalf("ended %s: %+v", run.State, run.Outcome.Failure)
				}
				if f := run.Outcome.Failure; tc.state == core.RunFailed {
					if f == nil || f.Code != tc.code || !strings.Contains(f.Cause, tc.cause) || !strings.Contains(f.Detail, tc.detail) || f.Remedy == "" {
						t.Errorf("failure %+v", f)
					}
					if len(f.Detail) > 9<<10 {
						t.Errorf("%d bytes of detail", len(f.Detail))
					}
					if s := r.store.channels["c"].SessionID; s != "old" {
						t.Errorf("a failed run replaced the session by %q", s)
					}
				} else if f != nil || r.store.channels["c"].SessionID != "sess" {
					t.Errorf("failure %+v, session %q", f, r.store.channels["c"].SessionID)
				}
				r.nothingLeft(run.ID)
			})
		})
	}
}

func (r *rig) nothingLeft(id core.RunID) {
	r.t.Helper()
	r.boxes.mu.Lock()
	defer r.boxes.mu.Unlock()
	for _, x := range r.boxes.all {
		if x.running || x.after != 300*time.Second {
			r.t.Errorf("container %s: running %v, removal after %s", x.c.ID, x.running, x.after)
		}
		for l := range x.links {
			select {
			case <-l.done:
			default:
				r.t.Error("a link is open")
			}
		}
	}
	n := 0
	for _, s := range r.told(id, core.EventStatus) {
		if core.RunState(s).Terminal() {
			n++
		}
	}
	if n != 1 {
		r.t.Errorf("%d terminal statuses", n)
	}
}

func TestSetupFailures(t *testing.T) {
	gone := core.Fail(core.CodeDir, nil, "The folder /repo does not exist.", "Choose another.")
	for name, tc := range map[string]struct {
		set  func(*rig)
		code core.Code
	}{
		"image":     {func(r *rig) { r.boxes.ensure = func(context.Context) error { return core.ErrNoImage } }, core.CodeNoImage},
		"directory": {func(r *rig) { r.ports.Provision = failing(r, gone) }, core.CodeDir},
		"engine":    {func(r *rig) { r.boxes.down = true }, core.CodeEngineLost},
		"no hello":  {func(r *rig) { r.boxes.noHello = true }, core.CodeNoLink},
		"other":     {func(r *rig) { r.ports.Provision = failing(r, errors.New("odd")) }, core.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, plays(goodResult, 0))
				tc.set(r)
				r.start()
				defer r.quit()
				run := r.ended(r.prompt("c", "x").ID, 10*time.Minute)
				if f := run.Outcome.Failure; run.State != core.RunFailed || f == nil || f.Code != tc.code || f.Remedy == "" {
					t.Errorf("%s %+v", run.State, f)
				}
				r.nothingLeft(run.ID)
				// Other runs work as before.
				r.boxes.down, r.boxes.noHello, r.boxes.ensure = false, false, nil
				r.s.p.Provision = provisioner{r.boxes, newRig(t, nil).ports.Provision.(provisioner).resolve}
				if next := r.ended(r.prompt("c", "y").ID, time.Minute); next.State != core.RunDone {
					t.Errorf("next run %s", next.State)
				}
			})
		})
	}
}

func failing(r *rig, err error) Provision {
	return provisioner{r.boxes, func(core.Run, core.Channel) (made, error) { return made{}, err }}
}

func TestSpoolFullEndsTheRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(p *proc) {
			p.print(turn("one"))
			p.changed(func() { p.paused = "spool full" })
			<-p.killed
		})
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Minute)
		if run.Outcome.Failure == nil || run.Outcome.Failure.Code != core.CodeSpoolFull {
			t.Errorf("%s %+v", run.State, run.Outcome.Failure)
		}
		r.nothingLeft(run.ID)
	})
}

func TestFullDiskIsWaitedFor(t *testing.T) {
	for _, freed := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			r := newRig(t, func(p *proc) {
				p.changed(func() { p.paused = "disk full" })
				select {
				case <-time.After(map[bool]time.Duration{true: time.Minute, false: time.Hour}[freed]):
					p.changed(func() { p.paused = "" })
					p.print(goodResult)
					p.end(0)
				case <-p.killed:
				}
			})
			r.start()
			defer r.quit()
			run := r.ended(r.prompt("c", "x").ID, 10*time.Minute)
			if freed != (run.State == core.RunDone) {
				t.Errorf("freed %v: %s %+v", freed, run.State, run.Outcome.Failure)
			}
			if !freed && run.Outcome.Failure.Code != core.CodeDiskFull {
				t.Errorf("%+v", run.Outcome.Failure)
			}
			r.nothingLeft(run.ID)
		})
	}
}

func TestDatabaseThatRefusesForAWhile(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(recording(t, "tools"), 0))
		until := time.Now().Add(30 * time.Second)
		r.store.fault = func(call string, after bool) error {
			if !after && (call == "append" || call == "finish" || call == "update") && time.Now().Before(until) {
				return core.Fail(core.CodeDiskFull, nil, "The disk is full.", "Free some space.")
			}
			return nil
		}
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, 5*time.Minute)
		if run.State != core.RunDone || len(r.told(run.ID, core.EventToolUse)) != 7 {
			t.Errorf("%s with %d tool calls", run.State, len(r.told(run.ID, core.EventToolUse)))
		}
		r.nothingLeft(run.ID)
	})
}
