package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestEngineAgreesWithTheNaiveMatcher tries random policies on random paths.
func TestEngineAgreesWithTheNaiveMatcher(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[Decision]int{}
	for range 3000 {
		p := randomPolicy(r)
		e := compiled(t, p)
		for range 40 {
			path, op := randomPath(r), operations[r.IntN(len(operations))]
			got, want := e.File(op, path), naive(p, op, path)
			if got.Decision != want.Decision || got.Rule != want.Rule {
				t.Fatalf("%s %q: %s by %q, want %s by %q\n%s", op, path, got.Decision, got.Rule, want.Decision, want.Rule, p.Encode())
			}
			seen[got.Decision]++
		}
	}
	for _, d := range []Decision{Allow, Approve, Deny} {
		if seen[d] < 1000 {
			t.Errorf("only %d of the tries came to %s, so this shows little", seen[d], d)
		}
	}
}

// TestUnderIsNeverLaxerThanFile tries random folders, and everything below them.
func TestUnderIsNeverLaxerThanFile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	same := 0
	for range 3000 {
		p := randomPolicy(r)
		e := compiled(t, p)
		dir, op := randomPath(r), operations[r.IntN(len(operations))]
		under := e.Under(op, dir)
		for range 40 {
			path := dir
			if r.IntN(4) > 0 {
				path = strings.TrimSuffix(dir, "/") + randomPath(r)
			}
			says := e.File(op, path)
			if says.Decision.strictness() > under.Decision.strictness() {
				t.Fatalf("%s below %q: %s, but %q is %s\n%s", op, dir, under.Decision, path, says.Decision, p.Encode())
			}
			if says.Decision == under.Decision {
				same++
			}
		}
	}
	if same < 10000 {
		t.Errorf("Under was met by a path only %d times, so it is stricter than of use", same)
	}
}

var names = []string{"a", "b", "ab", ".git", ".GIT", "config", "CONFIG", "\xff", "a\nb"}

func randomPath(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString("/" + names[r.IntN(len(names))])
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

func randomPolicy(r *rand.Rand) Policy {
	parts := []string{"a", "b", "*", "?", "a*", "*b", "**", "**", ".git", "config", "CONFIG", "[a-b]", "[!a]", "c*g"}
	decisions := []Decision{Allow, Approve, Deny}
	p := Policy{DefaultDecision: decisions[r.IntN(3)]}
	for i := range r.IntN(8) {
		rule := FileRule{ID: string(rune('0' + i)), Decision: decisions[r.IntN(3)]}
		for range r.IntN(3) {
			var b strings.Builder
			for range 1 + r.IntN(4) {
				b.WriteString("/" + parts[r.IntN(len(parts))])
			}
			rule.Paths = append(rule.Paths, b.String())
		}
		for range r.IntN(3) {
			rule.Operations = append(rule.Operations, operations[r.IntN(len(operations))])
		}
		p.FileRules = append(p.FileRules, rule)
	}
	return p
}

// naive judges by reading the rules from the top, one name after the other.
func naive(p Policy, op Operation, path string) Verdict {
	for _, rule := range p.FileRules {
		if len(rule.Operations) > 0 && !slices.Contains(rule.Operations, op) {
			continue
		}
		match := len(rule.Paths) == 0
		for _, pattern := range rule.Paths {
			match = match || naivePath(split(pattern), split(path), false)
		}
		if match {
			return Verdict{Decision: rule.Decision, Rule: rule.ID}
		}
	}
	return Verdict{Decision: p.DefaultDecision}
}

func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

func naivePath(pattern, path []string, fold bool) bool {
	if len(pattern) == 0 {
		return len(path) == 0
	}
	if pattern[0] == "**" {
		return naivePath(pattern[1:], path, fold) || len(path) > 0 && naivePath(pattern, path[1:], fold)
	}
	fold = fold || strings.EqualFold(pattern[0], ".git")
	if len(path) == 0 {
		return false
	}
	g, n := pattern[0], path[0]
	if fold {
		g, n = lowerASCII(g), lowerASCII(n)
	}
	return naiveName([]rune(g), characters(n)) && naivePath(pattern[1:], path[1:], fold)
}

// characters has one rune for each byte that is no character.
func characters(s string) []rune {
	var all []rune
	for _, c := range s {
		all = append(all, c)
	}
	return all
}

func naiveName(g, n []rune) bool {
	switch {
	case len(g) == 0:
		return len(n) == 0
	case g[0] == '*':
		return naiveName(g[1:], n) || len(n) > 0 && naiveName(g, n[1:])
	case len(n) == 0:
		return false
	case g[0] == '?':
		return naiveName(g[1:], n[1:])
	case g[0] == '[':
		end := slices.Index(g, ']')
		class, not := g[1:end], g[1] == '!'
		if not {
			class = class[1:]
		}
		in := len(class) == 3 && class[0] <= n[0] && n[0] <= class[2] || len(class) == 1 && class[0] == n[0]
		return in != not && naiveName(g[end+1:], n[1:])
	}
	return g[0] == n[0] && naiveName(g[1:], n[1:])
}

func TestUnderLooksPastWhatMayBeShadowed(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Deny, FileRules: []FileRule{
		{ID: "some", Paths: []string{"/w/*/x"}, Decision: Allow},
		{ID: "asks", Paths: []string{"/w/**/x"}, Decision: Approve},
		{ID: "all", Paths: []string{"/w/**"}, Decision: Allow},
		{ID: "late", Paths: []string{"/w/y"}, Decision: Deny},
	}})
	for dir, want := range map[string]string{"/w": "asks", "/w/a": "asks", "/": "late", "/v": ""} {
		if got := e.Under(Write, dir); got.Rule != want {
			t.Errorf("%s: by %q (%s), want %q", dir, got.Rule, got.Decision, want)
		}
	}
}

