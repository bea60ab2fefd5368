//go:build linux

package supervise

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func init() {
	acts["removes"] = func([]string) {
		_ = os.MkdirAll("full/within", 0o755)
		_ = os.Mkdir("empty", 0o755)
		fmt.Println(name(unix.Rmdir("full")), name(unix.Rmdir("empty")), name(unix.Rmdir("full/within")))
	}
}

// TestNothingIsAskedInVain: nobody is asked about the removal of a folder that has
// something in it, as git tries with its own, and everybody about that of an empty one.
func TestNothingIsAskedInVain(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	var asked []string
	p := start(t, Options{
		Judge: &rules{list: []rule{{policy.Delete, filepath.Join(dir, "full"), policy.Approve}, {policy.Delete, filepath.Join(dir, "empty"), policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			asked = append(asked, a.Target)
			return wire.Deny(1, "no")
		},
	}, "removes")
	if got := p.wait(t); got != "ENOTEMPTY EACCES ok\n" || len(asked) != 1 || asked[0] != filepath.Join(dir, "empty") {
		t.Errorf("%q, asked about %q", got, asked)
	}
	<-p.Done()
}
