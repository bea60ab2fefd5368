package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// wishFlags say how a prompt is sent.
type wishFlags struct {
	interrupt, plan, fork, fresh bool
	delay                        time.Duration
	startAt                      string
	session, at                  string
}

func (f *wishFlags) on(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.interrupt, "interrupt", false, "stop the channel's run under way and go before all that waits")
	cmd.Flags().DurationVar(&f.delay, "delay", 0, "start it so much later, e.g. 90s or 2h")
	cmd.Flags().StringVar(&f.startAt, "start-at", "", "start it at a time of day, e.g. 17:30, or on a day, e.g. “2026-03-01 08:00”")
	cmd.Flags().BoolVar(&f.plan, "plan", false, "let the agent plan first and ask for approval; until then it can change nothing of yours")
	cmd.Flags().StringVar(&f.session, "session", "", "id of the conversation to go on with, or to copy with --fork")
	cmd.Flags().BoolVar(&f.fork, "fork", false, "go on with a copy of the conversation")
	cmd.Flags().StringVar(&f.at, "at", "", "with --fork: the message that the copy ends with")
	cmd.Flags().BoolVar(&f.fresh, "fresh", false, "begin a new conversation")
	for _, two := range [][]string{{"interrupt", "delay"}, {"interrupt", "start-at"}, {"delay", "start-at"}} {
		cmd.MarkFlagsMutuallyExclusive(two...)
	}
	cmd.MarkFlagsMutuallyExclusive("fresh", "fork")
	cmd.MarkFlagsMutuallyExclusive("fresh", "session")
}

// wishes is the request without what the run itself says. Loop checks the rest.
func (f wishFlags) wishes(now time.Time) (promptRequest, error) {
	if f.startAt != "" {
		at, err := startTime(f.startAt, now)
		if err != nil {
			return promptRequest{}, err
		}
		f.delay = (at.Sub(now) + time.Second - 1).Truncate(time.Second) // never before that time
	}
	req := promptRequest{Interrupt: f.interrupt, Plan: f.plan, DelaySeconds: int64(f.delay.Seconds())}
	switch {
	case f.delay < 0 || f.delay > 0 && f.delay < time.Second:
		return req, usagef("--delay is a second or more")
	case f.at != "" && !f.fork:
		return req, usagef("--at needs --fork")
	case f.fresh:
		req.Session.Mode = core.SessionFresh
	case f.fork:
		req.Session = core.SessionStart{Mode: core.SessionFork, SessionID: core.SessionID(f.session), At: f.at}
	case f.session != "":
		req.Session = core.SessionStart{Mode: core.SessionResume, SessionID: core.SessionID(f.session)}
	}
	return req, nil
}

// startTime reads when a prompt shall start: a time of the day that is to come
// next, or a day with a time. Without a zone it is this computer's.
func startTime(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, form := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		on := func(days int) time.Time {
			return time.Date(now.Year(), now.Month(), now.Day()+days, clock.Hour(), clock.Minute(), clock.Second(), 0, now.Location())
		}
		if at := on(0); at.After(now) {
			return at, nil
		}
		return on(1), nil
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		at, err := time.ParseInLocation(form, text, now.Location())
		switch {
		case err != nil:
		case !at.After(now):
			return at, usagef("%s is over", at.Format(time.DateTime))
		default:
			return at, nil
		}
	}
	return time.Time{}, usagef("--start-at %q is no time; write 17:30, or 2026-03-01 08:00", oneLine(text, maxLine))
}
