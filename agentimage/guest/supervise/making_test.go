//go:build linux

package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
)

func init() { acts["making"] = actMaking }

// actMaking makes files in the ways in which their modes and names come about.
func actMaking([]string) {
	show := func(path string) {
		var st unix.Stat_t
		err := unix.Lstat(path, &st)
		fmt.Printf("%s %o %s\n", path, st.Mode, name(err))
	}
	acl := []byte{2, 0, 0, 0, // version; then entries of tag, permissions, id
		1, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 7, 0, 0xff, 0xff, 0xff, 0xff}
	_ = os.Mkdir("listed", 0o755)
	fmt.Println("acl", name(unix.Setxattr("listed", "system.posix_acl_default", acl, 0)))
	for _, mask := range []int{0, 0o022, 0o077} {
		unix.Umask(mask)
		for _, dir := range []string{".", "listed"} {
			at := func(n string) string { return filepath.Join(dir, fmt.Sprint(n, mask)) }
			fd, _ := unix.Open(at("open"), unix.O_CREAT|unix.O_WRONLY, 0o666)
			_ = unix.Close(fd)
			show(at("open"))
			_ = unix.Mkdir(at("dir"), 0o777)
			show(at("dir"))
			_ = unix.Mkfifo(at("fifo"), 0o666)
			show(at("fifo"))
			fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY, 0o666)
			fmt.Println("tmpfile", name(err))
			_, _ = unix.Write(fd, []byte("text"))
			fmt.Println("linkat", name(unix.Linkat(unix.AT_FDCWD, fmt.Sprint("/proc/self/fd/", fd), unix.AT_FDCWD, at("linked"), unix.AT_SYMLINK_FOLLOW)))
			show(at("linked"))
			_ = unix.Close(fd)
		}
	}
	_ = os.WriteFile("file", nil, 0o644)
	_ = os.MkdirAll("shut/in", 0o755)
	_ = os.Chmod("shut", 0)
	for _, to := range []string{"loops/", "file/", "missing/", "listed/", "shut/in/", "shut/new/"} {
		link := strings.ReplaceAll(strings.TrimSuffix(to, "/"), "/", "-") + "-link"
		_ = os.Symlink(strings.Replace(to, "loops", "loops-link", 1), link)
		_, err := unix.Open(link, unix.O_CREAT|unix.O_WRONLY, 0o666)
		_, plain := unix.Open(link, unix.O_WRONLY, 0)
		_, direct := unix.Open(to, unix.O_CREAT|unix.O_WRONLY, 0o666)
		fmt.Println(link, name(err), name(plain), name(direct))
	}
}

// Modes come from the caller's umask and the folder's default access list, an unnamed
// file gets its name, and no file is made by a link whose name ends in a slash.
func TestMakingSameAsWithout(t *testing.T) {
	if !keeper(t) {
		return
	}
	compare(t, "making", "making")
}

func init() {
	acts["folder"] = func([]string) {
		_ = os.MkdirAll("plain/x", 0o755)
		_ = os.WriteFile("plain/settings.json", []byte("{}"), 0o644)
		fmt.Println("onto", name(os.Rename("plain", ".claude")))
		_ = os.MkdirAll(".git/hooks", 0o755)
		fmt.Println("away", name(os.Rename(".git", "elsewhere")))
		fmt.Println("other", name(os.Rename("plain", "other")))
	}
}

// A folder is not moved to or from where its contents are judged.
func TestFolderOfJudgedNames(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	p := start(t, Options{Judge: &rules{list: []rule{
		{policy.Create, filepath.Join(dir, ".claude/settings.json"), policy.Deny},
		{policy.Delete, filepath.Join(dir, ".git/config"), policy.Deny},
	}}}, "folder")
	if got := p.wait(t); got != "onto EACCES\naway EACCES\nother ok\n" {
		t.Errorf("got %s%s", got, strings.TrimSpace(p.errs.String()))
	}
}

func init() {
	acts["leading"] = func([]string) {
		_ = os.MkdirAll("evil", 0o755)
		try := func(what string, err error) { fmt.Println(what, name(err)) }
		try("symlink", os.Symlink("evil", ".claude"))
		try("elsewhere", os.Symlink("evil", "link"))
		try("rename", os.Rename("link", ".claude"))
		try("link", os.Link("link", ".claude"))
		try("exchange", unix.Renameat2(unix.AT_FDCWD, "link", unix.AT_FDCWD, "there", unix.RENAME_EXCHANGE))
		try("remove", os.Remove(".git"))
		try("remove other", os.Remove("link"))
	}
}

// Nor is a link, which gives names to all that it leads to.
func TestLinkForAFolderOfJudgedNames(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		for _, n := range []string{".git", "there"} {
			if err := os.Symlink("elsewhere", filepath.Join(dir, n)); err != nil {
				t.Error(err)
			}
		}
	})
	p := start(t, Options{Judge: &rules{list: []rule{
		{policy.Create, filepath.Join(dir, ".claude/settings.json"), policy.Deny},
		{policy.Create, filepath.Join(dir, "there/settings.json"), policy.Deny},
		{policy.Delete, filepath.Join(dir, ".git/config"), policy.Deny},
	}}}, "leading")
	want := "symlink EACCES\nelsewhere ok\nrename EACCES\nlink EACCES\nexchange EACCES\nremove EACCES\nremove other ok\n"
	if got := p.wait(t); got != want {
		t.Errorf("got %s%s", got, strings.TrimSpace(p.errs.String()))
	}
}

type spelling struct {
	*rules
	list []string
}

func (s spelling) Spelled() []string { return s.list }

