package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"loop/backend/core"
)

func TestNameBase(t *testing.T) {
	for in, want := range map[string]string{
		"my-project": "my-project", "My  Project!!": "my-project", "--x--": "x", "日本": "", "": "", ".": "", "A_B.c": "a-b-c", "é1": "1",
		strings.Repeat("a", 50): strings.Repeat("a", 40), strings.Repeat("a", 39) + "-bc": strings.Repeat("a", 39) + "-",
	} {
		if got := NameBase(in); got != want {
			t.Errorf("NameBase(%q) = %q, want %q", in, got, want)
		}
	}
	s := pathStyle{}
	for _, c := range []struct{ dir, ch, want string }{
		{"", "abc123", "loop-abc123-a1b2c3"},
		{"/home/user/my-project", "abc123", "loop-my-project-a1b2c3"},
		{"/home/user/日本", "abc123", "loop-abc123-a1b2c3"},
		{"/home/user/日本", "___", "loop-channel-a1b2c3"},
	} {
		if got := containerName(s, c.dir, core.ChannelID(c.ch), "a1b2c3"); got != c.want {
			t.Errorf("%+v gave %q", c, got)
		}
	}
}

func TestNameProperty(t *testing.T) {
	if err := quick.Check(func(dir, ch string) bool {
		return namePattern.MatchString(containerName(pathStyle{}, dir, core.ChannelID(ch), "0a1b2c"))
	}, nil); err != nil {
		t.Error(err)
	}
}

func FuzzNameBase(f *testing.F) {
	for _, s := range []string{"", "my-project", "İıſK", "a\x00b", "-----", strings.Repeat("é", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := NameBase(s)
		if len(got) > maxBase || strings.HasPrefix(got, "-") || strings.Contains(got, "--") {
			t.Errorf("NameBase(%q) = %q", s, got)
		}
	})
}

func FuzzParseMount(f *testing.F) {
	for _, s := range []string{"loop-npmcache:~/.npm", "/a:/b:ro", "~/x:~/y:z", `C:\x:/y`, `C:\x:D:\y:ro`, ":::", "v:/", "./a:/b:rw,Z", "/a:/../b", "~:~", "a:/b:nocopy"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	win := Host{OS: "windows", Home: `C:\Users\m`}
	f.Fuzz(func(t *testing.T, text string, windows bool) {
		h, base := linuxHost(), "/base"
		if windows {
			h, base = win, `C:\base`
		}
		m, err := ParseMount(text, h, base)
		if err != nil {
			return
		}
		if !utf8.ValidString(m.Source+m.Target) || strings.ContainsAny(m.Source+m.Target, "\x00\n\r") {
			t.Errorf("%q let bad text through: %+v", text, m)
		}
		if m.Target[0] != '/' || strings.Contains(m.Target+"/", "/../") || strings.Contains(m.Target, "//") {
			t.Errorf("%q gave the target %q", text, m.Target)
		}
		if m.Volume != volumeName.MatchString(m.Source) {
			t.Errorf("%q: volume %v, source %q", text, m.Volume, m.Source)
		}
		if !m.Volume && (!h.style().abs(m.Source) || h.style().clean(m.Source) != m.Source) {
			t.Errorf("%q gave the source %q", text, m.Source)
		}
	})
}

// FuzzResolve: any mount is either refused, or the spec passes Validate.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"/srv/data:/data", "~/.ssh:/x", "/:/h", "~/.loop:/x", "/srv/data:/opt", "./x:/y", "/srv/data/../../etc:/e"} {
		f.Add(s, "/srv/data", "k", "v")
	}
	fs := projectTree()
	fs["/etc"], fs["/"], fs["/proc"] = "dir", "dir", "dir"
	f.Fuzz(func(t *testing.T, mount, extra, name, value string) {
		layers := []Layer{{Name: core.LayerGlobal, Mounts: []string{mount}, ExtraDirs: []string{extra}, CopyFiles: []string{extra}, Proxies: &Proxies{HTTP: value, NoProxy: []string{extra}}, Envs: map[string]any{name: value}}}
		sub := subject("/home/mira/code/my-proj")
		h := fs.fill(layers, sub, linuxHost())
		spec, _, err := resolveLayers(layers, sub, h)
		if err != nil {
			if f := core.AsFailure(err); strings.Contains(f.Cause, "safety rule") {
				t.Errorf("Resolve made what Validate refuses: %v", err)
			}
			return
		}
		for _, m := range spec.Mounts {
			if m.Volume || m.ReadOnly || m.Kind == core.MountState {
				continue
			}
			if m.Source == "/" || inside(m.Source, "/home/mira/.loop") || inside("/home/mira/.loop", m.Source) {
				t.Errorf("a writable mount of %q", m.Source)
			}
		}
	})
}