// TestWordsThatNobodyKnows: a policy with one does not compile, wherever it stands.
func TestWordsThatNobodyKnows(t *testing.T) {
	for name, p := range map[string]Policy{
		"default":   {DefaultDecision: "ask"},
		"file":      {DefaultDecision: Allow, FileRules: []FileRule{{Decision: "ask"}}},
		"command":   {DefaultDecision: Allow, CommandRules: []CommandRule{{Decision: "ask"}}},
		"path":      {DefaultDecision: Allow, PathRules: []PathRule{{Pattern: "/x", Decision: "ask"}}},
		"tighten":   {DefaultDecision: Allow, Tighten: []Policy{{FileRules: []FileRule{{Decision: "ask"}}}}},
		"operation": {DefaultDecision: Allow, FileRules: []FileRule{{Operations: []Operation{"exec"}, Decision: Deny}}},
		"agents of agents": {DefaultDecision: Allow, Agents: &Agents{Policy: Policy{DefaultDecision: Allow,
			Agents: &Agents{Policy: Policy{DefaultDecision: Allow}}}}},
	} {
		if _, err := Compile(p); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestOddPathsAreDenied(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Allow})
	for _, path := range []string{"", "a", "pipe:[1]", "/a/../b", "/a/b/../c", "/..", "@x"} {
		for name, v := range map[string]Verdict{"file": e.File(Read, path), "under": e.Under(Read, path), "folder": e.Folder(path)} {
			if v.Decision != Deny || v.Message == "" {
				t.Errorf("%s %q: %+v", name, path, v)
			}
		}
	}
	for _, target := range []string{"", "a", "/a/../b"} {
		if v := e.Connect(target); v.Decision != Deny {
			t.Errorf("connect %q: %+v", target, v)
		}
	}
	if v := e.File("exec", "/a"); v.Decision != Deny {
		t.Errorf("an unknown operation: %+v", v)
	}
	if v := e.Under("", "/a"); v.Decision != Deny {
		t.Errorf("no operation: %+v", v)
	}
}

func TestLongPaths(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{
		{ID: "deep", Paths: []string{"/**/a/**/b/**/c/**/d/**/end"}, Decision: Deny},
		{ID: "stars", Paths: []string{"/*a*a*a*a*a*a*a*b"}, Decision: Deny},
	}})
	path := strings.Repeat("/a/b/c/d", 512)
	if v := e.File(Write, path); v.Decision != Allow {
		t.Errorf("%+v", v)
	}
	if v := e.File(Write, path+"/end"); v.Rule != "deep" {
		t.Errorf("%+v", v)
	}
	if v := e.File(Write, "/"+strings.Repeat("a", 4095)); v.Decision != Allow {
		t.Errorf("%+v", v)
	}
}

