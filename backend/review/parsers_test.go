package review

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestSections(t *testing.T) {
	list, err := sections("a 3\nx\nyb 0\nc 1\n\n")
	if err != nil || len(list) != 3 || textOf(list, "a") != "x\ny" || textOf(list, "c") != "\n" || textOf(list, "none") != "" {
		t.Errorf("%q, %v", list, err)
	}
	for _, bad := range []string{"a", "a 1", "a 5\nx", "a -1\n", "a x\n", " 1\nx", "a\n", strings.Repeat("a 0\n", maxSections+1)} {
		if _, err := sections(bad); !errors.Is(err, errGarbled) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestStatusOfGit(t *testing.T) {
	c := parseStatus("# branch.oid (initial)\x001 .M N... 100644 100644 100644 a b dir/a b.txt\x001 A. N... 0 1 1 a b new\x00" +
		"u UU N... 1 1 1 1 a b c both\x002 R. N... 1 1 1 a b R100 to\x00from\x00? loose\x00? ../out\x00? \xff\x00? .git/x\x00? cut")
	var got []string
	for _, f := range c.files {
		got = append(got, f.Kind+" "+f.Path)
	}
	if s := strings.Join(got, "|"); s != "M dir/a b.txt|A new|U both|M to|A loose" || c.odd != 3 || !c.more || !c.files[4].Untracked {
		t.Errorf("%s, %+v", s, c)
	}
	var many strings.Builder
	for i := range maxFiles + 5 {
		fmt.Fprintf(&many, "? f%d\x00", i)
	}
	if c := parseStatus(many.String()); len(c.files) != maxFiles || !c.more {
		t.Errorf("%d files, more %v", len(c.files), c.more)
	}
}

func TestCounts(t *testing.T) {
	c := parseStatus("1 MM N... 1 1 1 a b x\x001 .M N... 1 1 1 a b y\x00")
	c.count(parseCounts("3\t1\tx\x00", "1\n"), true)
	c.count(parseCounts("9\t4\tx\x00-\t-\ty\x00", "2\n0\n"), false)
	if x, y := c.files[0], c.files[1]; x.Added != 12 || x.Removed != 5 || x.Staged != 1 || x.Unstaged != 2 || y.Added != -1 || y.Unstaged != 1 {
		t.Errorf("%+v", c.files)
	}
	c = parseStatus("1 M. N... 1 1 1 a b x\x001 .M N... 1 1 1 a b y\x001 MM N... 1 1 1 a b z\x00u UU N... 1 1 1 1 a b c both\x00? new\x00")
	c.uncounted()
	for i, want := range []string{"1 0", "0 1", "1 1", "0 1", "0 1"} {
		if f := c.files[i]; f.Added != -1 || f.Removed != -1 || fmt.Sprint(f.Staged, f.Unstaged) != want {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if n := parseCounts("1\t1\tx\x001\t1\ty\x00", "7\n"); n[0].hunks != 1 {
		t.Errorf("numbers of something else count: %+v", n)
	}
}

const twoHunks = `diff --git a/x b/x
old mode 100644
new mode 100755
index 1..2
--- a/x
+++ b/x
@@ -1,3 +1,4 @@
 a
+new
 b
 c
@@ -10,2 +11,1 @@ func f()
-gone
 z
\ No newline at end of file
`

func TestPatchOfOneFile(t *testing.T) {
	p, err := parsePatch(twoHunks, "x")
	if err != nil || len(p.hunks) != 2 || p.hunks[1].section != "func f()" || p.hunks[0].id == p.hunks[1].id {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := p.with(p.hunks[1:], false); !strings.Contains(got, "@@ -10,2 +10,1 @@\n-gone") || strings.Contains(got, "mode") {
		t.Errorf("forward:\n%s", got)
	}
	if got := p.with(p.hunks[1:], true); !strings.Contains(got, "@@ -11,2 +11,1 @@\n-gone") {
		t.Errorf("back:\n%s", got)
	}
	if got := p.with(p.hunks, false); !strings.Contains(got, "new mode 100755") || !strings.Contains(got, "@@ -10,2 +11,1 @@") {
		t.Errorf("all:\n%s", got)
	}
	if got := p.with(p.hunks, true); !strings.Contains(got, "@@ -10,2 +11,1 @@") {
		t.Errorf("all, back:\n%s", got)
	}
	if _, ok := p.chosen([]string{p.hunks[0].id, "another"}, "x"); ok {
		t.Error("a hunk that is not there was chosen")
	}
	equal, err := parsePatch("diff --git a/x b/x\n@@ -1 +1,2 @@\n a\n+b\n@@ -9 +10,2 @@\n a\n+b\n", "x")
	if err != nil || equal.hunks[0].id == equal.hunks[1].id {
		t.Errorf("equal hunks have one name: %+v, %v", equal, err)
	}
}

func TestBadPatches(t *testing.T) {
	for name, bad := range map[string]string{
		"no head": "@@ -1 +1 @@\n-a\n+b\n", "short": "diff --git a/x b/x\n@@ -1,5 +1 @@\n-a\n", "letters": "diff --git a/x b/x\n@@ -a +1 @@\n",
		"sign": "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n*a\n b\n", "after": "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\nmore\n",
		"too many": "diff --git a/x b/x\n@@ -1,0 +1 @@\n-a\n", "words": "hello\n",
	} {
		if _, err := parsePatch(bad, "x"); !errors.Is(err, errPatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := "diff --git a/x b/x\n@@ -0,0 +1,30000 @@\n" + strings.Repeat("+\n", 30000)
	if _, err := parsePatch(long, "x"); !errors.Is(err, errLarge) {
		t.Errorf("30,000 lines: %v", err)
	}
	if _, err := parsePatch(strings.Repeat("x", maxPatch+1), "x"); !errors.Is(err, errLarge) {
		t.Errorf("2 MB: %v", err)
	}
}

// TestNumbersOfBothSides: staged and other hunks are told in the file's order, by the lines of HEAD and of the file.
func TestNumbersOfBothSides(t *testing.T) {
	staged, err := parsePatch("diff --git a/x b/x\n@@ -20,1 +20,3 @@\n s\n+s\n+s\n", "staged\x00x")
	if err != nil {
		t.Fatal(err)
	}
	unstaged, err := parsePatch("diff --git a/x b/x\n@@ -5,1 +5,2 @@\n u\n+u\n@@ -40,1 +41,1 @@\n-u\n+v\n", "x")
	if err != nil {
		t.Fatal(err)
	}
	list := merged(staged, unstaged, "x")
	if len(list) != 3 || list[0].New != 5 || !list[1].Staged || list[1].New != 21 || list[1].Old != 20 || list[2].Old != 38 || list[2].New != 41 {
		t.Errorf("%+v", list)
	}
}

func TestPathsOfAReview(t *testing.T) {
	for _, bad := range []string{"", "/etc/passwd", "../x", "a/../../x", "a//b", ".git/config", "sub/.GIT/hooks/x", "a\x00b", strings.Repeat("a", maxPath+1)} {
		if err := checkPath(bad); core.AsFailure(err) == nil || err == nil {
			t.Errorf("%q passed", bad)
		}
	}
	for _, good := range []string{"a", "-rf", "a b/c\nd", "nested/", ".github/workflows/ci.yml"} {
		if err := checkPath(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for p, want := range map[string]bool{".git/config": true, ".git/hooks/pre-commit": true, ".git/hooks/../config": false, ".git/HEAD": false, "x/.git/config": false} {
		if isGuarded(p) != want {
			t.Errorf("%q is guarded: %v", p, !want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	f.Add(twoHunks)
	f.Add("1 .M N... 1 1 1 a b x\x00? y\x00")
	f.Add("3\t1\tx\x00-\t-\ty\x00")
	f.Add("a 3\nxyz")
	f.Add("diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n")
	f.Fuzz(func(t *testing.T, in string) {
		if list, err := sections(in); err == nil {
			n := 0
			for _, s := range list {
				n += len(s.text)
			}
			if n > len(in) {
				t.Error("sections made text")
			}
		}
		c := parseStatus(in)
		c.count(parseCounts(in, in), true)
		other := parseNames(in, in)
		for _, file := range append(c.files, other.files...) {
			if checkPath(file.Path) != nil {
				t.Errorf("path %q", file.Path)
			}
		}
		p, err := parsePatch(in, "x")
		if err != nil {
			return
		}
		again, err := parsePatch(p.with(p.hunks, false), "x")
		if err != nil || len(again.hunks) != len(p.hunks) {
			t.Errorf("a patch of all hunks is none: %v", err)
		}
		for i, h := range again.hunks {
			if h.body != p.hunks[i].body {
				t.Errorf("hunk %d: %q, was %q", i, h.body, p.hunks[i].body)
			}
		}
		merged(p, p, "x")
	})
}
