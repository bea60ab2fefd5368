package openeditor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

type files string

func (f files) HostFile(_ context.Context, _ core.ChannelID, path string) (string, error) {
	if path == "inside" {
		return "", core.Fail(core.CodeNotFound, nil, "The file is in the container alone.", "Look at it here.")
	}
	return filepath.Join(string(f), path), nil
}

// program is one that does what a script says; its folder is the test's.
func program(t *testing.T, script string) (*Opener, string) {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "my editor")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return New(files(dir), func() []string { return []string{name, "{file}", "{line}"} }), dir
}

func TestOpen(t *testing.T) {
	home := t.TempDir()
	t.Setenv("LOOP_SECRET", "x")
	t.Setenv("HOME", home)
	o, dir := program(t, `printf '%s|' "$@" "$PWD" "$LOOP_SECRET" >"$1.said"`)
	got, err := o.Open(t.Context(), "c", "a; touch x", 12, 0)
	if err != nil || got.Name != "my editor" || len(got.Cmd) != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "a; touch x.said"))
	if want := filepath.Join(dir, "a; touch x") + "|12|" + home + "||"; err != nil || string(said) != want {
		t.Errorf("%q %v", said, err)
	}
	if _, err := o.Open(t.Context(), "c", "inside", 0, 0); core.AsFailure(err).Code != core.CodeNotFound {
		t.Error(err)
	}
}

func TestAnEditorThatFailsAndOneThatStays(t *testing.T) {
	o, _ := program(t, "echo no display >&2; exit 3")
	_, err := o.Open(t.Context(), "c", "a", 1, 1)
	if f := core.AsFailure(err); !strings.Contains(f.Cause, "code 3") || !strings.Contains(err.Error(), "no display") {
		t.Errorf("%v", err)
	}
	o, dir := program(t, `read x <"$1"`) // a pipe: it ends when something is written
	pipe := filepath.Join(dir, "pipe")
	mkfifo(t, pipe)
	if _, err := o.Open(t.Context(), "c", "pipe", 1, 1); err != nil {
		t.Fatal(err)
	}
	if len(o.started) != 1 {
		t.Errorf("%d are kept", len(o.started))
	}
	if err := os.WriteFile(pipe, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for {
		if _, ended := exited(o.started[0]); ended {
			return
		}
	}
}

func TestAnEditorForATerminalIsLeftToTheCaller(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	o := New(files(dir), func() []string { return []string{"nvim"} })
	o.computer = computer("linux", "nvim")
	got, err := o.Open(t.Context(), "c", "a.go", 5, 1)
	if err != nil || !slices.Equal(got.Cmd, []string{"/bin/nvim", "+5", filepath.Join(dir, "a.go")}) || got.Dir != home || got.Name != "nvim" {
		t.Errorf("%+v %v", got, err)
	}
}