func TestConnect(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Allow, PathRules: []PathRule{
		{ID: "x11", Pattern: "@/tmp/.X11-unix/*", Decision: Approve},
		{ID: "dots", Pattern: "@a/../b", Decision: Deny},
		{ID: "file", Pattern: "/run/{a,b}.sock", Decision: Deny},
		{ID: "one", Pattern: "@?x", Decision: Deny},
	}})
	for target, want := range map[string]string{
		"@/tmp/.X11-unix/X0": "x11", "@a/../b": "dots", "/run/a.sock": "file", "/run/c.sock": "", "@run/a.sock": "",
		"@\x00x": "one", "@": "", "/tmp/.X11-unix/X0": "", "@a//b": "",
	} {
		if got := e.Connect(target); got.Rule != want {
			t.Errorf("%q: %q, want %q", target, got.Rule, want)
		}
	}
	all := compiled(t, Policy{DefaultDecision: Allow, PathRules: []PathRule{{Pattern: "@**", Decision: Deny}}})
	for _, target := range []string{"@", "@a", "@a/b//c\xff"} {
		if all.Connect(target).Decision != Deny {
			t.Errorf("@** does not match %q", target)
		}
	}
}

func TestReadsMatter(t *testing.T) {
	deny := FileRule{Paths: []string{"/x"}, Operations: []Operation{Read, Write}, Decision: Deny}
	for name, c := range map[string]struct {
		p    Policy
		want bool
	}{
		"nothing":          {Policy{DefaultDecision: Allow}, false},
		"default":          {Policy{DefaultDecision: Approve}, true},
		"a read":           {Policy{DefaultDecision: Allow, FileRules: []FileRule{deny}}, true},
		"only writes":      {Policy{DefaultDecision: Allow, FileRules: []FileRule{{Operations: []Operation{Write}, Decision: Deny}}}, false},
		"all operations":   {Policy{DefaultDecision: Allow, FileRules: []FileRule{{Paths: []string{"/x"}, Decision: Approve}}}, true},
		"behind allow all": {Policy{DefaultDecision: Deny, FileRules: []FileRule{{Operations: []Operation{Read}, Decision: Allow}, deny}}, false},
		"a project's":      {Policy{DefaultDecision: Allow, Tighten: []Policy{{FileRules: []FileRule{deny}}}}, true},
	} {
		if got := compiled(t, c.p).ReadsMatter(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !compiled(t, shipped(t, NameAgent)).ReadsMatter() {
		t.Error("the baseline refuses reads of credentials, and does not look at reads")
	}
}

func TestEmptyFoldersStartNothing(t *testing.T) {
	e := compiled(t, shipped(t, NameAgent))
	hooks := somewhere.Workspaces[0] + "/.git/hooks"
	if v := e.Folder(hooks); v.Decision != Allow {
		t.Errorf("a folder: %+v", v)
	}
	if v := e.File(Create, hooks); v.Decision != Approve {
		t.Errorf("a link in its place: %+v", v)
	}
	if v := e.Folder("/run/loop/x"); v.Decision != Deny {
		t.Errorf("a folder of the gate's: %+v", v)
	}
	if v := compiled(t, shipped(t, NamePlan)).Folder(hooks); v.Decision != Deny {
		t.Errorf("a plan's folder: %+v", v)
	}
}

func BenchmarkFile(b *testing.B) {
	e := compiled(b, Merge(shipped(b, NameAgent), Policy{}, Policy{FileRules: distinct(100)}))
	one := compiled(b, shipped(b, NameAgent))
	for name, c := range map[string]struct {
		e    *Engine
		path string
	}{
		"unruled": {one, "/usr/lib/x86_64-linux-gnu/libc.so.6"}, "project": {one, "/home/ada/src/app/node_modules/left-pad/dist/index.js"},
		"ruled": {one, "/home/ada/src/app/.git/hooks/pre-commit"}, "tightened": {e, "/home/ada/src/app/node_modules/left-pad/index.js"},
		"4096": {one, "/" + strings.Repeat("a/", 2047)},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.e.File(Write, c.path)
			}
		})
	}
}

