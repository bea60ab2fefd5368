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

// waiting is one prompt that waits, as it was found.
type waiting struct {
	core.Run
	channel string // its channel's name
	name    string // the beginning of its id, for people
	place   int    // from 1
	queue   []core.Run
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

// waiting reads what waits in the channel that the flags name, or in all there are.
func (f *queueFlags) waiting(ctx context.Context, c Core) (found []waiting, err error) {
	var id core.ChannelID
	if !f.all {
		if id, err = f.channelFlags.find(ctx, c); err != nil {
			return nil, err
		}
	}
	list, err := call[[]channelView](ctx, c, "Channels.List")
	if err != nil {
		return nil, err
	}
	for _, ch := range list {
		if ch.Queued == 0 || !f.all && ch.ID != id {
			continue
		}
		runs, err := queueOf(ctx, c, ch.ID)
		if err != nil && !failedAs(err, core.CodeNotFound) { // a channel may be removed meanwhile
			return nil, err
		}
		for i, r := range runs {
			found = append(found, waiting{Run: r, channel: ch.Name, name: short(r, runs), place: i + 1, queue: runs})
		}
	}
	return found, nil
}

// find returns the prompts that are named. An id is looked for everywhere unless
// a channel is given; a place is one of the folder's channel.
func (f *queueFlags) find(ctx context.Context, c Core, wants []string) (found []waiting, err error) {
	read := map[bool][]waiting{} // by whether they are all
	for _, want := range wants {
		// Ids that Loop makes are random, so that three digits are the beginning of none.
		_, err := strconv.ParseUint(want, 10, 31)
		place := err == nil && len(want) <= 3
		look := queueFlags{channelFlags: f.channelFlags, all: !place && f.channelFlags == channelFlags{}}
		all, ok := read[look.all]
		if !ok {
			if all, err = look.waiting(ctx, c); err != nil {
				return nil, err
			}
			read[look.all] = all
		}
		w, err := match(all, want, place)
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

func match(all []waiting, want string, place bool) (waiting, error) {
	var hits []waiting
	n, _ := strconv.Atoi(want) // 0 is no place
	for _, w := range all {
		if string(w.ID) == want {
			return w, nil
		}
		if place && w.place == n || !place && strings.HasPrefix(string(w.ID), want) {
			hits = append(hits, w)
		}
	}
	switch {
	case len(hits) == 1:
		return hits[0], nil
	case len(hits) > 1:
		return waiting{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d prompts that wait have an id that begins with %q.", len(hits), want),
			"Give more of it; “loop queue --all --json” shows the whole ids.")
	case place:
		return waiting{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no place %s in this queue; %s.", want, howMany(len(all))),
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

func queueRows(found []waiting, all bool, now time.Time) [][]string {
	rows := [][]string{{"CHANNEL", "PLACE", "PROMPT", "STARTS", "FROM", "TEXT"}}
	for _, w := range found {
		from, ok := triggers[w.Trigger]
		if !ok {
			from = w.Trigger
		}
		starts, _ := waitWords(w.WaitsFor, now)
		rows = append(rows, []string{oneLine(w.channel, 30), strconv.Itoa(w.place), w.name, starts, from, oneLine(w.Prompt, 80)})
	}
	if !all {
		for i := range rows {
			rows[i] = rows[i][1:]
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
