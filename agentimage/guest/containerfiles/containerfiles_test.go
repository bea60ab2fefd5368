//go:build linux

package containerfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"loop/backend/wire"
)

func markOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestContainerFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	do := func(r wire.FileRequest, fault string) wire.FileReply {
		t.Helper()
		r.Path = at(r.Path)
		if r.To != "" {
			r.To = at(r.To)
		}
		got := answer(r)
		if got.Fault != fault {
			t.Errorf("%s %s: %q %s, want %q", r.Op, r.Path, got.Fault, got.Detail, fault)
		}
		return got
	}
	do(wire.FileRequest{Op: wire.FileStat, Path: "a"}, wire.FaultMissing)
	do(wire.FileRequest{Op: wire.FileWrite, Path: "a", Data: []byte("one")}, "")
	do(wire.FileRequest{Op: wire.FileWrite, Path: "a", Data: []byte("two")}, wire.FaultThere)
	if err := os.Chmod(at("a"), 0o755); err != nil {
		t.Fatal(err)
	}
	do(wire.FileRequest{Op: wire.FileWrite, Path: "a", Data: []byte("two"), Mark: markOf("zero")}, wire.FaultChanged)
	if err := os.Symlink("a", at("l")); err != nil {
		t.Fatal(err)
	}
	do(wire.FileRequest{Op: wire.FileWrite, Path: "l", Data: []byte("two"), Mark: markOf("one")}, "")
	if r := do(wire.FileRequest{Op: wire.FileRead, Path: "l", Most: 2}, ""); string(r.Data) != "tw" || r.File.Bytes != 3 || r.Path != at("a") {
		t.Errorf("read: %+v", r)
	}
	if info, err := os.Lstat(at("l")); err != nil || info.Mode().IsRegular() {
		t.Error("the link was replaced by what it leads to")
	}
	if info, err := os.Stat(at("a")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode: %v %v", info, err)
	}
	do(wire.FileRequest{Op: wire.FileMkdir, Path: "d"}, "")
	do(wire.FileRequest{Op: wire.FileMkdir, Path: "d"}, wire.FaultThere)
	do(wire.FileRequest{Op: wire.FileRename, Path: "a", To: "d/b"}, "")
	do(wire.FileRequest{Op: wire.FileRename, Path: "l", To: "d"}, wire.FaultThere)
	do(wire.FileRequest{Op: wire.FileRemove, Path: "d"}, wire.FaultNotEmpty)
	do(wire.FileRequest{Op: wire.FileRead, Path: "d"}, wire.FaultNoFile)
	do(wire.FileRequest{Op: wire.FileList, Path: "d/b"}, wire.FaultNoFolder)
	if err := syscall.Mkfifo(at("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	do(wire.FileRequest{Op: wire.FileRead, Path: "pipe", Most: 1}, wire.FaultNoFile)
	r := do(wire.FileRequest{Op: wire.FileList, Path: "."}, "")
	var names []string
	for _, f := range r.Files {
		names = append(names, f.Name+" "+f.Kind+" "+f.Link)
	}
	if len(names) != 3 || names[0] != "d folder " || names[1] != "l link a" || names[2] != "pipe other " {
		t.Errorf("list: %q", names)
	}
	do(wire.FileRequest{Op: wire.FileRemove, Path: "d", All: true}, "")
	do(wire.FileRequest{Op: wire.FileRemove, Path: "d", All: true}, wire.FaultMissing)
	do(wire.FileRequest{Op: wire.FileRemove, Path: "l"}, "")
	if err := os.Symlink("round", at("round")); err != nil {
		t.Fatal(err)
	}
	do(wire.FileRequest{Op: wire.FileStat, Path: "round"}, wire.FaultLinks)
	if left, err := filepath.Glob(at(".loop-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}
