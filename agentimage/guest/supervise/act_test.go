//go:build linux

package supervise

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

func TestModeText(t *testing.T) {
	for mode, want := range map[uint32]string{
		0o755: "0755 rwxr-xr-x", 0: "0000 ---------", 0o4755: "4755 rwsr-xr-x", 0o7000: "7000 --S--S--T", 0o1777: "1777 rwxrwxrwt",
		unix.S_IFIFO | 0o640: "0640 rw-r-----",
	} {
		if got := modeText(mode); got != want {
			t.Errorf("%o: %q", mode, got)
		}
	}
}

// similar are calls on one name that a rule cannot tell apart. Each does something else.
var similar = []struct {
	what  string
	call  func(name string) error
	shown string
}{
	{"chmod 0755", func(n string) error { return unix.Chmod(n, 0o755) }, "mode=0755 rwxr-xr-x"},
	{"chmod 4777", func(n string) error { return unix.Chmod(n, 0o4777) }, "mode=4777 rwsrwxrwx"},
	{"touch", func(n string) error { return unix.UtimesNanoAt(unix.AT_FDCWD, n, nil, 0) }, "accessed=now modified=now"},
	{"touch -t", func(n string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, n, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: 5}}, 0)
	}, "modified=1970-01-01T00:00:05Z"},
	{"setxattr", func(n string) error { return unix.Setxattr(n, "user.a", []byte("b"), 0) }, "attribute=user.a value=b"},
	{"setxattr another", func(n string) error { return unix.Setxattr(n, "user.a", []byte{0}, 0) },
		"attribute=user.a value=1 bytes, SHA-256 6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
	{"removexattr", func(n string) error { return unix.Removexattr(n, "user.a") }, "attribute_removed=user.a"},
	{"chown", func(n string) error { return unix.Chown(n, -1, 7) }, "group=7"},
	{"truncate", func(n string) error { return unix.Truncate(n, 4) }, "length=4"},
	{"truncate more", func(n string) error { return unix.Truncate(n, 2) }, "length=2"},
	{"open", func(n string) error { return opens(n, unix.O_WRONLY) }, ""},
	{"open for both", func(n string) error { return opens(n, unix.O_RDWR) }, ""},
	{"open at the end", func(n string) error { return opens(n, unix.O_WRONLY|unix.O_APPEND) }, ""},
	{"open and empty", func(n string) error { return opens(n, unix.O_WRONLY|unix.O_TRUNC) }, "length=0"},
	{"make", func(n string) error { return opens(n+"1", unix.O_WRONLY|unix.O_CREAT) }, "mode=0755 rwxr-xr-x"},
	{"mkdir", func(n string) error { return unix.Mkdir(n+"1", 0o755) }, "mode=0755 rwxr-xr-x"},
	{"mkdir closed", func(n string) error { return unix.Mkdir(n+"1", 0o700) }, "mode=0700 rwx------"},
	{"mkfifo", func(n string) error { return unix.Mkfifo(n+"1", 0o755) }, "mode=0755 rwxr-xr-x type=FIFO"},
	{"mknod", func(n string) error { return unix.Mknod(n+"1", unix.S_IFREG|0o755, 0) }, "mode=0755 rwxr-xr-x type=file"},
	{"symlink", func(n string) error { return unix.Symlink("here", n+"1") }, "link_target=here"},
	{"symlink elsewhere", func(n string) error { return unix.Symlink("/work/evil\xff", n+"1") }, "link_target=/work/evil\xff"},
	{"link", func(n string) error { return unix.Link("other", n+"1") }, ""},
	{"rename", func(n string) error { return unix.Rename("other", n+"1") }, "mode=0644 rw-r--r--"},
	{"rename carefully", func(n string) error {
		return unix.Renameat2(unix.AT_FDCWD, "other", unix.AT_FDCWD, n+"1", unix.RENAME_NOREPLACE)
	}, "mode=0644 rw-r--r--"},
	{"bytes that are no text", func(n string) error { return unix.Mkdir(n+"1\xfe", 0o755) }, "mode=0755 rwxr-xr-x"},
	{"other bytes that are no text", func(n string) error { return unix.Mkdir(n+"1\xff", 0o755) }, "mode=0755 rwxr-xr-x"},
}

func opens(name string, flags int) error {
	fd, err := unix.Open(name, flags, 0o755)
	_ = unix.Close(fd)
	return err
}

func init() {
	acts["similar"] = func([]string) {
		unix.Umask(0o022)
		for _, s := range similar {
			for range 2 {
				if err := s.call("asked"); err != unix.EACCES {
					fmt.Println(s.what, name(err))
				}
			}
		}
	}
}

