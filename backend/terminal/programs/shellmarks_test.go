package programs

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestShellsOfContainersAreMarked(t *testing.T) {
	req := core.SpawnRequest{ID: "abc", Env: []core.EnvVar{{Name: "A", Value: "1"}}, Files: []core.SpawnFile{{Name: "key"}}}
	got := Marked(req, []string{"/bin/bash", "-l"})
	if want := []string{"/bin/bash", "--rcfile", "/run/loop/runs/abc/loop.bash", "-i"}; !slices.Equal(got.Argv, want) {
		t.Errorf("%q", got.Argv)
	}
	if len(got.Files) != 2 || got.Files[0].Name != "key" || got.Files[1].Name != "loop.bash" {
		t.Errorf("%v", got.Files)
	}
	if got = Marked(req, []string{"/bin/sh", "-l"}); len(got.Files) != 1 || len(got.Argv) != 2 {
		t.Errorf("sh is changed: %q", got.Argv)
	}
}

func TestTheOwnShellIsMarked(t *testing.T) {
	home := t.TempDir()
	p := Host{Home: home, Log: slog.New(slog.DiscardHandler)}
	for range 2 { // the second start finds the files
		argv, env := p.marked([]string{"/bin/bash", "-l"}, []string{"A=1"})
		if len(argv) != 4 || len(env) != 1 {
			t.Fatalf("%q %q", argv, env)
		}
		if !strings.HasPrefix(argv[2], filepath.Join(home, "run")) {
			t.Fatal(argv[2])
		}
		if text, err := os.ReadFile(argv[2]); err != nil || !strings.HasPrefix(string(text), "__loop_login=1\n") {
			t.Fatal(err)
		}
		if err := os.WriteFile(argv[2], []byte("half"), 0o600); err != nil { // the next start repairs it
			t.Fatal(err)
		}
	}
	if argv, _ := p.marked([]string{"/bin/sh", "-l"}, nil); len(argv) != 2 {
		t.Fatal(argv)
	}
	// Without a place for the files, the shell starts without them.
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.Home = file
	if argv, _ := p.marked([]string{"/bin/bash", "-l"}, nil); len(argv) != 2 {
		t.Fatal(argv)
	}
}
