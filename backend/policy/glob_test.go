package policy

import "testing"

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/c", false},
		{"/a/b", "/a", false},
		{"/a/b", "//a/./b/", true}, // the kernel says it more plainly, but means this
		{"/", "/", true},
		{"/", "/a", false},
		{"/**", "/", true},
		{"/**", "/a/b\nc/\xff", true},
		{"/a/**", "/a", true},
		{"/a/**", "/a/b/c", true},
		{"/a/**", "/ab", false},
		{"/a/**/z", "/a/z", true},
		{"/a/**/z", "/a/b/c/z", true},
		{"/a/**/**/z", "/a/z", true},
		{"/a/**/z", "/a/b/zz", false},
		{"/**/b/**/d", "/x/b/c/b/d", true},
		{"/*/b", "/x/b", true},
		{"/*/b", "/b", false},
		{"/a*c", "/abc", true},
		{"/a*c", "/ab/c", false},
		{"/a*b*c", "/a-b-b-c", true},
		{"/a?c", "/a\xffc", true}, // one byte that is no character
		{"/a?c", "/aäc", true},
		{"/a?c", "/aänc", false},
		{"/a*", "/a\xff\xfe\n", true},
		{"/[a-c]x", "/bx", true},
		{"/[!a-c]x", "/bx", false},
		{"/[^a-c]x", "/dx", true},
		{"/[a-]x", "/-x", true},
		{`/[\]]x`, "/]x", true},
		{`/a\*`, "/a*", true},
		{`/a\*`, "/ab", false},
		{"/{a,b}/{c,d}", "/b/d", true},
		{"/{a,b}/{c,d}", "/c/d", false},
		{"/x{,.lock}", "/x", true},
		{"/x{,.lock}", "/x.lock", true},
		{"/{a,b/**}", "/b/c/d", true},
		{`/\{a,b\}`, "/{a,b}", true},
		{"/[{]x", "/{x", true},
		{"/a/.git/config", "/a/.GIT/Config", true}, // as git has it on some file systems
		{"/a/.git/hooks/*.sample", "/a/.git/HOOKS/x.SAMPLE", true},
		{"/A/.git/config", "/a/.git/config", false}, // only from .git on
		{"/a/Config", "/a/config", false},
		{"/a/.claude/settings.json", "/a/.Claude/Settings.json", true},
		{"/a/{.loop/**,.mcp.json,.envrc,.npmrc,.yarnrc,.yarnrc.yml}", "/a/.LOOP/config.json", true},
		{"/a/{.loop/**,.mcp.json,.envrc,.npmrc,.yarnrc,.yarnrc.yml}", "/a/.MCP.json", true},
		{"/a/{.loop/**,.mcp.json,.envrc,.npmrc,.yarnrc,.yarnrc.yml}", "/a/.Envrc", true},
		{"/a/{.loop/**,.mcp.json,.envrc,.npmrc,.yarnrc,.yarnrc.yml}", "/a/.NPMRC", true},
		{"/a/{.loop/**,.mcp.json,.envrc,.npmrc,.yarnrc,.yarnrc.yml}", "/a/.YarnRC.yml", true},
		{"/a/.loop", "/a/.loops", false},
		{"/a", "relative", false},
	} {
		e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{{Paths: []string{c.pattern}, Decision: Approve}}})
		if got := e.File(Read, c.path).Decision == Approve; got != c.want {
			t.Errorf("%s on %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, pattern := range []string{
		"", "a", "~/x", "/a//b", "/a/", "/a/./b", "/a/../b", "/a**", "/**a", "/{a", "/a}", "/{a,{b}}", "/[a", "/[]", "/[b-a]", `/a\`,
		"/a\x00", "/\xff", "/{1,2,3,4,5,6,7}{1,2,3,4,5,6,7}{1,2,3,4,5,6,7}",
	} {
		if _, err := parsePattern(pattern); err == nil {
			t.Errorf("%q is taken", pattern)
		}
	}
}

func TestQuotedPathsMatchThemselves(t *testing.T) {
	for _, path := range []string{"/a", `/a\b`, "/a*b?", "/[x]{y,z}", "/a,b", "/ä\n"} {
		e := compiled(t, Policy{DefaultDecision: Allow, FileRules: []FileRule{{Paths: []string{Quote(path)}, Decision: Deny}}})
		if e.File(Read, path).Decision != Deny {
			t.Errorf("%q does not match %q", Quote(path), path)
		}
		if e.File(Read, path+"x").Decision != Allow {
			t.Errorf("%q matches more than %q", Quote(path), path)
		}
	}
}

func compiled(t testing.TB, p Policy) *Engine {
	t.Helper()
	e, err := Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
