//go:build linux

package initd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loop/backend/wire"
)

func newSetup(t *testing.T, command string) (s setup, said func() string) {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	if command != "" {
		if err := os.WriteFile(filepath.Join(dir, wire.SetupFile), []byte(command), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = setup{dir: dir, home: filepath.Join(t.TempDir(), "home"), limit: time.Hour, out: out, etc: t.TempDir(),
		who: identity{uid: 1000, gid: 1000, user: "mira", home: "/home/mira"}}
	return s, func() string {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
}

func TestSetupRunsTheCommandInAHomeOfItsOwn(t *testing.T) {
	t.Setenv("LOOP_AGENT_USER", "somebody")
	s, said := newSetup(t, `echo "at $PWD, home $(ls -A "$HOME"), ${LOOP_AGENT_USER:-nobody}"; touch "$HOME/left"; echo loud >&2`)
	code, due := s.run(t.Context())
	if code != wire.ExitSetUp || !due || said() != "at /, home , nobody\nloud\n" {
		t.Fatalf("code %d, due %v, said %q", code, due, said())
	}
	if _, err := os.Stat(s.home); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the home of the command is left: %v", err)
	}
}

func TestSetupWithoutACommandIsNotDue(t *testing.T) {
	s, said := newSetup(t, "")
	if code, due := s.run(t.Context()); code != 0 || due || said() != "" {
		t.Fatalf("code %d, due %v, said %q", code, due, said())
	}
	s.dir = filepath.Join(s.dir, "absent")
	if code, due := s.run(t.Context()); code != 0 || due {
		t.Fatalf("code %d, due %v without a folder", code, due)
	}
}

func TestSetupThatFailsSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		change  func(*testing.T, *setup)
		want    string
	}{
		"ends with a code": {"echo no such package; exit 100", nil, "exit status 100"},
		"takes too long":   {"exec sleep 1000", func(_ *testing.T, s *setup) { s.limit = 50 * time.Millisecond }, "had not ended after 50ms"},
		"too long":         {strings.Repeat("#", wire.MaxSetupCommand+1), nil, "more than 65536 bytes"},
		"empty":            {" \n", nil, "is empty"},
		"a link out": {"", func(t *testing.T, s *setup) {
			if err := os.Symlink("/etc/hostname", filepath.Join(s.dir, wire.SetupFile)); err != nil {
				t.Fatal(err)
			}
		}, "escapes"},
		"a folder": {"", func(t *testing.T, s *setup) {
			if err := os.Mkdir(filepath.Join(s.dir, wire.SetupFile), 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s, said := newSetup(t, c.command)
			if c.change != nil {
				c.change(t, &s)
			}
			code, due := s.run(t.Context())
			if code != wire.ExitSetupFailed || !due || !strings.Contains(said(), c.want) {
				t.Fatalf("code %d, due %v, said %q; want %q", code, due, said(), c.want)
			}
		})
	}
}

func TestSetupEndsWhenTheContainerIsStopped(t *testing.T) {
	s, said := newSetup(t, "exec sleep 1000")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the container was stopped"))
	if code, due := s.run(ctx); code != wire.ExitSetupFailed || !due || !strings.Contains(said(), "the container was stopped") {
		t.Fatalf("code %d, due %v, said %q", code, due, said())
	}
}

// TestSetupOfTheHostAlone: a folder of the image, a volume, and one that an agent made are
// none.
func TestSetupOfTheHostAlone(t *testing.T) {
	const root = "602 442 0:52 / / rw,relatime master:200 - overlay overlay rw\n"
	line := func(place, options string) string {
		return "613 602 8:1 /x " + place + " " + options + " - ext4 /dev/sda1 rw\n"
	}
	for name, c := range map[string]struct {
		info string
		want bool
	}{
		"mounted":                  {root + line(wire.SetupDir, "ro,relatime"), true},
		"a folder of the image":    {root, false},
		"below a read-only root":   {"602 442 0:52 / / ro - overlay overlay rw\n" + line("/opt/loop/bin", "ro"), false},
		"a volume":                 {root + line(wire.SetupDir, "rw,relatime"), false},
		"covered by another":       {root + line(wire.SetupDir, "ro") + line(wire.SetupDir, "rw"), false},
		"a place with such a name": {root + line(wire.SetupDir+"\\040x", "ro") + line("/x"+wire.SetupDir, "ro"), false},
		"nothing known":            {"", false},
	} {
		if got := setupMounted(c.info, wire.SetupDir); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSetupEnvironment(t *testing.T) {
	got := setupEnv([]string{"LANG=C.UTF-8", "HOME=/home/me", "LOOP_GATE_ENABLED=1", "USER=me", "CLAUDE_CONFIG_DIR=/opt/loop/.claude"}, "/h")
	want := []string{"LANG=C.UTF-8", "HOME=/h", "USER=root", "LOGNAME=root", "DEBIAN_FRONTEND=noninteractive",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
	if got := setupEnv([]string{"PATH=/p"}, "/h"); got[0] != "PATH=/p" || slices.Contains(got[1:], "PATH=/p") || len(got) != 5 {
		t.Fatalf("got %q", got)
	}
}
