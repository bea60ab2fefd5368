package bind_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/sharedfolder"
)

type fakeTerminals struct{ *fake }

func (f fakeTerminals) Create(_ context.Context, s core.TerminalSpec) (core.TerminalInfo, error) {
	return core.TerminalInfo{ID: "t", ChannelID: s.ChannelID, Title: s.Title, Cols: s.Cols, Rows: s.Rows, Target: s.Target, ContainerID: s.ContainerID, Cmd: s.Cmd}, f.ask("create " + string(s.OpenMode))
}
func (f fakeTerminals) List(ch core.ChannelID) []core.TerminalInfo {
	_ = f.ask("list " + string(ch))
	return nil
}
func (f fakeTerminals) CloseSession(_ context.Context, id core.TerminalID) error {
	return f.ask("close " + string(id))
}
func (f fakeTerminals) Rename(_ context.Context, id core.TerminalID, title string) (core.TerminalInfo, error) {
	return core.TerminalInfo{ID: id, Title: title}, f.ask("rename")
}
func (f fakeTerminals) Record(_ context.Context, id core.TerminalID, on bool) (core.TerminalInfo, error) {
	return core.TerminalInfo{ID: id}, f.ask("record")
}
func (f fakeTerminals) Recordings(context.Context) ([]core.Recording, error) {
	return nil, f.ask("recordings")
}
func (f fakeTerminals) DeleteRecording(_ context.Context, name string) error {
	return f.ask("delete " + name)
}

func TestTerminalCalls(t *testing.T) {
	f := &fake{}
	ts := &bind.Terminals{Ctx: t.Context(), Service: fakeTerminals{f}, Tapes: fakeTerminals{f}, At: func() bind.Endpoint { return bind.Endpoint{Base: "http://127.0.0.1:1/", Token: "t"} }}
	if got := ts.List("ch"); got == nil {
		t.Error("an empty list is null")
	}
	info, err := ts.Create(core.TerminalSpec{ChannelID: "ch", Target: core.TargetHost, Cmd: []string{"top"}, OpenMode: core.OpenFork, Cols: 90, Rows: 30, Title: "T"})
	if err != nil || info.ChannelID != "ch" || info.Cols != 90 || info.Rows != 30 || info.Title != "T" || info.Target != core.TargetHost || len(info.Cmd) != 1 {
		t.Errorf("%+v %v", info, err)
	}
	_, _ = ts.Rename("t", "x")
	_, _ = ts.Record("t", true)
	if list, err := ts.Recordings(); list == nil || err != nil {
		t.Error("an empty list is null", err)
	}
	if err := errors.Join(ts.Close("t"), ts.DeleteRecording("a.cast")); err != nil {
		t.Error(err)
	}
	if want := "list ch create fork rename record recordings close t delete a.cast"; f.did() != want {
		t.Errorf("asked %q, want %q", f.did(), want)
	}
	if at := ts.Endpoint(); at.Base == "" || at.Token == "" {
		t.Errorf("%+v", at)
	}
}

type mountList []core.Mount

func (m mountList) Mounts(context.Context, core.ChannelID) ([]core.Mount, error) {
	if m == nil {
		return nil, core.Fail(core.CodeNotFound, nil, "No channel.", "")
	}
	return m, nil
}

func (mountList) PasteFolder(context.Context, core.ChannelID) (sharedfolder.Folder, error) {
	return sharedfolder.Folder{}, nil
}

