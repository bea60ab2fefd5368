package filebridge

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/wire"
)

// Reasons not to do something with a file, of this computer and of a container alike.
var (
	errNoFolder  = errors.New("not a folder")
	errNoFile    = errors.New("not an ordinary file")
	errNotEmpty  = errors.New("the folder is not empty")
	errReadOnly  = errors.New("read-only")
	errChanged   = errors.New("changed meanwhile")
	errTooLarge  = errors.New("too large")
	errNoSpace   = errors.New("no space left")
	errLinks     = errors.New("too many links")
	errOtherDisk = errors.New("on another file system")
	errTwin      = errors.New("a mount's name, written in another way")
	errMoved     = errors.New("a link in the place of what is mounted")
	errMounted   = errors.New("something is mounted there")
	errInItself  = errors.New("a folder into itself")
)

var guestFaults = map[string]error{
	wire.FaultMissing: fs.ErrNotExist, wire.FaultThere: fs.ErrExist, wire.FaultNoFolder: errNoFolder, wire.FaultNoFile: errNoFile,
	wire.FaultDenied: fs.ErrPermission, wire.FaultNotEmpty: errNotEmpty, wire.FaultReadOnly: errReadOnly, wire.FaultChanged: errChanged,
	wire.FaultTooLarge: errTooLarge, wire.FaultNoSpace: errNoSpace, wire.FaultLinks: errLinks, wire.FaultOtherDisk: errOtherDisk,
}

// sentences say what is wrong with “%s”, and what to do.
var sentences = []struct {
	is           error
	code         core.Code
	text, remedy string
}{
	{errChanged, core.CodeConflict, "%s has changed since it was read.", "Read it again, then try once more."},
	{atomicfile.ErrNotRegular, core.CodeInvalid, "%s is no ordinary file.", "Look at it in a terminal."},
	{errNoFile, core.CodeInvalid, "%s is no ordinary file.", "Look at it in a terminal."},
	{errNoFolder, core.CodeInvalid, "%s is no folder, or goes on below a file.", "List the folder above it to see what is there."},
	{errNotEmpty, core.CodeConflict, "The folder %s is not empty.", "Say that all that is in it goes, too; or remove that first."},
	{errReadOnly, core.CodeForbidden, "The container may only read %s.", "Change it on this computer, or have it mounted for writing."},
	{errTooLarge, core.CodeInvalid, "%s is larger than 8 MiB.", "Change it in a terminal."},
	{errNoSpace, core.CodeDiskFull, "The disk is full, so %s stays as it was.", "Make room, then try again."},
	{errLinks, core.CodeInvalid, "%s goes through too many links.", "Look at the links in a terminal."},
	{errOtherDisk, core.CodeInvalid, "%s and its new name are not on the same mount.", "Copy it in a terminal, then remove the first."},
	{errTwin, core.CodeForbidden, "%s is another way to write the name of something mounted.", "Use the name as it is mounted."},
	{errMoved, core.CodeForbidden, "What is mounted at %s was moved or replaced by a link since.",
		"Look at the folder on this computer, and put it back; then try again."},
	{errMounted, core.CodeForbidden, "%s is mounted, or something in it is.", "Change “mounts” in the settings instead."},
	{errInItself, core.CodeInvalid, "%s cannot be moved into itself.", "Choose another folder."},
	{fs.ErrNotExist, core.CodeNotFound, "%s is not there.", "It may have been moved, or be meant from another folder."},
	{fs.ErrExist, core.CodeConflict, "%s is there already.", "Choose another name, or read it before you change it."},
	{fs.ErrPermission, core.CodeDir, "You may not do this with %s.", "Change its permissions, or those of its folder."},
}

// said turns a reason into a sentence about a path. A failure is one already.
func said(at string, err error) error {
	if _, ok := errors.AsType[*core.Failure](err); ok || err == nil {
		return err
	}
	shown := "“" + core.CleanTitle(at) + "”"
	for _, s := range sentences {
		if errors.Is(err, s.is) {
			return core.Fail(s.code, err, fmt.Sprintf(s.text, shown), s.remedy)
		}
	}
	return core.Fail(core.CodeDir, err, shown+" could not be opened or changed.",
		"A link that leads out is not followed; the detail says more.")
}

// kernelFault names what this computer's kernel says in a number of its own.
func kernelFault(err error) error {
	for _, f := range []struct{ is, named error }{
		{syscall.ENOTEMPTY, errNotEmpty}, {syscall.EROFS, errReadOnly}, {syscall.ENOSPC, errNoSpace}, {syscall.EXDEV, errOtherDisk},
		{syscall.ENOTDIR, errNoFolder},
	} {
		if errors.Is(err, f.is) {
			return fmt.Errorf("%w: %w", f.named, err)
		}
	}
	return err
}
