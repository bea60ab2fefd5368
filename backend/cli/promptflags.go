package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/demo"
)

// maxPromptBytes bounds a prompt. One call to a running instance may have
// 8 MiB, and JSON can make a byte six.
const maxPromptBytes = 1 << 20

// promptFlags say where a prompt goes and how it is sent.
type promptFlags struct {
	bind.PromptRequest
	dir, channel string
	fork, fresh  bool
	delay        time.Duration
	startAt      string
	session, at  string
	images       []string // files
}

func (f *promptFlags) on(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.dir, "dir", "", "project folder (default: the current one)")
	fs.StringVar(&f.channel, "channel", "", "id or name of a channel, instead of a folder")
	fs.BoolVar(&f.Demo, "demo", false, "use the scripted demo model: no key, no network, no cost")
	fs.StringVar(&f.Script, "script", "", "with --demo: the script to play")
	fs.BoolVar(&f.Interrupt, "interrupt", false, "stop the channel's run under way and go before all that waits")
	fs.DurationVar(&f.delay, "delay", 0, "start it so much later, e.g. 90s or 2h")
	fs.StringVar(&f.startAt, "start-at", "", "start it at a time of day, e.g. 17:30, or on a day, e.g. “2026-03-01 08:00”")
	fs.BoolVar(&f.Plan, "plan", false, "let the agent plan first and ask for approval; until then it can change nothing of yours")
	fs.BoolVar(&f.Unattended, "unattended", false, "nobody is there to answer: what the gate would ask is denied")
	fs.StringArrayVar(&f.images, "image", nil, "picture that goes with the prompt: a PNG, JPEG, GIF or WebP file; may be repeated")
	fs.StringVar(&f.session, "session", "", "id of the conversation to go on with, or to copy with --fork")
	fs.BoolVar(&f.fork, "fork", false, "go on with a copy of the conversation")
	fs.StringVar(&f.at, "at", "", "with --fork: the message that the copy ends with")
	fs.StringVar(&f.Model, "model", "", "model for this prompt alone: opus, sonnet, haiku or a full name")
	fs.StringVar(&f.Effort, "effort", "", "how much the model thinks about this prompt: low, medium, high, xhigh or max")
	fs.BoolVar(&f.fresh, "fresh", false, "begin a new conversation")
	cmd.MarkFlagsMutuallyExclusive("dir", "channel")
	cmd.MarkFlagsMutuallyExclusive("interrupt", "delay", "start-at")
	cmd.MarkFlagsMutuallyExclusive("fresh", "fork")
	cmd.MarkFlagsMutuallyExclusive("fresh", "session")
}

// letter is the request that the flags and arguments make, without its channel.
// dir is the folder where no channel is named.
func (a *app) letter(cmd *cobra.Command, f promptFlags, args []string) (req bind.PromptRequest, dir string, err error) {
	if err = checkScript(f.Script, f.Demo); err != nil {
		return req, "", err
	}
	if req, err = f.request(a.now()); err != nil {
		return req, "", err
	}
	if req.Prompt, err = a.prompt(args); err != nil {
		return req, "", err
	}
	if !cmd.Flags().Changed("channel") {
		dir, err = projectDir(f.dir, cmd.Flags().Changed("dir"))
	} else if f.channel == "" {
		err = usagef("--channel is empty")
	}
	return req, dir, err
}

// request is how the prompt is sent. Loop checks the rest.
func (f promptFlags) request(now time.Time) (bind.PromptRequest, error) {
	req := f.PromptRequest
	if f.startAt != "" {
		at, err := startTime(f.startAt, now)
		if err != nil {
			return req, err
		}
		f.delay = (at.Sub(now) + time.Second - 1).Truncate(time.Second) // never before that time
	}
	req.ClientID, req.DelaySeconds = core.NewID(), int64(f.delay.Seconds())
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
	for _, form := range []string{
		"15:04", "15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339,
	} {
		at, err := time.ParseInLocation(form, text, now.Location())
		if err != nil {
			continue
		}
		if at.Year() == 0 { // a time of day
			hour, minute, second := at.Clock()
			at = time.Date(now.Year(), now.Month(), now.Day(), hour, minute, second, 0, now.Location())
			if !at.After(now) {
				at = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, second, 0, now.Location()) // at was moved if today lacks that time
			}
		}
		if !at.After(now) {
			return at, usagef("%s is over", at.Format(time.DateTime))
		}
		return at, nil
	}
	return time.Time{}, usagef("--start-at %q is no time; write 17:30, or 2026-03-01 08:00", oneLine(text, maxLine))
}