// An answer to one call covers no other that only looks like it: what a call does, as it
// is performed, is bound to the question, and a person sees it.
func TestAnswerCoversNoOtherAct(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "asked")
	asAgent(t, func() {
		for _, p := range []string{path, filepath.Join(os.Getenv(dirVar), "other")} {
			if err := os.WriteFile(p, []byte("text"), 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	judge := &rules{}
	for _, p := range []string{path, path + "1", path + "1\xfe", path + "1\xff"} {
		judge.list = append(judge.list, rule{"", p, policy.Approve})
	}
	var asked []wire.Approval
	p := start(t, Options{Judge: judge, Ask: func(_ context.Context, a wire.Approval) wire.Answer {
		asked = append(asked, a)
		return wire.Deny(1, "no")
	}}, "similar")
	if got := p.wait(t); got != "" {
		t.Errorf("got %s", got)
	}
	if len(asked) != 2*len(similar) {
		t.Fatalf("asked %d times", len(asked))
	}
	byAct, byKey := map[string]string{}, map[string]string{}
	for i, s := range similar {
		a, again := asked[2*i], asked[2*i+1]
		if a.Act != again.Act || a.CacheKey != again.CacheKey || len(a.Act) != 64 {
			t.Errorf("%s is not the same when it is tried again: %q, %q", s.what, a.Act, again.Act)
		}
		if is := byAct[a.Act] + byKey[a.CacheKey]; is != "" {
			t.Errorf("%s is taken for %s", s.what, is)
		}
		byAct[a.Act], byKey[a.CacheKey] = s.what, s.what
		var shown []string
		for _, k := range slices.Sorted(maps.Keys(a.Details)) {
			shown = append(shown, k+"="+a.Details[k])
		}
		if got := strings.Join(shown, " "); got != s.shown {
			t.Errorf("%s shows %q", s.what, got)
		}
	}
}

func init() {
	acts["bring"] = func(args []string) { // a file with more to it than its contents, renamed
		report := func(what string, err error) { fmt.Println(what, name(err)) }
		report("write", os.WriteFile("tmp", []byte("new"), 0o600))
		report("attribute", unix.Setxattr("tmp", "user.more", []byte("x"), 0))
		report("list", unix.Setxattr("tmp", accessAttribute, listed, 0))
		report("rename", os.Rename("tmp", args[0]))
	}
}

// listed gives the group 5 what the mode's group has not.
var listed = []byte{2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 4, 0, 0, 0, 255, 255, 255, 255, 8, 0, 4, 0, 5, 0, 0, 0,
	16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}

// What a rename brings with the contents is what was asked about: the mode and the access
// list, and nothing else. A change of them meanwhile is asked anew.
func TestRenameBringsWhatWasAsked(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	path := filepath.Join(dir, ".bashrc")
	var asked []wire.Approval
	p := start(t, Options{
		Judge: &rules{list: []rule{{"", path, policy.Approve}}},
		Ask: func(_ context.Context, a wire.Approval) wire.Answer {
			if asked = append(asked, a); len(asked) == 1 {
				asAgent(t, func() { _ = os.Chmod(filepath.Join(dir, "tmp"), 0o777) })
			}
			return wire.Answer{ID: 1, Allow: true}
		},
	}, "bring", ".bashrc")
	if got := p.wait(t); got != "write ok\nattribute ok\nlist ok\nrename ok\n" {
		t.Errorf("got %s", got)
	}
	if len(asked) != 2 || asked[0].Act == asked[1].Act || asked[0].Details["mode"] != "0640 rw-r-----" ||
		asked[1].Details["mode"] != "0777 rwxrwxrwx" || !strings.HasPrefix(asked[0].Details["access_list"], "5 entries, SHA-256 ") {
		t.Errorf("asked %+v", asked)
	}
	asAgent(t, func() {
		var st unix.Stat_t
		_ = unix.Stat(path, &st)
		buf := make([]byte, 1000)
		n, err := unix.Listxattr(path, buf)
		names := strings.ReplaceAll(string(buf[:max(n, 0)]), "\x00", " ")
		if st.Mode&0o7777 != 0o777 || err != nil || strings.Contains(names, "user.") || !strings.Contains(names, accessAttribute) {
			t.Errorf("mode %o, attributes %q, %v", st.Mode, names, err)
		}
	})
}

// moreThanContents lets a change of contents pass, as long as contents are all there is.
type moreThanContents struct{ rules }

func (*moreThanContents) Content(string, []byte, []byte) (policy.Verdict, bool) {
	return policy.Verdict{Decision: policy.Allow}, true
}

func (*moreThanContents) Excerpt(string, []byte, []byte) (was, is []byte, ok bool) { return }

// Contents that are harmless do not bring a mode past the person.
func TestHarmlessContentsAndMode(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "config")
	for mode, want := range map[os.FileMode]string{0o644: "ok\n", 0o755: "EACCES\n", 0o646: "EACCES\n"} {
		tmp := filepath.Join(os.Getenv(dirVar), "tmp")
		asAgent(t, func() { _ = os.WriteFile(tmp, []byte("x"), mode); _ = os.Chmod(tmp, mode) })
		judge := &moreThanContents{rules{list: []rule{{"", path, policy.Approve}}}}
		if got := start(t, Options{Judge: judge}, "renameone", "tmp", "config").wait(t); got != want {
			t.Errorf("%o: %s", mode, got)
		}
	}
}

func init() {
	acts["renameone"] = func(args []string) { fmt.Println(name(unix.Rename(args[0], args[1]))) }
}
