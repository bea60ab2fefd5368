package config

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"x\n", "x\n", ""},
		{"", "x\ny\n", "@@ -0,0 +1,2 @@\n+x\n+y\n"},
		{"x\n", "", "@@ -1 +0,0 @@\n-x\n"},
		{"x\n", "x", "@@ -1 +1 @@\n-x\n+x\n\\ No newline at end of file\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,3 +7,4 @@\n 6\n 7\n 8\n+9\n"},
		{"1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n9\n", "@@ -1,6 +1,8 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n+9\n"},
		{"a\na\na\n", "a\na\n", "@@ -1,3 +1,2 @@\n-a\n a\n a\n"},
	} {
		if got := Diff(c.a, c.b); got != c.want {
			t.Errorf("%q → %q:\n%s\nwant\n%s", c.a, c.b, got, c.want)
		}
	}
	if a, r := Changed("1\n2\n3\n", "1\nx\ny\n3\n"); a != 2 || r != 1 {
		t.Errorf("%d %d", a, r)
	}
}

// FuzzDiff applies the diff and must arrive at the other text.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("a\na\nb\na\n", "b\na\na\na\na\n")
	f.Add(strings.Repeat("x\ny\n", 20), strings.Repeat("y\nx\n", 19))
	var many, more strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&many, i)
		fmt.Fprintln(&more, i*7%2000, i)
	}
	f.Add(many.String(), more.String())
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 1<<14 || strings.Contains(a+b, "\\ No newline") || strings.ContainsRune(a+b, 0) {
			return
		}
		got, err := applied(a, Diff(a, b))
		if err != nil || got != b {
			t.Fatalf("%v: %q → %q gave %q by\n%s", err, a, b, got, Diff(a, b))
		}
		added, removed := Changed(a, b)
		if len(lines(a))+added-removed != len(lines(b)) {
			t.Errorf("%d added, %d removed", added, removed)
		}
	})
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	l := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if !strings.HasSuffix(s, "\n") {
		l[len(l)-1] += "\n\\ No newline at end of file"
	}
	return l
}

// applied applies a diff, as patch does.
func applied(a, diff string) (string, error) {
	if diff == "" {
		return a, nil
	}
	old, at := lines(a), 0
	var out []string
	diff = strings.ReplaceAll(diff, "\n\\ No newline at end of file", "\x00")
	for l := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		l = strings.ReplaceAll(l, "\x00", "\n\\ No newline at end of file")
		if from, ok := strings.CutPrefix(l, "@@ -"); ok {
			first, _, _ := strings.Cut(from, " ")
			start, count, pair := strings.Cut(first, ",")
			n, err := strconv.Atoi(start)
			if err != nil {
				return "", err
			}
			if !pair || count != "0" {
				n--
			}
			for ; at < n; at++ {
				out = append(out, old[at])
			}
			continue
		}
		switch l[0] {
		case '+':
			out = append(out, l[1:])
			continue
		case '-', ' ':
			if at >= len(old) || old[at] != l[1:] {
				return "", fmt.Errorf("line %d is not %q", at, l)
			}
			if l[0] == ' ' {
				out = append(out, l[1:])
			}
			at++
		}
	}
	out = append(out, old[at:]...)
	text := strings.Join(out, "\n") + "\n"
	if len(out) == 0 {
		return "", nil
	}
	return strings.TrimSuffix(text, "\n\\ No newline at end of file\n"), nil
}
