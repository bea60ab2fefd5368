package filesearch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func walked(t *testing.T, dir string) *Index {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	x, err := Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestIgnored(t *testing.T) {
	for _, tc := range []struct {
		rules, path string
		dir, want   bool
	}{
		{"*.log", "a/b.log", false, true},
		{"*.log\n!b.log", "a/b.log", false, false},
		{"/b.log", "a/b.log", false, false},
		{"a/*.log", "a/b.log", false, true},
		{"a/*.log", "x/a/b.log", false, false},
		{"out/", "out", false, false},
		{"out/", "x/out", true, true},
		{"**/out", "x/y/out", true, true},
		{"**/out", "out", true, true},
		{"a/**", "a", true, false},
		{"a/**", "a/b/c", false, true},
		{"a/**/c", "a/c", false, true},
		{"a/**/c", "a/b/b/c", false, true},
		{"a/**/c", "a/b/d", false, false},
		{"# no", "# no", false, false},
		{`\#yes`, "#yes", false, true},
		{`\!yes`, "!yes", false, true},
		{"end ", "end", false, true},
		{`end\ `, "end ", false, true},
		{"[a-c]?.[!t]o", "bx.go", false, true},
		{"[a-c", "a", false, false},
		{"[]]", "]", false, true},
		{"[[:digit:]]*", "9a", false, true},
		{"crlf\r", "crlf", false, true},
		{"\n/\n!\n", "x", false, false},
	} {
		if got := ignored([]rules{parseRules([]byte(tc.rules), 0)}, strings.Split(tc.path, "/"), tc.dir); got != tc.want {
			t.Errorf("%q, %q: %v", tc.rules, tc.path, got)
		}
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		".git/info/exclude": "mine\n", ".git/config": "x", ".gitignore": "*.log\nnode_modules/\n/out\n", "mine": "", "a.log": "",
		"node_modules/x/y": "", "src/main.go": "", "src/.gitignore": "!keep.log\nout\n", "src/keep.log": "", "src/out/x": "",
		"module/.git": "gitdir: ../.git/modules/module", "module/own.log": "",
	})
	x := walked(t, dir)
	want := []string{".gitignore", "module/", "module/own.log", "src/", "src/.gitignore", "src/keep.log", "src/main.go"}
	if !slices.Equal(x.paths, want) || x.Ignored != 4 || x.Partial {
		t.Errorf("%q, ignored %d, partial %v", x.paths, x.Ignored, x.Partial)
	}
}

func TestWalkEnds(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"a/b": "", "c": ""})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x, err := Walk(ctx, root, nil); err != nil || !x.Partial || x.Len() > 0 {
		t.Errorf("%+v %v", x, err)
	}
	if x, err := Walk(t.Context(), root, func(p string) bool { return p == "a" }); err != nil || !slices.Equal(x.paths, []string{"c"}) {
		t.Errorf("covered: %+v %v", x, err)
	}
}

func of(paths ...string) *Index {
	x := &Index{paths: paths}
	for _, p := range paths {
		x.sets = append(x.sets, letters(lowered(p)))
	}
	return x
}

func TestFind(t *testing.T) {
	x := of("configs/", "configs/limits.yaml", "docs/", "docs/rate-limits.md", "internal/", "internal/limit/", "internal/limit/config.go",
		"internal/limit/limiter.go", "internal/auth/login_middleware.go", "README.md", "Ünï/größe.txt", "slim/x.go")
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"lim", []string{"internal/limit/", "configs/limits.yaml", "internal/limit/limiter.go", "docs/rate-limits.md"}},
		{"limits", []string{"configs/limits.yaml", "docs/rate-limits.md"}},
		{"readme", []string{"README.md"}},
		{"", []string{"docs/", "configs/", "README.md", "internal/"}},
		{"internal/limit/", []string{"internal/limit/config.go", "internal/limit/limiter.go"}},
		{"internal/limit/er", []string{"internal/limit/limiter.go"}},
		{"int/lim", []string{"internal/limit/"}},
		{"größe", []string{"Ünï/größe.txt"}},
		{"zzz", nil},
		{strings.Repeat("l", 300), nil},
	} {
		got, total, err := x.Find(t.Context(), tc.query, 20)
		var paths []string
		for _, m := range got {
			paths = append(paths, m.Path)
			for _, at := range m.Marks {
				if at >= utf8.RuneCountInString(m.Path) {
					t.Errorf("%q marks %d of %q", tc.query, at, m.Path)
				}
			}
		}
		if err != nil || total != len(got) || len(paths) < len(tc.want) || tc.query != "" && !slices.Equal(paths[:len(tc.want)], tc.want) {
			t.Errorf("%q: %q of %d %v, want %q first", tc.query, paths, total, err, tc.want)
		}
	}
	if got, total, _ := x.Find(t.Context(), "l", 2); len(got) != 2 || total < 5 {
		t.Errorf("%v of %d", got, total)
	}
	recent := []string{"slim/x.go", "gone.go", "docs/rate-limits.md"}
	for query, want := range map[string][]string{
		"lim": {"docs/rate-limits.md", "slim/x.go"}, "limits": {"docs/rate-limits.md", "configs/limits.yaml"}, "": {"slim/x.go", "docs/rate-limits.md"},
	} {
		got, total, err := x.Find(t.Context(), query, 20, recent...)
		if query == "lim" { // in the order of what is recent
			want[0], want[1] = want[1], want[0]
		}
		if err != nil || total != len(got) || got[0].Path != want[0] || got[1].Path != want[1] || !got[0].Recent || got[1].Recent != (query != "limits") {
			t.Errorf("%q: %+v of %d %v", query, got, total, err)
		}
	}
	if got, _, _ := x.Find(t.Context(), "internal/", 20); got[0].Path != "internal/limit/" || got[0].Files != 2 {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := x.Find(ctx, "l", 2); err == nil {
		t.Error("a search that was ended answered")
	}
}

func FuzzIgnored(f *testing.F) {
	f.Add([]byte("a/**/b\n!*.go\n[a-\\]]*"), "a/x/b")
	f.Add([]byte("\\"), "\\")
	f.Add([]byte("**/**/**"), "a")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		ignored([]rules{parseRules(text, 0)}, strings.Split(path, "/"), true)
	})
}

func FuzzFind(f *testing.F) {
	f.Add("a/", "A/b\u202e/c")
	f.Add("ß", "grö\xffße")
	f.Fuzz(func(t *testing.T, query, path string) {
		if path == "" {
			return
		}
		got, _, err := of(path).Find(t.Context(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			for _, at := range m.Marks {
				if at < 0 || at >= utf8.RuneCountInString(m.Path) {
					t.Fatalf("%d of %q", at, m.Path)
				}
			}
		}
	})
}

// BenchmarkFind is a letter typed over as many names as an Index has at most.
func BenchmarkFind(b *testing.B) {
	x := &Index{}
	w := walker{ctx: b.Context(), x: x}
	for i := range MaxNames {
		w.add(fmt.Sprintf("services/team%d/internal/module%d/RequestHandler%d.go", i%40, i%900, i))
	}
	for _, query := range []string{"l", "handler499", "tm3mod", "qqq"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := x.Find(b.Context(), query, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