func TestContainerPath(t *testing.T) {
	unix := mountList{
		{Source: "/home/u/p", Target: "/home/u/p"},
		{Source: "/home/u/p/sub", Target: "/sub"},
		{Source: "/loop/state/home", Target: "/home/agent"},
		{Source: "/elsewhere", Target: "/home/u/p/node_modules"}, // hides a part of the project
		{Source: "loop-guest", Target: "/opt/loop", Volume: true},
		{Source: "/etc/hosts", Target: "/etc/hosts"},
		{Source: "/data/", Target: "/mnt/data/"},
	}
	win := mountList{
		{Source: `C:\Users\U\p`, Target: "/project"},
		{Source: `\\srv\share\x`, Target: "/srv"},
		{Source: `D:\`, Target: "/d"},
	}
	for _, tc := range []struct{ os, host, want string }{
		{"linux", "/home/u/p/a.txt", "/home/u/p/a.txt"},
		{"linux", "/home/u/p", "/home/u/p"},
		{"linux", "/home/u/p/", "/home/u/p"},
		{"linux", "/home/u/p/it's here.png", `'/home/u/p/it'\''s here.png'`},
		{"linux", "/home/u/p/$(rm -rf ~);`x`&|<>*?[]{}!\\\"", "'/home/u/p/$(rm -rf ~);`x`&|<>*?[]{}!\\\"'"},
		{"linux", "/home/u/p/-rf", "/home/u/p/-rf"},
		{"linux", "/home/u/p/größe", "'/home/u/p/größe'"},
		{"linux", "/home/u/p/../p/./x//y", "/home/u/p/x/y"},
		{"linux", "/home/u/p/sub/f", "/sub/f"},
		{"linux", "/loop/state/home/x", "/home/agent/x"},
		{"linux", "/home/u/p/node_modules/x", ""},
		{"linux", "/elsewhere/x", "/home/u/p/node_modules/x"},
		{"linux", "/etc/hosts", "/etc/hosts"},
		{"linux", "/etc/hosts2", ""},
		{"linux", "/data/x", "/mnt/data/x"},
		{"linux", "/home/u/p2/x", ""},
		{"linux", "/home/u/p/../../../etc/passwd", ""},
		{"linux", "/opt/loop", ""},
		{"linux", "loop-guest", ""},
		{"linux", "home/u/p/x", ""},
		{"linux", "", ""},
		{"linux", "/home/u/p/a\nb", ""},
		{"linux", "/home/u/p/a\x1b[31mb", ""},
		{"linux", "/home/u/p/a\u0085b", ""},
		{"linux", "/home/u/p/\xff", ""},
		{"windows", `C:\Users\U\p\a b.txt`, "'/project/a b.txt'"},
		{"windows", `c:\users\u\P\x`, "/project/x"},
		{"windows", `C:/Users/U/p/x`, "/project/x"},
		{"windows", `\\?\C:\Users\U\p\x`, "/project/x"},
		{"windows", `C:\Users\U\p\..\..\secret`, ""},
		{"windows", `C:relative`, ""},
		{"windows", `\Users\U\p\x`, ""},
		{"windows", `\\srv\share\x\y`, "/srv/y"},
		{"windows", `\\?\UNC\srv\share\x\y`, "/srv/y"},
		{"windows", `\\srv\apart\y`, ""},
		{"windows", `D:\x`, "/d/x"},
		{"windows", `1:\x`, ""},
	} {
		ts := &bind.Terminals{Ctx: t.Context(), Shared: unix, OS: tc.os}
		if tc.os == "windows" {
			ts.Shared = win
		}
		got, err := ts.ContainerPath("ch", tc.host)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s %q: %q %v, want %q", tc.os, tc.host, got, err, tc.want)
		}
		if err != nil && core.AsFailure(err).Code == core.CodeInternal {
			t.Errorf("%q: %v", tc.host, err)
		}
	}
	if _, err := (&bind.Terminals{Ctx: t.Context(), Shared: mountList(nil)}).ContainerPath("gone", "/x"); err == nil {
		t.Error("a channel that is gone")
	}
}

type pasteFolder sharedfolder.Folder

func (p pasteFolder) PasteFolder(context.Context, core.ChannelID) (sharedfolder.Folder, error) {
	return sharedfolder.Folder(p), nil
}

func (pasteFolder) Mounts(context.Context, core.ChannelID) ([]core.Mount, error) { return nil, nil }

