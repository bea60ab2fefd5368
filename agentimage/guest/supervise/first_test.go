//go:build linux

package supervise

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() {
	acts["edit"] = func(args []string) { // as editors do: a file beside it, and a rename
		report := func(what string, err error) { fmt.Println(what, name(err)) }
		report("write", os.WriteFile("tmp", []byte("new\n"), 0o640))
		report("rename", os.Rename("tmp", args[0]))
		_, err := os.Stat("tmp")
		report("stat", err)
		data, err := os.ReadFile(args[0])
		report("read "+strings.TrimSpace(string(data)), err)
		f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND, 0)
		report("append", err)
		if err == nil {
			_, err = f.WriteString("more\n")
			report("add", err)
		}
		report("unlink", os.Remove(args[0]))
	}
}

// An agent's edit of a file whose rule asks stops once with both texts, and what is
// allowed is what happens.
func TestRenameOntoAnAskedFile(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asked := filepath.Join(dir, ".bashrc")
	for _, allow := range []bool{true, false} {
		var questions []wire.Approval
		p := start(t, Options{
			Version: 7,
			Judge:   &rules{list: []rule{{policy.Write, asked, policy.Approve}, {policy.Create, asked, policy.Approve}}},
			Ask: func(_ context.Context, a wire.Approval) wire.Answer {
				questions = append(questions, a)
				return wire.Answer{ID: 1, Allow: allow, By: wire.ByPerson, Text: "not now"}
			},
		}, "edit", ".bashrc")
		got := p.wait(t)
		if len(questions) == 0 {
			t.Fatalf("nothing was asked:\n%s%s", got, p.errs.String())
		}
		q := questions[0]
		if q.Target != asked || q.From != filepath.Join(dir, "tmp") || string(q.After.Text) != "new\n" || q.Policy != 7 ||
			len(q.Processes) == 0 || q.Processes[0].Pid != p.cmd.Process.Pid || q.AskedAs != ".bashrc" {
			t.Errorf("question %+v", q)
		}
		want := "write ok\nrename ok\nstat ENOENT\nread new ok\nappend ok\nadd ok\nunlink ok\n"
		if !allow {
			want = "write ok\nrename EACCES\nstat ok\nread  ENOENT\nappend ENOENT\nunlink ENOENT\n"
			if !strings.Contains(p.errs.String(), "loop: Loop's gate denied creating "+asked+": the person said no: not now. Do not try again another way") {
				t.Errorf("the program was told %q", p.errs.String())
			}
		}
		if got != want {
			t.Errorf("allow %v: got\n%s", allow, got)
		}
		<-p.Done()
	}
}
