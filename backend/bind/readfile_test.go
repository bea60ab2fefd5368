package bind_test

import (
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
	work, other, secret := filepath.Join(dir, "work"), filepath.Join(dir, "other"), filepath.Join(dir, "secret")
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
	put(filepath.Join(other, "b.txt"), "b\n")
	put(filepath.Join(dir, "one.txt"), "one\n")
	put(secret, "secret\n")
	if err := os.Symlink(secret, filepath.Join(work, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.go", filepath.Join(work, "in")); err != nil {
		t.Fatal(err)
	}
	ts := &bind.Terminals{Ctx: t.Context(), Shared: mountList{
		{Source: work, Target: "/p"}, {Source: other, Target: "/p/lies/over"}, {Source: filepath.Join(dir, "one.txt"), Target: "/etc/one"},
		{Source: "volume", Target: "/opt/loop", Volume: true},
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
		{core.TargetAgent, "/p", "in", 1, 1, 3, "package a", false},
		{core.TargetAgent, "/p/lies", "over/b.txt", 1, 1, 1, "b", false},
		{core.TargetAgent, "/", "etc/one", 1, 1, 1, "one", false},
		{core.TargetAgent, "/p", "long.txt", 3000, 2000, 2001, "line 2000", true},
		{core.TargetAgent, "/p", "long.txt", 1 << 40, 4000, 1001, "line 4000", false},
		{core.TargetAgent, "/p", "wide.txt", 1, 1, 1, strings.Repeat("x", 2000) + "…", false},
		{core.TargetAgent, "/p", "empty", 1, 1, 1, "", false},
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
		"gone":                  {core.TargetAgent, "/p", "gone.go", core.CodeNotFound},
		"a folder":              {core.TargetAgent, "/p", ".", core.CodeInvalid},
		"a folder on the host":  {core.TargetHost, work, ".", core.CodeInvalid},
		"no text":               {core.TargetAgent, "/p", "blob", core.CodeInvalid},
		"a link that leads out": {core.TargetAgent, "/p", "out", core.CodeDir},
		"in the container only": {core.TargetAgent, "/usr", "x", core.CodeMount},
		"over the project":      {core.TargetAgent, "/p", "../secret", core.CodeMount},
		"in a volume":           {core.TargetAgent, "/opt/loop", "bin/loop", core.CodeMount},
		"no folder known":       {core.TargetAgent, "", "a.go", core.CodeInvalid},
		"none on the host":      {core.TargetHost, "", "a.go", core.CodeInvalid},
		"no name":               {core.TargetAgent, "/p", "", core.CodeInvalid},
		"control characters":    {core.TargetAgent, "/p", "a\x1b.go", core.CodeInvalid},
	} {
		if part, err := ts.ReadFile("ch", c.target, c.dir, c.name, 1); core.AsFailure(err).Code != c.code || core.AsFailure(err).Cause == "" {
			t.Errorf("%s: %+v %v", name, part, err)
		}
	}
}
