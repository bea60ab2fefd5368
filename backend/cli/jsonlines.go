package cli

import (
	"encoding/json"
	"io"
	"time"

	"loop/backend/core"
)

// jsonLines prints every event of a run as one line of JSON, the result last.
type jsonLines struct{ w io.Writer }

func (j *jsonLines) event(e core.Event) { j.print(e) }

func (*jsonLines) note(string) {}

func (j *jsonLines) waits(run core.Run, why waitingData) {
	j.print(core.NewEvent(runWaiting, run.ChannelID, run.ID, time.Now(), why))
}

func (j *jsonLines) result(run core.Run) {
	j.print(struct {
		Type string `json:"type"`
		core.Run
	}{"result", run})
}

func (j *jsonLines) print(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		// Data that is no JSON cannot have come this far; say so rather than drop the line.
		line, _ = json.Marshal(map[string]string{"type": "run.notice", "error": err.Error()})
	}
	_, _ = j.w.Write(append(cleanJSON(line), '\n'))
}
