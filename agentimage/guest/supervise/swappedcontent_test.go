//go:build linux

package supervise

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestApprovedContentsAreWhatRuns: who changes a program after a person was asked about
// it, sets its time of writing back and gives it another name, has it killed all the same.
// A build that only links a program that no one was asked about goes on.
func TestApprovedContentsAreWhatRuns(t *testing.T) {
	for _, c := range []struct {
		what         string
		asked, write bool
		runs         bool
	}{
		{"linked", false, false, true},
		{"asked about", true, false, false},
		{"asked about and written", true, true, false},
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, "program")
		copyFile("/bin/cat", name)
		var was, folder unix.Stat_t
		if err := unix.Stat(name, &was); err != nil {
			t.Fatal(err)
		}
		if err := unix.Stat(dir, &folder); err != nil {
			t.Fatal(err)
		}
		if c.write {
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = f.WriteAt([]byte{0}, was.Size-1); err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			at := time.Unix(was.Mtim.Unix())
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Link(name, name+"2"); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(name, "-")
		cmd.Dir = dir
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Start returns before the kernel has given the new program its arguments.
		if _, err := in.Write([]byte{'.'}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		x := &execution{file: &object{st: was}, argv: argumentsOf(cmd.Args)}
		if c.asked {
			x.folder = &folder
		}
		if err := x.check(cmd.Process.Pid); (err == nil) != c.runs {
			t.Errorf("%s: %v", c.what, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
