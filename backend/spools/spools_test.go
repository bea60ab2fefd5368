//go:build unix

package spools

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"loop/backend/core"
	"loop/backend/wire"
)

const canary = "sk-ant-canary-5d1f"

// spoolRig is a channel's spool folder. The function put writes a file into it.
func spoolRig(t *testing.T) (s Folders, folder string, put func(name, text string)) {
	t.Helper()
	s = Folders{Home: t.TempDir()}
	folder = filepath.Join(s.Home, "channels", "c", "spool")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return s, folder, func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpoolIsReadFromAnOffset(t *testing.T) {
	s, _, put := spoolRig(t)
	put("s1.out", "one\ntwo\n")
	for offset, want := range map[int64]string{0: "one\ntwo\n", 4: "two\n", 8: "", 100: ""} {
		f, err := s.Open(t.Context(), "c", "s1", offset)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || string(got) != want {
			t.Errorf("from %d: %q, %v", offset, got, err)
		}
	}
	if f, err := s.Open(t.Context(), "c", "s1", -1); err == nil {
		f.Close()
		t.Error("a negative offset was taken")
	}
}

// TestSpoolThatIsNotThere: a missing spool is core.ErrNotFound. Anything else than a
// plain file below the folder is refused, and nobody waits for it.
func TestSpoolThatIsNotThere(t *testing.T) {
	s, folder, put := spoolRig(t)
	secret := filepath.Join(s.Home, "config.json")
	if err := os.WriteFile(secret, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	put("x.out", "")
	for _, err := range []error{
		os.Symlink(secret, filepath.Join(folder, "abs.out")),
		os.Symlink("../../../config.json", filepath.Join(folder, "rel.out")),
		unix.Mkfifo(filepath.Join(folder, "pipe.out"), 0o600),
		os.Mkdir(filepath.Join(folder, "dir.out"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for spawn, notFound := range map[core.SpawnID]bool{
		"gone": true, "": true, "../../../config": true, "a/b": true, "-x": true, core.SpawnID(strings.Repeat("x", 65)): true,
		"pipe": true, "dir": true, "abs": false, "rel": false,
	} {
		f, err := s.Open(t.Context(), "c", spawn, 0)
		if err == nil {
			f.Close()
		}
		if err == nil || errors.Is(err, core.ErrNotFound) != notFound {
			t.Errorf("%q: %v", spawn, err)
		}
	}
	if _, err := s.Open(t.Context(), "no-channel", "nowhere", 0); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("a channel without a folder: %v", err)
	}
}

func TestExitRecordIsBelievedOnlyWhole(t *testing.T) {
	s, _, put := spoolRig(t)
	good, err := wire.ExitRecord{ID: "s1", Exit: wire.Exit{Code: 137, Signal: "SIGKILL", At: 1234}, OutEnd: 8}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put("s1"+wire.ExitSuffix, string(good))
	st, ok := s.Exit(t.Context(), "c", "s1")
	if !ok || st.Code != 137 || st.Signal != "SIGKILL" || st.At.UnixMilli() != 1234 {
		t.Errorf("%+v, %v", st, ok)
	}
	for name, text := range map[string]string{
		"empty": "", "torn": string(good[:len(good)-2]), "of another spawn": string(good), "no json": "exit 0",
		"endless": strings.Replace(string(good), "{", "{"+strings.Repeat(" ", 70<<10), 1),
	} {
		put("s2"+wire.ExitSuffix, text)
		if st, ok := s.Exit(t.Context(), "c", "s2"); ok {
			t.Errorf("%s: believed %+v", name, st)
		}
	}
	if _, ok := s.Exit(t.Context(), "c", "gone"); ok {
		t.Error("a record that is not there was believed")
	}
}

func TestDropRemovesOneSpawnsFiles(t *testing.T) {
	s, folder, put := spoolRig(t)
	outside := filepath.Join(s.Home, "keep")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s1.out", "s1.err", "s2.out", "s10.out"} {
		put(name, "x")
	}
	if err := os.Symlink(outside, filepath.Join(folder, "s1"+wire.ExitSuffix)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second removal is no error
		if err := s.Drop(t.Context(), "c", "s1"); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "s10.out s2.out" {
		t.Errorf("left %q", got)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("what a link led to: %v", err)
	}
	for _, spawn := range []core.SpawnID{"", "..", "../../../keep", "*"} {
		if err := s.Drop(t.Context(), "c", spawn); err != nil {
			t.Errorf("%q: %v", spawn, err)
		}
	}
	if err := s.Drop(t.Context(), "no-channel", "s1"); err != nil {
		t.Errorf("a channel without a folder: %v", err)
	}
}