func TestPasteFile(t *testing.T) {
	root := t.TempDir()
	ts := &bind.Terminals{Ctx: t.Context(), Shared: pasteFolder{Root: root, Dir: ".pastes", Target: "/home/a b/.pastes"}}
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 100)
	for _, tc := range []struct{ name, data, ext string }{
		{"", png, "png"},
		{"../../evil.sh", png, "png"},
		{"x.exe", "\xff\xd8\xffabc", "jpg"},
		{"", "GIF89a...", "gif"},
		{"", "RIFF....WEBPVP", "webp"},
		{"", "%PDF-1.7", "pdf"},
		{"notes.MD", "# hello", "md"},
		{"run.sh", "#!/bin/sh", "txt"},
		{"a.svg", "<svg onload=x>", "txt"},
		{"a.html", "<html>", "txt"},
		{"a.md", "\x00\x01\x02", "bin"},
	} {
		got, err := ts.PasteFile("ch", tc.name, b64(tc.data))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		m := regexp.MustCompile(`^'/home/a b/\.pastes/(paste-\d{8}T\d{6}Z-[0-9a-f]{8}\.` + tc.ext + `)'$`).FindStringSubmatch(got)
		if m == nil {
			t.Errorf("%s: %s, want .%s", tc.name, got, tc.ext)
			continue
		}
		file := filepath.Join(root, ".pastes", m[1])
		text, err := os.ReadFile(file)
		info, serr := os.Stat(file)
		if err != nil || serr != nil || string(text) != tc.data {
			t.Fatalf("%s: %q %v %v", tc.name, text, err, serr)
		}
		if runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
	for name, data := range map[string]string{
		"no base64": "!!", "empty": "", "too large": strings.Repeat("A", (10<<20)/3*4+8), "too large by one": b64(strings.Repeat("x", 10<<20+1)),
	} {
		if _, err := ts.PasteFile("ch", "", data); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ts.PasteFile("ch", "", b64(strings.Repeat("x", 10<<20))); err != nil {
		t.Error(err)
	}
}

// TestPasteHostFile: a file that the container does not see is copied. The copy is
// refused when it could be of another file than the dropped one.
func TestPasteHostFile(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	ts := &bind.Terminals{Ctx: t.Context(), OS: runtime.GOOS, Shared: pasteFolder{Root: root, Dir: ".pastes", Target: "/home/a b/.pastes"}}
	put := func(name, data string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	got, err := ts.PasteHostFile("ch", put("a plan.md", "# plan"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^'/home/a b/\.pastes/(paste-\d{8}T\d{6}Z-[0-9a-f]{8}\.md)'$`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("named %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(root, ".pastes", m[1])); string(text) != "# plan" || err != nil {
		t.Errorf("copied %q %v", text, err)
	}
	if _, err := ts.PasteHostFile("ch", put("just.bin", strings.Repeat("x", 10<<20))); err != nil {
		t.Error(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(put("secret", "s"), link); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{
		"too large": put("large.bin", strings.Repeat("x", 10<<20+1)), "empty": put("empty", ""), "a folder": dir, "a link": link,
		"gone": filepath.Join(dir, "gone"), "no full path": "just.bin", "nothing": "",
	} {
		got, err := ts.PasteHostFile("ch", at)
		f := core.AsFailure(err)
		if err == nil || f.Code == core.CodeInternal || f.Cause == "" || f.Remedy == "" && name != "empty" && name != "no full path" && name != "nothing" {
			t.Errorf("%s: %q %+v", name, got, f)
		}
	}
}

// TestPasteFollowsNoLink: a container can write to the folder of pasted files.
func TestPasteFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	for name, plant := range map[string]func(root string) error{
		"a link out":          func(root string) error { return os.Symlink(outside, filepath.Join(root, ".pastes")) },
		"a link that is gone": func(root string) error { return os.Symlink("nowhere", filepath.Join(root, ".pastes")) },
		"a link inside": func(root string) error {
			return errors.Join(os.Mkdir(filepath.Join(root, "x"), 0o700), os.Symlink("x", filepath.Join(root, ".pastes")))
		},
		"a file": func(root string) error { return os.WriteFile(filepath.Join(root, ".pastes"), nil, 0o600) },
	} {
		root := t.TempDir()
		if err := plant(root); err != nil {
			t.Fatal(err)
		}
		ts := &bind.Terminals{Ctx: t.Context(), Shared: pasteFolder{Root: root, Dir: ".pastes", Target: "/x"}}
		if got, err := ts.PasteFile("ch", "", "aGk="); err == nil {
			t.Errorf("%s: %s", name, got)
		}
		for _, dir := range []string{outside, filepath.Join(root, "x")} {
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%s: %v in %s", name, left, dir)
			}
		}
	}
}
