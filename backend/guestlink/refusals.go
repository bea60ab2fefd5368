package guestlink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// protocolError is a guest of another version.
type protocolError struct{ theirs int }

func (e *protocolError) Error() string {
	return fmt.Sprintf("the container speaks protocol %d, this Loop speaks %d", e.theirs, wire.Protocol)
}

// maxStderr bounds what is shown of loop link's stderr.
const maxStderr = 2000

func stderrOf(stream any) string {
	s, ok := stream.(interface{ Stderr() string })
	if !ok {
		return ""
	}
	t := strings.TrimSpace(strings.ToValidUTF8(s.Stderr(), "\uFFFD"))
	if len(t) > maxStderr {
		t = strings.ToValidUTF8(t[len(t)-maxStderr:], "")
	}
	return t
}

func dialFailure(err error) error {
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code != core.CodeInternal {
		return f // the engine knows better: it is gone, or refuses
	}
	if errors.Is(err, core.ErrNotRunning) || errors.Is(err, core.ErrNotFound) {
		return core.Fail(core.CodeNoLink, err, "The container is not running, so Loop could not link to it.",
			"Look at the container's log, then run the prompt again.")
	}
	return core.Fail(core.CodeNoLink, err, "Loop could not start its link process in the container.",
		"Run “loop doctor”; it tries the same steps one by one.")
}

func helloFailure(err error, stderr string, waited time.Duration) error {
	if p, ok := errors.AsType[*protocolError](err); ok {
		return core.Fail(core.CodeNoLink, p, "The container was made by another version of Loop and speaks another protocol.",
			"Remove the container; the next run makes a new one.")
	}
	cause := "The container's loop init did not answer."
	remedy := "Look at the container's log and run “loop doctor”."
	switch {
	case stderr != "":
		cause = "The link process in the container ended: " + lastLine(stderr)
		err = fmt.Errorf("%w: %s", err, stderr)
	case errors.Is(err, context.DeadlineExceeded):
		cause = fmt.Sprintf("The container's loop init did not say hello within %s.", waited)
	case errors.Is(err, io.EOF):
		cause = "The container ended before its loop init said hello."
	}
	return core.Fail(core.CodeNoLink, err, cause, remedy)
}

func lastLine(s string) string {
	s = strings.TrimPrefix(s[strings.LastIndexByte(s, '\n')+1:], "loop link: ")
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// agentCLI is the program that runs start.
const agentCLI = "claude"

// noProgram says how a program gets into a container. Where the root cannot be
// written there are three ways: the image's own parts, the agent's home, another image.
func noProgram(err error, name string) error {
	if name == agentCLI {
		return core.Fail(core.CodeNotFound, err, "The container's image has no Claude Code: there is no program called "+name+" in it.",
			"Make the image from one of Loop's (FROM loop-agent:latest or openclaw-sandbox:bookworm-slim), or name one of those in the settings.")
	}
	return core.Fail(core.CodeNotFound, err, "The container has no program called "+name+", or not its interpreter.",
		"Add it with image_tools in the settings, put it into ~/.local/bin, or name an image that has it with container_image.")
}

// readable are the refusals in the words of people: the cause, and what helps.
var readable = map[wire.ErrCode]struct {
	code          core.Code
	cause, remedy string // … is the guest's own text, without the full stop it may end in
}{
	wire.CodeNotExec: {core.CodeInvalid, "The program cannot be executed in the container.",
		"Check the file's permissions and that it is built for the container's system."},
	wire.CodeBadDir: {core.CodeDir, "The working directory cannot be entered inside the container.",
		"Check that the directory still exists and may be read."},
	wire.CodeDiskFull: {core.CodeDiskFull, "There is no room for the run's files.",
		"Make room on the disk that holds the Loop folder, then try again."},
	wire.CodeLimit: {core.CodeConflict, "The container can start no more: ….",
		"Stop what runs in it, or raise its limit, then try again."},
	wire.CodePrivileges: {core.CodeInternal, "The program was not started because its privileges could not be taken away.",
		"Run “loop doctor” and report what it says."},
	wire.CodePolicy: {core.CodeInvalid, "The policy of the gate cannot be used: ….",
		"Correct the gate's rules in the settings, then try again."},
	wire.CodeDenied: {core.CodeForbidden, "The gate did not let the program start: ….",
		"Allow it when Loop asks, or change the gate's command rules in the settings."},
	wire.CodeGate: {core.CodeForbidden, "The gate cannot hold the program: ….",
		"Run “loop doctor”; it tries the gate in a container and says what is missing. " +
			"To let agents act without the gate, set gates.agentgate.enabled to false in your own settings."},
	wire.CodeInvalid:  {core.CodeInvalid, "The container refused the request: ….", ""},
	wire.CodeProtocol: {core.CodeInvalid, "The container refused the request: ….", ""},
}

// refused turns the guest's refusal into what callers test for and people read.
func refused(e *wire.Error) error {
	switch e.Code {
	case wire.CodeNotFound:
		return fmt.Errorf("%w: %w", core.ErrNotFound, e)
	case wire.CodeConflict:
		return fmt.Errorf("%w: %w", core.ErrConflict, e)
	case wire.CodeEnded:
		return fmt.Errorf("%w: %w", core.ErrNotRunning, e)
	case wire.CodeNoProgram:
		return noProgram(e, "this name")
	}
	if f, ok := readable[e.Code]; ok {
		return core.Fail(f.code, e, strings.Replace(f.cause, "…", strings.TrimRight(e.Text, ". "), 1), f.remedy)
	}
	return e
}
