package core

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitle(t *testing.T) {
	for in, want := range map[string]string{
		"Fix the login":                        "Fix the login",
		"\n\n# Fix *the* `login`\nmore":        "Fix the login",
		"- [ ] 1. Do it":                       "1. Do it",
		"> **Why** does snake_case_name fail?": "Why does snake_case_name fail?",
		"See [the docs](https://x.y/z) first":  "See the docs first",
		"```go\nfunc main() {}\n```":           "func main() {}",
		"---\n***\n???":                        "",
		"":                                     "",
		"/review @src/app.ts":                  "/review @src/app.ts",
		"a\u202eb\x1b[31m":                     "a b [31m",
		"_really_ __do__ it":                   "really do it",
		"2 * 3 * 4":                            "2 * 3 * 4",
		"日本語のタイトル":                             "日本語のタイトル",
		"Please look at every place where a token is compared and make it constant time": "Please look at every place where a token is compared and…",
		strings.Repeat("x", 100):  strings.Repeat("x", 60) + "…",
		strings.Repeat("é", 9000): strings.Repeat("é", 60) + "…",
	} {
		if got := Title(in); got != want {
			t.Errorf("%.80q: %q, not %q", in, got, want)
		}
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("# **a** [b](c) `d`")
	f.Add("\xff\u202e```\n")
	f.Fuzz(func(t *testing.T, in string) {
		got := Title(in)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > titleLimit+1 || strings.ContainsAny(got, "\n\r\x1b\u202e") {
			t.Errorf("%q", got)
		}
	})
}
