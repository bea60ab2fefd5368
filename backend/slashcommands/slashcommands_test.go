package slashcommands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// box has files by their paths; broken is a folder that cannot be read.
type box struct {
	files  map[string]string
	broken string
	own    []string
	reads  int
	lists  int
	stop   func() // is called with the first folder
}

func (b *box) Channel(_ context.Context, id core.ChannelID) (core.Channel, error) {
	if id != "c" {
		return core.Channel{}, core.ErrNotFound
	}
	return core.Channel{ID: id, Commands: b.own}, nil
}

func (b *box) List(_ context.Context, _ core.ChannelID, dir string) (out core.FileListing, err error) {
	b.lists++
	if b.stop != nil {
		b.stop()
	}
	if dir == b.broken {
		return out, core.Fail(core.CodeDir, nil, "You may not do this with it.", "")
	}
	seen := map[string]core.FileKind{}
	for name := range b.files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			first, _, deeper := strings.Cut(rest, "/")
			seen[first] = core.FileOrdinary
			if deeper {
				seen[first] = core.FileFolder
			}
		}
	}
	if len(seen) == 0 {
		return out, core.Fail(core.CodeNotFound, nil, "It is not there.", "")
	}
	for name, kind := range seen {
		out.Files = append(out.Files, core.ContainerFile{Name: name, Kind: kind})
	}
	return out, nil
}

func (b *box) Read(_ context.Context, _ core.ChannelID, name string, most int64) (out core.FileContent, err error) {
	b.reads++
	data, ok := b.files[name]
	if !ok {
		return out, errors.New("not there")
	}
	out.Data = []byte(data[:min(len(data), int(most))])
	return out, nil
}

func (b *box) said(t *testing.T) (out []string, left string) {
	t.Helper()
	got, err := Of(b, b).Commands(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Commands {
		out = append(out, fmt.Sprintf("%s /%s %s| %s", c.Source, c.Name, c.Hint, c.Description))
	}
	return out, got.Left
}

func TestCommands(t *testing.T) {
	b := &box{own: []string{"init", "migration", "db:seed", "clear", "strange", "--x", "a b", "init"}, files: map[string]string{
		".claude/commands/migration.md":              "---\ndescription: \"Make a migration\"\nargument-hint: <name>\n---\nDo it.",
		".claude/commands/db/seed.md":                "\n# Seed the database\n",
		".claude/commands/README.txt":                "no command",
		".claude/commands/a/b/c/d/e.md":              "too deep",
		".claude/skills/notes/SKILL.md":              "---\nname: other\ndescription: >\n  Write\n  notes\nuser-invocable: true\n---\n",
		".claude/skills/hidden/SKILL.md":             "---\nuser-invocable: false\ndescription: x\n---\n",
		".claude/skills/empty/README.md":             "no skill",
		sandbox.ClaudeDir + "/commands/ticket.md":    "Turn it into a ticket",
		sandbox.ClaudeDir + "/commands/migration.md": "the project's wins",
	}}
	got, left := b.said(t)
	want := []string{
		"claude /init | Write a CLAUDE.md for this project", "claude /strange | ",
		"project /db:seed | Seed the database", "project /migration <name>| Make a migration", "project /notes | Write notes",
		"person /ticket | Turn it into a ticket",
	}
	if !slices.Equal(got, want) || left != "" {
		t.Errorf("%q, want %q; left %q", got, want, left)
	}
	b.own, b.files, b.broken = nil, map[string]string{}, ".claude/commands"
	if got, left := b.said(t); len(got) != len(shipped) || left != "You may not do this with it." {
		t.Errorf("%q %q", got, left)
	}
	if _, err := Of(b, b).Commands(t.Context(), "gone"); err == nil {
		t.Error("commands of no channel")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Of(b, b).Commands(ctx, "c"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestCommandsAreBounded: a project may have any number of files, of any content.
func TestCommandsAreBounded(t *testing.T) {
	b := &box{files: map[string]string{}}
	for i := range 3 * maxFiles {
		b.files[fmt.Sprintf(".claude/commands/c%d.md", i)] = "x"
	}
	got, left := b.said(t)
	if b.reads != maxFiles || len(got) != maxFiles+len(shipped) || left == "" {
		t.Errorf("%d reads, %d commands, %q", b.reads, len(got), left)
	}
	b.files = map[string]string{
		".claude/commands/" + strings.Repeat("n", 200) + ".md": "long", ".claude/commands/a b.md": "blank", ".claude/commands/\u202egnp.md": "turned",
		".claude/commands/x.md": "---\ndescription: " + strings.Repeat("w\u202e\x1b[31m", 9000) + "\n---\n",
	}
	got, _ = b.said(t)
	if len(got) != len(shipped)+1 || strings.ContainsAny(got[len(got)-1], "\u202e\x1b") || utf8.RuneCountInString(got[len(got)-1]) > maxDescription+40 {
		t.Errorf("%q", got)
	}
}

// TestFoldersAreBounded: a project may have any number of folders, each of which takes a while to
// be listed. It does not keep the person's own commands from being listed.
func TestFoldersAreBounded(t *testing.T) {
	b := &box{files: map[string]string{".claude/commands/z.md": "z", ".claude/skills/notes/SKILL.md": "n", sandbox.ClaudeDir + "/commands/mine/a.md": "a"}}
	for i := range 30 {
		for k := range 30 {
			b.files[fmt.Sprintf(".claude/commands/a%d/b%d/README.txt", i, k)] = "no command"
		}
	}
	got, left := b.said(t)
	if b.lists > maxFolders+5 || len(got) != len(shipped)+3 || !strings.Contains(left, ".claude/commands has more than 100 folders") {
		t.Errorf("%d folders, %d commands, %q", b.lists, len(got), left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.lists, b.stop = 0, cancel
	if _, err := Of(b, b).Commands(ctx, "c"); !errors.Is(err, context.Canceled) || b.lists != 1 {
		t.Errorf("%d folders, %v", b.lists, err)
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte("---\ndescription: |\n  a\n---\nb"))
	f.Add([]byte("---\ndescription:"))
	f.Add([]byte("\xff\xfe---"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := headOf(data)
		for _, s := range []string{h.description, h.hint} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x1b\u202e") || utf8.RuneCountInString(s) > maxDescription+1 {
				t.Errorf("%q", s)
			}
		}
	})
}
