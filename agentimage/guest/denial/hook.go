//go:build linux

package denial

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

const (
	// maxInput bounds what is understood of a hook's input: a Write has its whole text
	// there. maxDiscard bounds what is taken beyond, so that the CLI can go on.
	maxInput   = 4 << 20
	maxDiscard = 64 << 20
	// recent is how long before the end of a tool call a denial may have been that the
	// call is told of.
	recent = time.Minute
	// maxTold bounds how many denials one tool call is told of.
	maxTold = 5
	// shownFile keeps the number of the last denial that was told, in the spawn's own
	// folder.
	shownFile = "gate-shown"
)

// hookInput is what the hook goes by of what the CLI says. All of it is hostile.
type hookInput struct {
	Event string `json:"hook_event_name"`
	Error string `json:"error"` // of a command, with its output
}

// Hook is “loop gate-reason”, a hook for a tool call of the agent CLI that has failed: it
// adds why the gate denied what the tool was about to do, where it did. policyFile is what
// wire.GatePolicyFile names. It does not fail: where anything is missing it says nothing.
func Hook(in io.Reader, out io.Writer, policyFile string, now time.Time) {
	var said hookInput
	data, _ := io.ReadAll(io.LimitReader(in, maxInput))
	_, _ = io.Copy(io.Discard, io.LimitReader(in, maxDiscard))
	_ = json.Unmarshal(data, &said) // what cannot be read says nothing
	id, ok := strings.CutSuffix(filepath.Base(policyFile), ".json")
	if !ok || !filepath.IsAbs(policyFile) || !wire.ValidID(id) {
		return
	}
	gate := filepath.Dir(policyFile)
	journal, err := readBounded(filepath.Join(gate, id+wire.DeniedSuffix), 2*MaxJournal)
	if err != nil || len(journal) == 0 {
		return
	}
	own := filepath.Join(filepath.Dir(gate), filepath.Base(wire.RunsDir), id)
	news := untold(filepath.Join(own, shownFile), parse(journal), now)
	if text := tell(news, said.Error); text != "" {
		event := "PostToolUseFailure"
		if said.Event == "PostToolUse" {
			event = said.Event
		}
		answer := map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": text}}
		_ = json.NewEncoder(out).Encode(answer)
	}
}

// tell says what is new, and is not in the output of the tool already.
func tell(news []Denial, output string) string {
	var lines []string
	for _, d := range news {
		text := d.Text()
		if !strings.Contains(output, text) && (len(lines) == 0 || lines[len(lines)-1] != text) {
			lines = append(lines, text)
		}
	}
	if more := len(lines) - maxTold; more > 0 {
		lines = append([]string{"Loop's gate denied " + strconv.Itoa(more) + " more calls before these."}, lines[more:]...)
	}
	return strings.Join(lines, "\n")
}

// parse reads the lines of a journal; one that is none is passed over.
func parse(journal []byte) (list []Denial) {
	for text := range bytes.Lines(journal) {
		var d Denial
		if json.Unmarshal(text, &d) == nil && d.Number > 0 && bytes.HasSuffix(text, []byte("\n")) {
			list = append(list, d)
		}
	}
	return list
}

// untold returns the denials of a short while that were not returned before. Hooks of
// tool calls that go on together take turns. Where nothing can be remembered, an agent
// is told twice rather than not at all.
func untold(path string, list []Denial, now time.Time) (news []Denial) {
	last := int64(0)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err == nil {
		defer func() { _ = f.Close() }() // ends the lock
		_ = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		text, _ := io.ReadAll(io.LimitReader(f, 32))
		last, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	}
	highest := last
	for _, d := range list {
		if d.Number > last && now.Sub(time.UnixMilli(d.At)).Abs() < recent {
			news = append(news, d)
		}
		highest = max(highest, d.Number)
	}
	if err == nil && highest > last {
		_, _ = f.WriteAt([]byte(strconv.FormatInt(highest, 10)+"\n"), 0) // never gets shorter
	}
	return news
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > most:
		return nil, errors.New("no record of denials")
	}
	return io.ReadAll(io.LimitReader(f, most))
}
