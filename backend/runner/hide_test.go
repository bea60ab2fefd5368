package runner

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/provision"
	"loop/backend/redact"
	"loop/backend/runner/transcript"
)

// TestSecretsAreHidden: an agent lists its environment. None of Loop's keys reaches the
// timeline, the result or an error.
func TestSecretsAreHidden(t *testing.T) {
	const key, env = "sk-ant-CANARY-1", "CANARY of \"the\" environment"
	for name, cli := range map[string]func(*proc){
		"tool result": plays(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"KEY=`+key+`\nX=CANARY of \"the\" environment"}]}}`+"\n"+turn(key)+goodResult, 0),
		"result":      plays(`{"type":"result","subtype":"success","is_error":false,"result":"it is `+key+`","session_id":"sess"}`+"\n", 0),
		"failure":     plays(`{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 `+key+`","api_error_status":400,"session_id":"sess"}`+"\n", 1),
		"garbage":     plays("key "+key+" is wrong\n", 1),
		"stderr":      func(p *proc) { p.stderr("key " + key + " and " + env); p.end(2) },
		"unknown":     plays(`{"type":"news","x":"`+key+`"}`+"\n"+goodResult, 0),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				r := newRig(t, cli)
				r.launch.APIKey = key
				r.launch.Env = []core.EnvVar{{Name: "T", Value: env, Secret: true}, {Name: "S", Value: "assistant", Secret: true}, {Name: "P", Value: "not a secret but long"}}
				r.start()
				defer r.quit()
				run := r.ended(r.prompt("c", "x").ID, time.Hour)
				said := r.dump(run.ID) + fmt.Sprintf("%+v %+v", run.Outcome, run.Outcome.Failure)
				if strings.Contains(said, "CANARY") || !strings.Contains(said, redact.Mark) {
					t.Error(said)
				}
			})
		})
	}
}

// unresolved is a provisioner that does not get further than the settings.
type unresolved struct{ provisioner }

func (u unresolved) Resolve(ctx context.Context, w provision.Want) (r provision.Resolved, err error) {
	r, _ = u.provisioner.Resolve(ctx, w)
	r.Env = []core.EnvVar{{Name: "T", Value: "CANARY of the environment", Secret: true}}
	return r, errors.New("the folder is gone")
}

// TestSecretsOfARunTakenOver are hidden, whatever became of its settings meanwhile.
func TestSecretsOfARunTakenOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("it is CANARY of the environment")+goodResult)
		(spoolFiles{r.boxes}).find("spawn").end(0)
		r.launch.Refused = errors.New("nothing can be started now")
		r.ports.Provision = unresolved{r.ports.Provision.(provisioner)}
		r.start()
		defer r.quit()
		run := r.ended(id, time.Minute)
		if said := r.dump(id); run.State != core.RunDone || strings.Contains(said, "CANARY") || !strings.Contains(said, redact.Mark) {
			t.Errorf("%s: %s", run.State, said)
		}
	})
}

// mended is a provisioner of settings that cannot be read until they are mended.
type mended struct {
	provisioner
	ok *atomic.Bool
}

func (m mended) Resolve(ctx context.Context, w provision.Want) (provision.Resolved, error) {
	if m.ok.Load() {
		return m.provisioner.Resolve(ctx, w)
	}
	return provision.Resolved{}, errors.New("the settings cannot be read")
}

// TestLimitOfARunTakenOver: while its settings cannot be read, a run is not ended by a
// limit that it never had. Its own limit counts once they can be.
func TestLimitOfARunTakenOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, id := crashed(t, core.RunRunning, turn("one"))
		r.launch.Timeout = 8 * time.Hour
		m := mended{r.ports.Provision.(provisioner), new(atomic.Bool)}
		r.ports.Provision = m
		r.pass(2 * time.Hour)
		r.start()
		defer r.quit()
		r.pass(time.Hour)
		if run := r.get(id); run.State != core.RunRunning {
			t.Fatalf("%s %+v", run.State, run.Outcome.Failure)
		}
		m.ok.Store(true)
		r.pass(4 * time.Hour)
		if run := r.get(id); run.State != core.RunRunning {
			t.Fatalf("%s %+v", run.State, run.Outcome.Failure)
		}
		run := r.ended(id, 2*time.Hour)
		if f := run.Outcome.Failure; f == nil || f.Code != core.CodeTimeout || !strings.Contains(f.Cause, "8h0m0s") {
			t.Errorf("%s %+v", run.State, f)
		}
	})
}

// TestRefusedLaunch: no container is made for a CLI that must not be started.
func TestRefusedLaunch(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, plays(goodResult, 0))
		r.launch.Refused = core.Fail(core.CodeInvalid, nil, "No way to call back.", "Set one.")
		r.start()
		defer r.quit()
		run := r.ended(r.prompt("c", "x").ID, time.Hour)
		if run.State != core.RunFailed || run.Outcome.Failure.Cause != "No way to call back." || len(r.boxes.all) != 0 {
			t.Errorf("%s %+v, %d containers", run.State, run.Outcome.Failure, len(r.boxes.all))
		}
	})
}

// TestPiecesOfABatchAreJoined, where one continues another.
func TestPiecesOfABatchAreJoined(t *testing.T) {
	piece := func(block, at int, text string) transcript.Item {
		return transcript.Item{Type: core.EventMessageStreaming, Passing: true, Data: core.MessageStreaming{MsgID: "m", Block: block, Kind: "text", Offset: at, Delta: text}}
	}
	whole := transcript.Item{Type: core.EventNotice, Data: core.Notice{Text: "n"}}
	var b batch
	b.add(parsed{items: []transcript.Item{piece(0, 0, "a"), piece(0, 1, "b")}, end: 2})
	b.add(parsed{items: []transcript.Item{piece(0, 2, "c"), piece(0, 9, "j"), piece(1, 0, "x"), whole, piece(1, 1, "y")}, end: 7})
	want := []transcript.Item{piece(0, 0, "abc"), piece(0, 9, "j"), piece(1, 0, "x"), whole, piece(1, 1, "y")}
	if !reflect.DeepEqual(b.items, want) || b.stored != 1 || b.end != 7 {
		t.Errorf("%d stored to %d: %+v", b.stored, b.end, b.items)
	}
}

func TestOtherTextStays(t *testing.T) {
	h := newSecrets(Launch{APIKey: "type", OAuthToken: "line one\nline two"})
	line := transcript.Line{Data: []byte(`{"type":"x"}`)}
	if got := hiddenLine(h, line); string(got.Data) != string(line.Data) {
		t.Errorf("%s", got.Data)
	}
}
