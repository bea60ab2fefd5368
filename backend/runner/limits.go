package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loop/backend/backoff"
	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// TriggerContinue and TriggerAnswer are what Run.Trigger says of runs that the
// runner itself queued.
const (
	TriggerContinue = "continue"
	TriggerAnswer   = "answer"
)

const (
	continuePrompt = "Continue from where you left off. You were stopped by a usage limit, which has been reset."
	// resetSlack is for clocks that do not agree.
	resetSlack = time.Minute
	// resetMost is how far off a reset may be: a session limit's window has five
	// hours, and a text from a container must not queue something for next year.
	resetMost = 24 * time.Hour
	// againAfter bounds a run that goes on and meets the limit at once: only a
	// window that is really another one is waited for again.
	againAfter = 10 * time.Minute
)

// limitWords knows the CLI's words for a used-up plan; low is in lower case.
func limitWords(low string) bool {
	for _, s := range []string{"usage limit", "session limit", "weekly limit", "5-hour limit", "hit your limit", "reached your limit", "limit reached"} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

var (
	resetEpoch = regexp.MustCompile(`limit reached\|(\d{9,11})`)
	resetClock = regexp.MustCompile(`resets (?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: ?\(([a-z0-9_+/-]{1,40})\))?`)
)

// sessionReset says when a session limit that ended a try is reset. ok is false
// for another limit, and when it is not known.
func sessionReset(text string, l *transcript.Limit, now time.Time) (at time.Time, ok bool) {
	low := strings.ToLower(text)
	if !limitWords(low) || strings.Contains(low, "weekly") || l != nil && strings.HasPrefix(l.Type, "seven_day") && l.Status == "rejected" {
		return at, false
	}
	switch {
	case l != nil && l.Status == "rejected" && !l.ResetsAt.IsZero():
		at = l.ResetsAt
	default:
		if m := resetEpoch.FindStringSubmatch(low); m != nil {
			sec, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				return at, false
			}
			at = time.Unix(sec, 0)
			break
		}
		m := resetClock.FindStringSubmatch(low)
		if m == nil {
			return at, false
		}
		if at, ok = nextClock(m, now); !ok {
			return at, false
		}
	}
	if at.Before(now) {
		at = now
	}
	return at.Add(resetSlack), at.Sub(now) <= resetMost
}

// nextClock is the next moment at which a clock shows what “resets 3pm (Zone)” says.
func nextClock(m []string, now time.Time) (time.Time, bool) {
	hour, err := strconv.Atoi(m[1])
	minute := 0
	if err == nil && m[2] != "" {
		minute, err = strconv.Atoi(m[2])
	}
	switch {
	case err != nil, hour > 23, minute > 59, m[3] != "" && (hour < 1 || hour > 12):
		return time.Time{}, false
	case m[3] == "am":
		hour %= 12
	case m[3] == "pm":
		hour = hour%12 + 12
	}
	zone := now.Location()
	if m[4] != "" {
		for _, name := range []string{zoneName(m[4]), strings.ToUpper(m[4])} {
			if z, err := time.LoadLocation(name); err == nil {
				zone = z
				break
			}
		}
	}
	y, mo, d := now.In(zone).Date()
	at := time.Date(y, mo, d, hour, minute, 0, 0, zone)
	if at.Before(now) {
		at = time.Date(y, mo, d+1, hour, minute, 0, 0, zone)
	}
	return at, true
}

// zoneName writes europe/berlin as the zone files are called.
func zoneName(low string) string {
	b := []byte(low)
	for i := range b {
		if (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// goOnLater queues the run that goes on after a session limit, when that was
// asked for. It comes before the run's end is stored: a crash in between finds
// the same run queued already, because its id follows from this one's. It tries
// for as long as Loop is open, as storing the end does; false says that Loop is
// closing first.
func (w *work) goOnLater(ctx context.Context) bool {
	cont, ok := w.later()
	if !ok {
		return true
	}
	pause := backoff.Backoff{First: 250 * time.Millisecond, Most: 10 * time.Second}
	for {
		once, cancel := context.WithTimeout(context.WithoutCancel(ctx), concludeWait)
		_, err := w.s.enqueueAs(once, cont)
		cancel()
		if err == nil {
			break
		}
		w.log.Error("queue the run that goes on after the limit", "error", err)
		if refusedForGood(err) {
			return true
		}
		if !pause.Wait(ctx) {
			return false
		}
	}
	w.run.Outcome.Failure.Remedy = fmt.Sprintf("Loop goes on by itself at %s, if it is running then; the waiting prompt is in the queue.", cont.NotBefore.In(w.s.o.Now().Location()).Format("15:04"))
	return true
}

// later is the run that goes on after a session limit; ok is false when there is none.
func (w *work) later() (cont core.Run, ok bool) {
	r := w.parser.Result()
	if w.run.State != core.RunFailed || !w.launch.Retry.SessionLimitContinue || r == nil || w.run.Outcome.Failure.Code != core.CodeModelLimit {
		return cont, false
	}
	now := w.s.o.Now()
	at, ok := sessionReset(r.Text+"\n"+strings.Join(r.Errors, "\n"), w.parser.Limit(), now)
	if !ok || w.run.Trigger == TriggerContinue && at.Sub(now) < againAfter {
		return cont, false
	}
	cont = core.Run{
		ID: laterID(w.run.ID), ChannelID: w.run.ChannelID, Prompt: w.run.Prompt, AuthorID: w.run.AuthorID,
		Demo: w.run.Demo, Script: w.run.Script, Plan: w.run.Plan, Session: w.run.Session, Trigger: TriggerContinue,
		NotBefore: at, Delay: at.Sub(now),
	}
	if sid := w.parser.Session(); validSession(sid) {
		cont.Session, cont.Prompt = core.SessionStart{Mode: core.SessionResume, SessionID: sid}, continuePrompt
	}
	return cont, true
}

func laterID(id core.RunID) core.RunID {
	h := sha256.Sum256([]byte("continue " + string(id)))
	return core.RunID(hex.EncodeToString(h[:16]))
}
