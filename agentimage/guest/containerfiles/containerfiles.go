//go:build linux

package containerfiles

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/wire"
)

// Faults that the kernel has no number for.
var (
	errNoFile   = errors.New("not an ordinary file")
	errChanged  = errors.New("the content is another")
	errTooLarge = errors.New("the file is too large")
)

// Main answers the request on stdin, and returns the exit code.
func Main() int {
	var req wire.FileRequest
	err := json.NewDecoder(io.LimitReader(os.Stdin, wire.MaxBody)).Decode(&req)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer(req))
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loop files:", err)
		return 1
	}
	return 0
}

func answer(req wire.FileRequest) (r wire.FileReply) {
	if err := perform(req, &r); err != nil {
		return wire.FileReply{Fault: faultOf(err), Detail: err.Error()[:min(len(err.Error()), wire.MaxText)]}
	}
	return r
}

func faultOf(err error) string {
	for _, f := range []struct {
		is    error
		fault string
	}{
		{errNoFile, wire.FaultNoFile}, {errChanged, wire.FaultChanged}, {errTooLarge, wire.FaultTooLarge},
		{unix.ENOTEMPTY, wire.FaultNotEmpty}, {unix.EROFS, wire.FaultReadOnly}, {unix.ENOSPC, wire.FaultNoSpace},
		{unix.EDQUOT, wire.FaultNoSpace}, {unix.ELOOP, wire.FaultLinks}, {unix.ENOTDIR, wire.FaultNoFolder},
		{unix.EISDIR, wire.FaultNoFile}, {unix.EXDEV, wire.FaultOtherDisk}, {unix.EBUSY, wire.FaultDenied},
		{fs.ErrNotExist, wire.FaultMissing}, {fs.ErrExist, wire.FaultThere}, {fs.ErrPermission, wire.FaultDenied},
	} {
		if errors.Is(err, f.is) {
			return f.fault
		}
	}
	return wire.FaultOther
}

func perform(req wire.FileRequest, r *wire.FileReply) (err error) {
	if !filepath.IsAbs(req.Path) {
		return fmt.Errorf("%q is not absolute", req.Path)
	}
	at := filepath.Clean(req.Path)
	switch req.Op {
	case wire.FileRemove:
		if req.All {
			return removeAll(at)
		}
		return os.Remove(at)
	case wire.FileRename:
		return unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, req.To, unix.RENAME_NOREPLACE)
	case wire.FileMkdir:
		return os.Mkdir(at, 0o755)
	case wire.FileWrite:
		return write(at, req)
	}
	info, err := os.Stat(at)
	if err != nil {
		return err
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return err
	}
	r.Path = at
	r.File = infoOf(at, info)
	switch req.Op {
	case wire.FileStat:
		return nil
	case wire.FileList:
		r.Files, r.More, err = list(at)
		return err
	case wire.FileRead:
		r.Data, err = read(at, max(0, min(req.Most, wire.MaxFileBytes)))
		return err
	}
	return fmt.Errorf("unknown operation %q", req.Op)
}

// removeAll is os.RemoveAll, which says nothing of what is not there.
func removeAll(at string) error {
	if _, err := os.Lstat(at); err != nil {
		return err
	}
	return os.RemoveAll(at)
}

func infoOf(at string, info fs.FileInfo) wire.FileInfo {
	f := wire.FileInfo{Name: info.Name(), Kind: "other", Bytes: info.Size(), ModifiedMs: info.ModTime().UnixMilli()}
	switch {
	case info.Mode().IsRegular():
		f.Kind = "file"
	case info.IsDir():
		f.Kind = "folder"
	case info.Mode()&fs.ModeSymlink != 0:
		f.Kind = "link"
		f.Link, _ = os.Readlink(at) // a link that is gone by now says nothing
	}
	return f
}

func list(dir string) (out []wire.FileInfo, more bool, err error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe would be waited for
	if err != nil {
		return nil, false, err
	}
	defer d.Close()
	entries, err := d.ReadDir(wire.MaxFileList + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(entries) > wire.MaxFileList; more {
		entries = entries[:wire.MaxFileList]
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // one that is gone by now is not listed
			out = append(out, infoOf(filepath.Join(dir, e.Name()), info))
		}
	}
	slices.SortFunc(out, func(a, b wire.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return out, more, nil
}

func read(at string, most int64) ([]byte, error) {
	f, err := os.OpenFile(at, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errNoFile)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// write replaces a file in one step. Its mode stays.
func write(at string, req wire.FileRequest) (err error) {
	mode := fs.FileMode(0o644)
	if req.Mark == "" {
		f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		made, err := f.Stat()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				unmake(at, made)
			}
		}()
	} else {
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			return err
		}
		at = real
		data, err := read(at, wire.MaxFileBytes+1)
		if err != nil {
			return err
		}
		if len(data) > wire.MaxFileBytes {
			return errTooLarge
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != req.Mark {
			return errChanged
		}
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	tmp := filepath.Join(filepath.Dir(at), ".loop-"+rand.Text()+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(req.Data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, at)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp))
	}
	return err
}

// unmake removes the empty file of a write that failed, which the next try would find there.
func unmake(at string, made fs.FileInfo) {
	if now, err := os.Lstat(at); err == nil && os.SameFile(made, now) && now.Size() == 0 {
		_ = os.Remove(at) // the write says why it failed
	}
}
