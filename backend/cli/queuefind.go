package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loop/backend/bind"
	"loop/backend/core"
)

// queueFlags choose the queues that a command is about.
type queueFlags struct {
	channelFlags
	all bool
}

// queue is what waits in one channel.
type queue struct {
	channel string // its name, where all are looked at
	runs    []core.Run
}

// waiting is one prompt that waits, as it was found.
type waiting struct {
	core.Run
	name  string // the beginning of its id, for people
	place int    // from 1
	queue []core.Run
}

// late explains why a change was refused: err, unless the prompt does not wait any
// more.
func (w waiting) late(j *job, err error) error {
	if !failedAs(err, core.CodeConflict, core.CodeNotFound) {
		return err
	}
	if queue, qerr := queueOf(j.ctx, j, w.ChannelID); qerr == nil && placeOf(queue, w.ID) > 0 {
		return err
	}
	return w.gone()
}

func (w waiting) gone() error {
	return core.Fail(core.CodeConflict, nil, fmt.Sprintf("Prompt %s has been started or taken out of the queue meanwhile.", w.name),
		"Nothing was changed. “loop queue” shows what waits.")
}

// queueOf reads what waits in a channel.
func queueOf(ctx context.Context, c Core, id core.ChannelID) ([]core.Run, error) {
	page, err := call[bind.TimelinePage](ctx, c, "Channels.Timeline", id, 0, 1)
	return page.Queue, err
}

// queues reads the queue of the channel that the flags name, or all there are.
func (f *queueFlags) queues(ctx context.Context, c Core) ([]queue, error) {
	if !f.all {
		id, err := f.channelFlags.find(ctx, c)
		if err != nil {
			return nil, err
		}
		runs, err := queueOf(ctx, c, id)
		return []queue{{"", runs}}, err
	}
	list, err := call[[]channelView](ctx, c, "Channels.List")
	if err != nil {
		return nil, err
	}
	var out []queue
	for _, ch := range list {
		if ch.Queued == 0 {
			continue
		}
		runs, err := queueOf(ctx, c, ch.ID)
		if err != nil && !failedAs(err, core.CodeNotFound) { // a channel may be removed meanwhile
			return nil, err
		}
		out = append(out, queue{ch.Name, runs})
	}
	return out, nil
}

// find returns the prompts that are named. An id is looked for everywhere unless
// a channel is given; a place is one of the folder's channel.
func (f *queueFlags) find(ctx context.Context, c Core, wants []string) (found []waiting, err error) {
	read := map[bool][]queue{} // by whether they are all
	for _, want := range wants {
		place := isPlace(want)
		look := queueFlags{channelFlags: f.channelFlags, all: !place && f.channelFlags == channelFlags{}}
		queues, ok := read[look.all]
		if !ok {
			if queues, err = look.queues(ctx, c); err != nil {
				return nil, err
			}
			read[look.all] = queues
		}
		w, err := match(queues, want, place)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(other waiting) bool { return other.ID == w.ID }) {
			return nil, usagef("prompt %s is named twice", w.name)
		}
		found = append(found, w)
	}
	return found, nil
}

// isPlace tells a place from the beginning of an id: those that Loop makes are
// random, so that three digits name none.
func isPlace(want string) bool {
	_, err := strconv.ParseUint(want, 10, 31)
	return err == nil && len(want) <= 3
}

func match(queues []queue, want string, place bool) (waiting, error) {
	var hits []waiting
	total := 0
	for _, q := range queues {
		for i, r := range q.runs {
			total++
			w := waiting{Run: r, name: short(r, q.runs), place: i + 1, queue: q.runs}
			if string(r.ID) == want {
				return w, nil
			}
			if n, err := strconv.Atoi(want); place && err == nil && n == i+1 || !place && strings.HasPrefix(string(r.ID), want) {
				hits = append(hits, w)
			}
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) > 1:
		return waiting{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d prompts that wait have an id that begins with %q.", len(hits), want),
			"Give more of it; “loop queue --all --json” shows the whole ids.")
	case place:
		return waiting{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no place %s in this queue; %s.", want, howMany(total)),
			"“loop queue” shows what waits.")
	}
	return waiting{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("No prompt that waits has an id that begins with %q.",
		oneLine(want, maxLine)), "It may have been started or removed. “loop queue --all” shows what waits.")
}

func howMany(n int) string {
	switch n {
	case 0:
		return "nothing waits"
	case 1:
		return "1 prompt waits"
	}
	return fmt.Sprintf("%d prompts wait", n)
}

// shortest is how much of an id is shown at least.
const shortest = 6

// short is the beginning of a run's id, as much of it as no other has.
func short(run core.Run, among []core.Run) string {
	id := string(run.ID)
	for n := shortest; n < len(id); n++ {
		shared := func(r core.Run) bool { return r.ID != run.ID && strings.HasPrefix(string(r.ID), id[:n]) }
		if !slices.ContainsFunc(among, shared) {
			return id[:n]
		}
	}
	return id
}

// placeOf is a run's place in a queue, from 1; 0 when it is not there.
func placeOf(queue []core.Run, id core.RunID) int {
	return 1 + slices.IndexFunc(queue, func(r core.Run) bool { return r.ID == id })
}

// placeFrom reads where a prompt shall go.
func placeFrom(text string, place, of int) (int, error) {
	switch text {
	case "first":
		return 1, nil
	case "last":
		return of, nil
	case "up":
		return max(place-1, 1), nil
	case "down":
		return min(place+1, of), nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, usagef("%q is no place: give a number, or first, last, up or down", oneLine(text, maxLine))
	}
	if n < 1 || int(n) > of {
		return 0, usagef("there is no place %d in this queue; %s", n, howMany(of))
	}
	return int(n), nil
}

// triggers say who queued a prompt.
var triggers = map[string]string{"": "you", "agent": "an agent", "answer": "your answer", "continue": "goes on by itself"}

func queueRows(queues []queue, all bool, now time.Time) [][]string {
	head := []string{"PLACE", "PROMPT", "STARTS", "FROM", "TEXT"}
	if all {
		head = append([]string{"CHANNEL"}, head...)
	}
	rows := [][]string{head}
	for _, q := range queues {
		for i, r := range q.runs {
			from, ok := triggers[r.Trigger]
			if !ok {
				from = r.Trigger
			}
			starts, _ := waitWords(r.WaitsFor, now)
			row := []string{strconv.Itoa(i + 1), short(r, q.runs), starts, from, oneLine(r.Prompt, 80)}
			if all {
				row = append([]string{oneLine(q.channel, 30)}, row...)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// moment is a time that is to come, for people. Seconds count while it is near.
func moment(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	switch {
	case at.Sub(now) < 10*time.Minute:
		return "at " + at.Format(time.TimeOnly)
	case at.YearDay() == now.YearDay() && at.Year() == now.Year():
		return "at " + at.Format("15:04")
	}
	return "on " + at.Format("2006-01-02 at 15:04")
}