func init() {
	acts["found"] = func([]string) {
		try := func(what string, err error) { fmt.Println(what, name(err)) }
		try("there", os.WriteFile("agents/settings.json", nil, 0o644))
		try("beside", os.WriteFile("agents/other", nil, 0o644))
		try("through", os.WriteFile(".claude/settings.json", nil, 0o644))
		_ = os.Mkdir("later", 0o755)
		try("made later", os.WriteFile("later/config", nil, 0o644))
		_ = os.WriteFile("evil/settings.json", nil, 0o644)
		try("away", os.Rename("agents", "gone"))
		try("folder", os.Rename("evil", "agents"))
		try("file", os.WriteFile("shared", nil, 0o644))
		try("by its link", os.WriteFile(".envrc", nil, 0o644))
	}
}

// What a folder or a file of rules is a link to from before is judged by the name that rules have.
func TestLinkThatIsThereAlready(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		for from, to := range map[string]string{"agents": ".claude", "later": ".git", "shared": ".envrc"} {
			if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
				t.Error(err)
			}
		}
		for _, d := range []string{"agents", "evil"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Error(err)
			}
		}
	})
	p := start(t, Options{Judge: spelling{&rules{list: []rule{
		{policy.Create, filepath.Join(dir, ".claude/settings.json"), policy.Deny},
		{policy.Create, filepath.Join(dir, ".git/config"), policy.Deny},
		{policy.Create, filepath.Join(dir, ".envrc"), policy.Deny},
	}}, []string{dir, filepath.Join(dir, ".claude"), filepath.Join(dir, ".git"), filepath.Join(dir, ".envrc"), filepath.Join(dir, "missing")}}}, "found")
	want := "there EACCES\nbeside ok\nthrough EACCES\nmade later EACCES\naway ok\nfolder EACCES\nfile EACCES\nby its link EACCES\n"
	if got := p.wait(t); got != want {
		t.Errorf("got %q %s", got, strings.TrimSpace(p.errs.String()))
	}
}

func init() {
	acts["on the way"] = func([]string) {
		try := func(what string, err error) { fmt.Println(what, name(err)) }
		try("there", os.WriteFile("real/claude/settings.json", nil, 0o644))
		_ = os.MkdirAll("evil/claude", 0o755)
		try("evil", os.WriteFile("evil/claude/settings.json", nil, 0o644))
		_ = os.Symlink("evil", "prepared")
		try("remove", os.Remove("way"))
		try("symlink", os.Symlink("evil", "way"))
		try("rename", os.Rename("prepared", "way"))
		try("folder", os.Rename("evil", "way"))
		try("link beside", os.Symlink("evil", "second"))
	}
}

// Nor may a link on the way there lead elsewhere from then on.
func TestLinkOnTheWay(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		for from, to := range map[string]string{"way/claude": ".claude", "./first/../first": "way", "real": "first"} {
			if err := os.Symlink(from, filepath.Join(dir, to)); err != nil {
				t.Error(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, "real/claude"), 0o755); err != nil {
			t.Error(err)
		}
	})
	p := start(t, Options{Judge: spelling{&rules{list: []rule{
		{policy.Create, filepath.Join(dir, ".claude/settings.json"), policy.Deny},
	}}, []string{filepath.Join(dir, ".claude")}}}, "on the way")
	want := "there EACCES\nevil ok\nremove ok\nsymlink EACCES\nrename EACCES\nfolder EACCES\nlink beside ok\n"
	if got := p.wait(t); got != want {
		t.Errorf("got %q %s", got, strings.TrimSpace(p.errs.String()))
	}
}

// twins are rules that tell no names apart but one.
type twins struct {
	*rules
	but string
}

func (w twins) Twins(one, other string) bool {
	return filepath.Base(one) != w.but && filepath.Base(other) != w.but
}

func init() {
	acts["beside"] = func([]string) {
		try := func(what string, err error) { fmt.Println(what, name(err)) }
		try("beside", os.Symlink("testing", "modules/probe"))
		try("away again", os.Remove("modules/probe"))
		try("a folder beside", os.Symlink("folder", "modules/probe"))
		for _, text := range []string{"..", ".", "../testing", "testing/x", "/testing", "folder/", "link"} {
			try(text, os.Symlink(text, "modules/other"))
		}
		try("told apart", os.Symlink("testing", "modules/hooks"))
		try("to what is told apart", os.Symlink("hooks", "modules/other"))
		try("remove", os.Remove("modules/link"))
	}
}

// A link to a name beside it passes where the rules tell no name below the one from the
// same below the other, as git's trial whether it can make links; any other is judged.
func TestLinkToATwin(t *testing.T) {
	if !keeper(t) {
		return
	}
	dir := os.Getenv(dirVar)
	asAgent(t, func() {
		if err := os.MkdirAll(filepath.Join(dir, "modules/folder"), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.Symlink("/elsewhere", filepath.Join(dir, "modules/link")); err != nil {
			t.Error(err)
		}
	})
	var list []rule
	for _, n := range []string{"probe", "other", "hooks", "link"} {
		for _, op := range []policy.Operation{policy.Create, policy.Delete} {
			list = append(list, rule{op, filepath.Join(dir, "modules", n, "config"), policy.Deny})
		}
	}
	p := start(t, Options{Judge: twins{&rules{list: list}, "hooks"}}, "beside")
	want := "beside ok\naway again ok\na folder beside ok\n.. EACCES\n. EACCES\n../testing EACCES\ntesting/x EACCES\n/testing EACCES\nfolder/ EACCES\nlink EACCES\n" +
		"told apart EACCES\nto what is told apart EACCES\nremove EACCES\n"
	if got := p.wait(t); got != want {
		t.Errorf("got %q %s", got, strings.TrimSpace(p.errs.String()))
	}
}
