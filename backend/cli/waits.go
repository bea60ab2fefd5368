package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"loop/backend/core"
)

// waitWords say when a prompt begins: cell in a table, sentence with what to do
// where that is up to the person. sentence is empty when nothing keeps the prompt.
func waitWords(w core.Wait, now time.Time) (cell, sentence string) {
	cell, later, until := "after your answer", "", w.Until.Local().Format(time.TimeOnly)
	if !w.Until.IsZero() {
		cell = moment(w.Until, now) + ", after your answer"
		later = ", and starts " + moment(w.Until, now) + " at the earliest"
	}
	switch w.Reason {
	case core.WaitQuestion:
		return cell, fmt.Sprintf("This prompt waits for your answer to the agent's question%s. Answer it with: %s", later, answerCommand(w))
	case core.WaitPlan:
		return cell, fmt.Sprintf("This prompt waits for your word on the agent's plan%s. Give it with: %s", later, answerCommand(w))
	case core.WaitHeld:
		return "held until " + until, fmt.Sprintf("This prompt is held until %s. “loop queue release” ends that.", until)
	case core.WaitDelayed:
		return moment(w.Until, now), "Starts " + moment(w.Until, now) + "."
	case core.WaitBehind:
		others := fmt.Sprintf("%d others", w.Ahead)
		if w.Ahead == 1 {
			others = "1 other"
		}
		return "after " + others, fmt.Sprintf("This prompt waits behind %s of its channel. “loop queue” shows them.", others)
	case core.WaitRun:
		return "next", "This prompt waits for the end of its channel's run under way."
	case core.WaitLimit:
		return "when another run ends", "This prompt waits for the end of a run in another channel: as many are under way as may be at once."
	}
	return "next", ""
}

func answerCommand(w core.Wait) string {
	return "loop answer --question " + oneLine(w.QuestionID, maxLine)
}

// runWaiting is the type of a line that “loop run --json” adds to the events.
const runWaiting core.EventType = "run.waiting"

// waitingData is its data: what the prompt waits for, also in words.
type waitingData struct {
	core.Wait
	Text string `json:"text"`
}

// sayWait tells what the queued run waits for, unless that was said already.
func (f *follower) sayWait(run core.Run) {
	w := run.WaitsFor
	same := w.Reason == f.said.Reason && w.QuestionID == f.said.QuestionID
	f.said = w
	if _, text := waitWords(w, f.app.now()); text != "" && !same {
		f.sink.waits(run, waitingData{w, text})
	}
}

// changesWaits are the events of a channel after which its prompts may wait for
// something else.
var changesWaits = []core.EventType{
	core.EventQueueChanged, core.EventStatus, core.EventAskUser, core.EventExitPlan, core.EventAskResolved, core.EventPlanResolved,
}

// lookWhy asks what the run waits for now. A Loop that does not answer is noticed
// by watch.
func (f *follower) lookWhy(ctx context.Context) {
	queue, err := queueOf(ctx, f.core, f.run.ChannelID)
	if i := slices.IndexFunc(queue, func(r core.Run) bool { return r.ID == f.run.ID }); err == nil && i >= 0 {
		f.sayWait(queue[i])
	}
}
