package bind_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	work, secret := filepath.Join(dir, "work"), filepath.Join(dir, "secret")
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	put(filepath.Join(work, "a.go"), "package a\r\n\nfunc A() {}\n")
	put(filepath.Join(work, "long.txt"), long.String())
	put(filepath.Join(work, "wide.txt"), strings.Repeat("x", 5000)+"\xff\n")
	put(filepath.Join(work, "blob"), "a\x00b")
	put(filepath.Join(work, "empty"), "")
	put(secret, "secret\n")
	ts := &bind.Terminals{Ctx: t.Context(), Files: inside{
		"/p/a.go": {FileStat: core.FileStat{FilePlace: core.FilePlace{Path: "/p/a.go", HostPath: "/home/u/a.go"}}, Data: []byte("package a\n\nfunc A() {}\n"), Whole: true},
		"/usr/x":  {FileStat: core.FileStat{FilePlace: core.FilePlace{Path: "/usr/x"}}, Data: []byte("x\ny\n")},
		"/p/blob": {FileStat: core.FileStat{FilePlace: core.FilePlace{Path: "/p/blob"}}, Data: []byte("a\x00b"), Whole: true},
	}}
	for _, c := range []struct {
		target    core.TerminalTarget
		dir, name string
		line      int
		first     int
		lines     int
		text      string // the first line
		more      bool
	}{
		{core.TargetAgent, "/p", "a.go", 3, 1, 3, "package a", false},
		{core.TargetAgent, "/p/sub", "../a.go", 0, 1, 3, "package a", false},
		{core.TargetAgent, "", "/p/a.go", 99, 1, 3, "package a", false},
		{core.TargetAgent, "/usr", "x", 2, 1, 2, "x", true},
		{core.TargetHost, work, "long.txt", 3000, 2000, 2001, "line 2000", true},
		{core.TargetHost, work, "long.txt", 1 << 40, 4000, 1001, "line 4000", false},
		{core.TargetHost, work, "wide.txt", 1, 1, 1, strings.Repeat("x", 2000) + "…", false},
		{core.TargetHost, work, "empty", 1, 1, 1, "", false},
		{core.TargetHost, work, "a.go", 1, 1, 3, "package a", false},
		{core.TargetHost, "", secret, 1, 1, 1, "secret", false},
	} {
		part, err := ts.ReadFile("ch", c.target, c.dir, c.name, c.line)
		if err != nil || part.First != c.first || len(part.Lines) != c.lines || part.Lines[0] != c.text || part.More != c.more {
			t.Errorf("%s %s: %d %d lines %v %v", c.dir, c.name, part.First, len(part.Lines), part.More, err)
		}
	}
	for name, c := range map[string]struct {
		target    core.TerminalTarget
		dir, name string
		code      core.Code
	}{
		"gone":                 {core.TargetAgent, "/p", "gone.go", core.CodeNotFound},
		"a folder on the host": {core.TargetHost, work, ".", core.CodeInvalid},
		"gone on the host":     {core.TargetHost, work, "gone.go", core.CodeNotFound},
		"no text":              {core.TargetAgent, "/p", "blob", core.CodeInvalid},
		"no text on the host":  {core.TargetHost, work, "blob", core.CodeInvalid},
		"no folder known":      {core.TargetAgent, "", "a.go", core.CodeInvalid},
		"none on the host":     {core.TargetHost, "", "a.go", core.CodeInvalid},
		"no name":              {core.TargetAgent, "/p", "", core.CodeInvalid},
		"control characters":   {core.TargetAgent, "/p", "a\x1b.go", core.CodeInvalid},
	} {
		if part, err := ts.ReadFile("ch", c.target, c.dir, c.name, 1); core.AsFailure(err).Code != c.code || core.AsFailure(err).Cause == "" {
			t.Errorf("%s: %+v %v", name, part, err)
		}
	}
}

func TestReadFileSaysWhereItIs(t *testing.T) {
	ts := &bind.Terminals{Ctx: t.Context(), Files: inside{
		"/p/a": {FileStat: core.FileStat{FilePlace: core.FilePlace{Path: "/p/a", HostPath: "/home/u/a"}}},
		"/b":   {FileStat: core.FileStat{FilePlace: core.FilePlace{Path: "/b"}}},
	}}
	for name, want := range map[string]string{"/p/a": "/home/u/a", "/b": "/b"} {
		if part, err := ts.ReadFile("ch", core.TargetAgent, "", name, 1); err != nil || part.Path != want {
			t.Errorf("%s is at %s: %v", name, part.Path, err)
		}
	}
}

// inside is the files of a container by their paths.
type inside map[string]core.FileContent

func (i inside) Read(_ context.Context, _ core.ChannelID, p string, _ int64) (core.FileContent, error) {
	c, ok := i[p]
	if !ok {
		return c, core.Fail(core.CodeNotFound, nil, "It is not there.", "Look at the folder.")
	}
	return c, nil
}
