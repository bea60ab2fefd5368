package worktree

import "testing"

func FuzzParseList(f *testing.F) {
	f.Add("worktree /a\x00HEAD 1\x00branch refs/heads/main\x00\x00worktree /b\x00detached\x00locked why\x00\x00")
	f.Add("bare\x00\x00worktree\x00\x00branch x")
	f.Fuzz(func(t *testing.T, text string) {
		list := parseList(text)
		if len(list) > maxTrees {
			t.Error(len(list))
		}
		for _, w := range list {
			if w.Dir == "" {
				t.Errorf("%+v", w)
			}
		}
	})
}