func checkScript(script string, isDemo bool) error {
	if script == "" {
		return nil
	}
	if !isDemo {
		return usagef("--script needs --demo")
	}
	if lib := demo.Builtin(); lib[script] == nil {
		return usagef("there is no script %q; there are %s", script, strings.Join(lib.Names(), ", "))
	}
	return nil
}

// prompt takes the arguments, or standard input for “-” and for no argument.
func (a *app) prompt(args []string) (string, error) {
	if len(args) == 0 && isTerminal(a.in) {
		return "", usagef("the text is missing; give it as an argument, or - to read it from standard input")
	}
	if len(args) == 0 || (len(args) == 1 && args[0] == "-") {
		return readPrompt(a.in)
	}
	return checkedPrompt(strings.Join(args, " "))
}

func readPrompt(from io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxPromptBytes+1024))
	if err != nil {
		return "", fmt.Errorf("read prompt: %w", err)
	}
	return checkedPrompt(string(data))
}

// checkedPrompt refuses what is no prompt.
func checkedPrompt(text string) (string, error) {
	return strings.TrimSpace(text), core.CheckText("prompt", text, maxPromptBytes)
}

// projectDir makes the folder absolute. Loop checks it when it adds the channel.
func projectDir(dir string, given bool) (string, error) {
	if given && dir == "" {
		return "", usagef("--dir is empty")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", core.Fail(core.CodeDir, err, "The current folder no longer exists.", "Change to another folder, or name one with --dir.")
	}
	return abs, nil
}

// channelFor finds or makes the channel of a prompt.
func (a *app) channelFor(ctx context.Context, c Core, f promptFlags, dir string) (core.ChannelID, error) {
	if dir == "" {
		return findChannel(ctx, c, f.channel)
	}
	ch, err := call[core.Channel](ctx, c, "Channels.Add", dir, "")
	if failedAs(err, core.CodeDir) && f.Demo && f.dir == "" {
		// A newcomer's shell is often in the home folder, which is no project.
		if ch, err = call[core.Channel](ctx, c, "Channels.Demo"); err == nil {
			a.err.line("The current folder cannot be a project, so the demo works in %s.", ch.Dir)
		}
	}
	return ch.ID, err
}

func findChannel(ctx context.Context, c Core, want string) (core.ChannelID, error) {
	list, err := call[[]channelView](ctx, c, "Channels.List")
	if err != nil {
		return "", err
	}
	var named []core.ChannelID
	for _, ch := range list {
		if string(ch.ID) == want {
			return ch.ID, nil
		}
		if ch.Name == want {
			named = append(named, ch.ID)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return "", core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no channel %q.", want), "Run “loop channels” to see them.")
	}
	return "", core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d channels are called %q.", len(named), want),
		"Use the id that “loop channels” shows.")
}

// attach hands the pictures of the flags over to Loop.
func (f promptFlags) attach(ctx context.Context, c Core, channel core.ChannelID) (all []core.Attachment, err error) {
	for _, name := range f.images {
		data, err := readPicture(name)
		if err != nil {
			return nil, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The picture %q cannot be attached: %v.", name, err),
				fmt.Sprintf("Name a PNG, JPEG, GIF or WebP file of at most %.2f MB.", core.MaxAttachmentBytes/1e6))
		}
		a, err := call[core.Attachment](ctx, c, "Files.Attach", channel, filepath.Base(name), data)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// readPicture reads one byte more than Loop takes, which then says so.
func readPicture(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, core.MaxAttachmentBytes+1))
}