// A link is judged by what it could give names to, and a rule for names anywhere says
// nothing of it.
func TestLeads(t *testing.T) {
	keys := FileRule{ID: "keys", Paths: []string{"/**/*.{key,pem}"}, Decision: Deny}
	mine := FileRule{ID: "mine", Paths: []string{"/work/**/*.env", "/work/secret/*.env"}, Decision: Deny}
	e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{keys, mine,
		{ID: "modules", Paths: []string{"/work/.git/modules/**/config"}, Decision: Approve, Category: Startup},
		{ID: "any", Paths: []string{"/**/.git/hooks/**"}, Decision: Approve},
	}})
	for path, want := range map[string]string{
		"/work/node_modules/.bin/tsc": "", "/work/a": "", "/tmp/x": "", "/work/secret": "mine", "/work": "mine",
		"/work/.git/modules/a": "modules", "/work/.git/modules": "modules", "/elsewhere/.git": "any", "/elsewhere/.git/hooks": "any",
	} {
		if got := e.Leads(Create, path); got.Rule != want {
			t.Errorf("%s: %q, want %q", path, got.Rule, want)
		}
	}
	if v := e.Under(Create, "/tmp/x"); v.Rule != "keys" {
		t.Errorf("a folder: %+v", v)
	}
	agent := compiled(t, shipped(t, NameAgent))
	for path, want := range map[string]Decision{
		somewhere.Workspaces[0] + "/.claude": Approve, somewhere.Workspaces[0] + "/.venv": Allow,
		somewhere.Workspaces[0] + "/node_modules/.bin/tsc": Allow, "/tmp/link": Allow,
	} {
		if v := agent.Leads(Create, path); v.Decision != want {
			t.Errorf("%s: %+v", path, v)
		}
	}
}

// Names that no rule tells apart are twins, and so is what is below them.
func TestTwins(t *testing.T) {
	agent := compiled(t, shipped(t, NameAgent))
	ws := somewhere.Workspaces[0]
	for pair, want := range map[[2]string]bool{
		{ws + "/.git/modules/third/tAbCdEf", ws + "/.git/modules/third/testing"}: true,
		{ws + "/.git/tAbCdEf", ws + "/.git/testing"}:                             true,
		{ws + "/a", ws + "/b"}: true,
		{ws + "/.git/modules/third/hooks", ws + "/.git/modules/third/testing"}:  false,
		{ws + "/.git/modules/third/tAbCdEf", ws + "/.git/modules/third/hooks"}:  false,
		{ws + "/.git/modules/third/config", ws + "/.git/modules/third/testing"}: false,
		{ws + "/.git/modules/a", ws + "/.git/modules/b"}:                        true,
		{ws + "/.git/modules", ws + "/.git/testing"}:                            false,
		{ws + "/.claude", ws + "/.other"}:                                       false,
		{ws + "/.git", ws + "/evil"}:                                            false,
		{ws + "/.venv", ws + "/venv"}:                                           true,
		{ws + "/.git/modules/third/x", ws + "/testing"}:                         false,
		{ws + "/.GIT/modules/third/HOOKS", ws + "/.git/modules/third/testing"}:  false,
		{"relative", ws + "/a"}:                                                 false,
	} {
		if got := agent.Twins(pair[0], pair[1]); got != want {
			t.Errorf("%v: %v", pair, got)
		}
		if got := agent.Twins(pair[1], pair[0]); got != want {
			t.Errorf("%v, the other way: %v", pair, got)
		}
	}
	two, err := Compile(Policy{DefaultDecision: Allow, Tighten: []Policy{{FileRules: []FileRule{{ID: "x", Paths: []string{"/work/b/**"}, Decision: Deny}}}}})
	if err != nil || two.Twins("/work/a", "/work/b") || !two.Twins("/work/a", "/work/c") {
		t.Error("of two layers one tells them apart", err)
	}
}

func TestSpelled(t *testing.T) {
	e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{
		{Paths: []string{"/work/.claude/{settings.json,hooks/**}", "/work/.GIT/config", "/*/a/b", "/**/c/d"}, Decision: Approve},
	}})
	want := []string{"/work", "/work/.claude", "/work/.claude/hooks", "/work/.claude/settings.json", "/work/.git", "/work/.git/config"}
	if got := e.Spelled(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := len(compiled(t, shipped(t, NameAgent)).Spelled()); n < 50 || n > 600 {
		t.Errorf("the baseline spells %d paths", n)
	}
}

func BenchmarkUnder(b *testing.B) {
	e := compiled(b, shipped(b, NameAgent))
	for b.Loop() {
		e.Under(Delete, "/home/ada/src/app/node_modules")
	}
}

func BenchmarkCompile(b *testing.B) {
	p := shipped(b, NameAgent)
	for b.Loop() {
		if _, err := Compile(p); err != nil {
			b.Fatal(err)
		}
	}
}
