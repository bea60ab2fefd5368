package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/client"

	"loop/backend/core"
)

// isDenied reports that something is there but refuses this user.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission)
}

// isAbsent reports that nothing listens at the place.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ENOTSOCK) || errors.Is(err, syscall.ENOTDIR)
}

// reason puts a failed attempt in words.
func reason(err error) string {
	var ne net.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such socket"
	case isDenied(err):
		return "permission denied"
	case errors.Is(err, syscall.ECONNREFUSED), client.IsErrConnectionFailed(err) && !errors.As(err, &ne):
		return "nothing listens there"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return fmt.Sprintf("no answer in %s", tryTimeout)
	}
	return strings.TrimSuffix(err.Error(), ".")
}

// isLost reports that the engine went away, before or during the call.
func isLost(err error) bool {
	return client.IsErrConnectionFailed(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ENOENT) || errors.Is(err, net.ErrClosed)
}

// failed maps an engine error. step completes “could not …”. Sentinels of core
// stay visible to errors.Is; what a person can act on becomes a core.Failure.
func failed(step string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*core.Failure](err); ok {
		return f
	}
	msg := err.Error()
	in := fmt.Errorf("%s: %w", step, err)
	switch {
	case errors.Is(err, context.Canceled):
		return in
	case errors.Is(err, context.DeadlineExceeded):
		return core.Fail(core.CodeEngineLost, in,
			"The container engine takes connections but does not answer in time.", "Wait if it is busy; if it stays so, restart the engine.")
	case isDenied(err):
		return core.Fail(core.CodeEngineDenied, in, "The container engine refuses this user.",
			"Add yourself to the docker group (“sudo usermod -aG docker $USER”), then sign out and in again.")
	case strings.Contains(msg, "no space left on device"):
		return core.Fail(core.CodeDiskFull, in, "The container engine's disk is full.",
			"Free space where the engine keeps its data, for example with “docker system df” and “docker image prune”.")
	case strings.Contains(msg, "is not running"):
		return fmt.Errorf("%s: %w: %w", step, core.ErrNotRunning, err)
	case strings.Contains(msg, "bind source path does not exist"), strings.Contains(msg, "invalid mount config"):
		return core.Fail(core.CodeMount, in,
			"A mount of the container is not possible: "+strings.TrimSuffix(msg[max(0, strings.LastIndex(msg, "bind source path")):], ".")+".",
			"Check that the directory still exists and is visible to the engine.")
	case noNetwork.MatchString(msg):
		return core.Fail(core.CodeConfig, in,
			"The container engine has no network “"+noNetwork.FindStringSubmatch(msg)[1]+"”.",
			"Make it with “docker network create”, or set container_network to “bridge” or “none”.")
	case cerrdefs.IsNotFound(err):
		return fmt.Errorf("%s: %w: %w", step, core.ErrNotFound, err)
	case cerrdefs.IsConflict(err), strings.Contains(msg, "is not paused"):
		return fmt.Errorf("%s: %w: %w", step, core.ErrConflict, err)
	case isLost(err):
		return core.Fail(core.CodeEngineLost, in,
			"The connection to the container engine was lost.", "Check that the engine is running, then try again.")
	}
	return core.Fail(core.CodeInternal, in, "The container engine could not "+step+".",
		"The detail holds the engine's own words; “loop doctor” checks the engine.")
}

// noNetwork is how the engine says at a start that the container's network is none.
var noNetwork = regexp.MustCompile(`network (\S+) not found`)

// noImage is the failure of an absent image.
func noImage(step, ref string, err error) error {
	return core.Fail(core.CodeNoImage, fmt.Errorf("%s: %w: %w", step, core.ErrNoImage, err), "The image "+ref+" is not there.",
		"If it is Loop's own, build it with the build button in the window or with “loop image build”; if not, pull it.")
}
