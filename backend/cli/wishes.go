package cli

import (
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// wishFlags say how a prompt is sent.
type wishFlags struct {
	interrupt, plan, fork, fresh bool
	delay                        time.Duration
	session, at                  string
}

func (f *wishFlags) on(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.interrupt, "interrupt", false, "stop the channel's run under way and go before all that waits")
	cmd.Flags().DurationVar(&f.delay, "delay", 0, "start it so much later, e.g. 90s or 2h")
	cmd.Flags().BoolVar(&f.plan, "plan", false, "let the agent plan first and ask for approval")
	cmd.Flags().StringVar(&f.session, "session", "", "id of the conversation to go on with, or to copy with --fork")
	cmd.Flags().BoolVar(&f.fork, "fork", false, "go on with a copy of the conversation")
	cmd.Flags().StringVar(&f.at, "at", "", "with --fork: the message that the copy ends with")
	cmd.Flags().BoolVar(&f.fresh, "fresh", false, "begin a new conversation")
	cmd.MarkFlagsMutuallyExclusive("interrupt", "delay")
	cmd.MarkFlagsMutuallyExclusive("fresh", "fork")
	cmd.MarkFlagsMutuallyExclusive("fresh", "session")
}

// wishes is the request without what the run itself says. Loop checks the rest.
func (f wishFlags) wishes() (promptRequest, error) {
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