func TestWindowsPaths(t *testing.T) {
	for in, want := range map[string]string{
		`C:\x`: "/c/x", `C:\`: "/c", `c:/Users/Mira\src`: "/c/Users/Mira/src", `D:\a\..\b\`: "/d/b", `C:\My Docs\ü`: "/c/My Docs/ü",
	} {
		if got := ContainerPath("windows", in); got != want {
			t.Errorf("ContainerPath(%q) = %q, want %q", in, got, want)
		}
	}
	if got := ContainerPath("linux", "/a/./b/"); got != "/a/b" {
		t.Error(got)
	}
	w := pathStyle{windows: true, fold: true}
	if !w.within(`C:\Users\Mira`, `c:\users\MIRA\x`) || w.within(`C:\Users\Mira`, `C:\Users\Miranda`) || !w.within(`C:\`, `C:\x`) || w.within(`C:\x`, `D:\x`) {
		t.Error("within on Windows")
	}
	if w.clean(`c:\a\..\b/`) != `C:\b` || !w.isRoot(`C:\`) || w.isRoot(`C:\x`) || w.base(`C:\x\y z`) != "y z" || w.abs(`x:y`) || w.abs("/x") {
		t.Error("Windows path arithmetic")
	}
	for text, want := range map[string][3]string{
		`C:\x:/y:ro`: {`C:\x`, "/y", "ro"}, `C:/x:D:\y`: {`C:\x`, "/d/y", ""}, `~\a:~/b`: {`C:\Users\m\a`, "/c/Users/m/b", ""}, `vol:/v`: {"vol", "/v", ""}, `.\a:/b`: {`C:\p\a`, "/b", ""},
	} {
		m, err := ParseMount(text, Host{OS: "windows", Home: `C:\Users\m`}, `C:\p`)
		if err != nil || m.Source != want[0] || m.Target != want[1] || m.ReadOnly != (want[2] == "ro") {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
	mac := pathStyle{fold: true}
	if !mac.within("/Users/mira", "/users/MIRA/.loop") || mac.within("/Users/mira", "/Users/miranda") {
		t.Error("within on macOS")
	}
}

func TestPasswd(t *testing.T) {
	for _, a := range []core.AgentUser{
		{Name: "mira", UID: 1000, GID: 1000, Home: "/home/mira"}, {Name: "root", UID: 0, GID: 0, Home: "/root"},
		{Name: "nobody", UID: 501, GID: 20, Home: "/Users/nobody"}, {Name: "mail", UID: 8, GID: 65534, Home: "/h"}, {Name: "loop", UID: 33, GID: 0, Home: "/h"},
	} {
		for what, text := range map[string]string{"passwd": PasswdFile(a), "group": GroupFile(a)} {
			names, ids := map[string]bool{}, map[string]bool{}
			for line := range strings.Lines(text) {
				f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
				if want := map[string]int{"passwd": 7, "group": 4}[what]; len(f) != want {
					t.Errorf("%s line %q", what, line)
				}
				if names[f[0]] || ids[f[2]] {
					t.Errorf("%s of %s: %q is there twice", what, a.Name, line)
				}
				names[f[0]], ids[f[2]] = true, true
			}
			if what == "passwd" && (!names[a.Name] || !names["root"] || !names[SupervisorName]) {
				t.Errorf("passwd of %+v:\n%s", a, text)
			}
		}
	}
	for user, want := range map[string]string{"mira": "mira", `DOM\Mira P`: "mira_p", "": "u7", "root": "u7", "1x": "x", "a:b\nc": "a_b_c", "Ünal": "nal", SupervisorName: "u7", strings.Repeat("x", 99): strings.Repeat("x", 32)} {
		if got := agentName(user, 7); got != want {
			t.Errorf("agentName(%q) = %q, want %q", user, got, want)
		}
	}
	if agentName("mira", 0) != "root" {
		t.Error("uid 0 is called root")
	}
}

func TestMergeConsent(t *testing.T) {
	const dir = "/home/mira/my \"proj\""
	for name, c := range map[string]struct {
		in    string
		reset bool
		keep  string
	}{
		"empty": {in: ""}, "null": {in: "null", reset: true}, "garbage": {in: "\x00\xffnot json", reset: true}, "array": {in: "[1]", reset: true}, "half": {in: `{"a":`, reset: true},
		"two documents": {in: `{}{}`, reset: true}, "bom": {in: "\xef\xbb\xbf{\"a\":1}", keep: `"a":1`},
		"unknown kept":       {in: `{"userID":"x<y>","big":12345678901234567890,"nested":{"b":[1,2]},"hasCompletedOnboarding":false}`, keep: `"big":12345678901234567890`},
		"project kept":       {in: `{"projects":{"` + strings.ReplaceAll(dir, `"`, `\"`) + `":{"allowedTools":["Bash"],"hasTrustDialogAccepted":false},"/other":{"x":1}}}`, keep: `"allowedTools":["Bash"]`},
		"projects no object": {in: `{"projects":[],"a":1}`, reset: true, keep: `"a":1`},
		"project no object":  {in: `{"projects":{"` + strings.ReplaceAll(dir, `"`, `\"`) + `":7,"/o":{"k":1}}}`, reset: true, keep: `"k":1`},
		"huge":               {in: `{"a":"` + strings.Repeat("x", MaxConsentSize) + `"}`, reset: true},
	} {
		out, reset := MergeConsent([]byte(c.in), nil, dir)
		if reset != c.reset {
			t.Errorf("%s: reset %v", name, reset)
		}
		if !strings.Contains(string(out), c.keep) {
			t.Errorf("%s: %q was lost", name, c.keep)
		}
		again, reset := MergeConsent(out, nil, dir)
		if string(again) != string(out) || reset {
			t.Errorf("%s: a second merge changes it", name)
		}
		checkConsent(t, out, dir)
	}
}

// TestConsentTakesOver: everything in the CLI's old file in the home is kept, and
// nothing newer is replaced. A file that needs no change is not written again.
func TestConsentTakesOver(t *testing.T) {
	const earlier = `{"userID":"old","mcpServers":{"a":{}},"projects":{"/d":{"old":1},"/e":{"e":1}}}`
	out, reset := MergeConsent([]byte(`{"userID":"new","projects":{"/d":{"new":1}}}`), []byte(earlier), "/d")
	checkConsent(t, out, "/d")
	for _, want := range []string{`"userID":"new"`, `"mcpServers":{"a":{}}`, `"new":1`, `"/e":{"e":1}`} {
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "old") || reset {
			t.Errorf("%s (%v), want %s", out, reset, want)
		}
	}
	indented := strings.ReplaceAll(string(out), ",", ",\n  ")
	if again, _ := MergeConsent([]byte(indented), []byte(earlier), "/d"); string(again) != indented {
		t.Errorf("changed to %s", again)
	}
}

func checkConsent(t *testing.T, out []byte, dir string) {
	t.Helper()
	object := func(raw json.RawMessage) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return m
	}
	// These are maps, because a struct would accept other spellings of a name.
	top := object(out)
	p := object(object(top["projects"])[dir])
	for _, flag := range []json.RawMessage{top["hasCompletedOnboarding"], top["bypassPermissionsModeAccepted"], p["hasTrustDialogAccepted"], p["hasCompletedProjectOnboarding"]} {
		if string(flag) != "true" {
			t.Errorf("flags are missing: %s", out)
		}
	}
}

func FuzzMergeConsent(f *testing.F) {
	for _, s := range []string{"", "{}", `{"projects":{}}`, `{"projects":{"/d":null}}`, `{"projects":null,"a":"\ud800"}`, "[", "{\"a\":\xff}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, _ := MergeConsent(in, in, "/d")
		checkConsent(t, out, "/d")
	})
}
