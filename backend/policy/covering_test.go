package policy

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCoveringIsSound tries patterns of a small alphabet on all short paths: what is said
// to be covered is, and what is said not to meet does not.
func TestCoveringIsSound(t *testing.T) {
	names := []string{"a", "b", "ab", ".git", ".GIT", "a*", "*b", "*", "?", "[ab]", "[!a]", "**", "{a,b}", "a?", "*a*"}
	rng := rand.New(rand.NewPCG(1, 2))
	pattern := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			b.WriteString("/" + names[rng.IntN(len(names))])
		}
		return b.String()
	}
	words := []string{"a", "b", "ab", "ba", "aa", "c", ".git", ".GIT", "A"}
	paths := []string{"/"}
	for begin, n := 0, 0; n < 3; n++ {
		end := len(paths)
		for _, p := range paths[begin:end] {
			for _, w := range words {
				paths = append(paths, strings.TrimSuffix(p, "/")+"/"+w)
			}
		}
		begin = end
	}
	matched := func(p string) map[string]bool {
		e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{{ID: "it", Paths: []string{p}, Decision: Deny}}})
		out := map[string]bool{}
		for _, path := range paths {
			if e.File(Write, path).Rule == "it" {
				out[path] = true
			}
		}
		return out
	}
	covered, apart := 0, 0
	for range 300 {
		p, q := pattern(), pattern()
		mine, theirs := matched(p), matched(q)
		a, b := FileRule{Paths: []string{p}}, FileRule{Paths: []string{q}}
		x, _ := patternsOf(a.Paths)
		y, _ := patternsOf(b.Paths)
		covers, meets := a.CoversFile(b), meetAny(x, y)
		for _, path := range paths {
			if covers && theirs[path] && !mine[path] {
				t.Fatalf("%s is said to cover %s, and does not match %s", p, q, path)
			}
			if !meets && theirs[path] && mine[path] {
				t.Fatalf("%s and %s are said to have nothing in common, and both match %s", p, q, path)
			}
		}
		if covers {
			covered++
		}
		if !meets {
			apart++
		}
		if !a.CoversFile(a) {
			t.Fatalf("%s does not cover itself", p)
		}
	}
	if covered < 10 || apart < 50 {
		t.Errorf("%d covered, %d apart: nothing was tried", covered, apart)
	}
}

func TestCoveringOfOperationsAndCommands(t *testing.T) {
	all := FileRule{Paths: []string{"/a/**"}, Decision: Allow}
	for name, c := range map[string]struct {
		got, want bool
	}{
		"all operations":       {all.CoversFile(FileRule{Paths: []string{"/a/b"}, Operations: []Operation{Write}}), true},
		"fewer operations":     {FileRule{Paths: []string{"/a/**"}, Operations: []Operation{Write}}.CoversFile(all), false},
		"the folder itself":    {all.CoversFile(FileRule{Paths: []string{"/a"}}), true},
		"everything":           {all.CoversFile(FileRule{}), false},
		"an empty folder":      {FileRule{Operations: []Operation{Create}, Category: Startup}.CoversFile(FileRule{Operations: []Operation{Create}}), false},
		"by everything":        {FileRule{}.CoversFile(all), true},
		"a socket":             {PathRule{Pattern: "/run/**"}.CoversSocket(PathRule{Pattern: "/run/x/y.sock"}), true},
		"an abstract one":      {PathRule{Pattern: "/**"}.CoversSocket(PathRule{Pattern: "@x"}), false},
		"any program":          {CommandRule{Decision: Deny}.CoversCommand(CommandRule{Commands: []string{"x"}, Decision: Allow}), true},
		"any, by one to allow": {CommandRule{Decision: Allow}.CoversCommand(CommandRule{Commands: []string{"x"}, Decision: Deny}), false},
		"the same arguments": {CommandRule{Commands: []string{"g*"}, ArgsPatterns: []string{"x", "y"}, Decision: Deny}.
			CoversCommand(CommandRule{Commands: []string{"git"}, ArgsPatterns: []string{"y"}, Decision: Deny}), true},
		"all arguments": {CommandRule{Commands: []string{"git"}, ArgsPatterns: []string{"x"}, Decision: Deny}.
			CoversCommand(CommandRule{Commands: []string{"git"}, Decision: Deny}), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

func TestWhatLoosens(t *testing.T) {
	base, err := Baseline(NameAgent, somewhere)
	if err != nil {
		t.Fatal(err)
	}
	ws := somewhere.Workspaces[0]
	for path, want := range map[string]string{
		"/home/ada/.ssh/id_x": "credential.home", "/home/**": "credential.home", "/proc/*/m*": "escape.memory",
		ws + "/**": "", "/home/ada/.bashrc": "", "/home/ada/.cache/**": "", "/tmp/**": "", "/dev/sda": "escape.disk", "/home/*/.config/**": "credential.home",
	} {
		r := FileRule{Paths: []string{path}, Decision: Allow}
		if id, _ := Loosens(base, &r, nil); id != want {
			t.Errorf("%s loosens %q, not %q", path, id, want)
		}
		r.Decision = Approve
		if id, _ := Loosens(base, &r, nil); id != "" {
			t.Errorf("%s asks, and is said to loosen %s", path, id)
		}
	}
	if id, _ := Loosens(base, nil, &PathRule{Pattern: "/run/*.sock.host", Decision: Allow}); id != "socket.host" {
		t.Errorf("a socket: %q", id)
	}
	if id, _ := Loosens(base, nil, &PathRule{Pattern: ws + "/x.sock", Decision: Allow}); id != "" {
		t.Errorf("the project's socket: %q", id)
	}
}
