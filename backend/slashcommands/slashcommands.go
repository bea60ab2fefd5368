package slashcommands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// Bounds of one list.
const (
	maxFiles   = 200 // that are read
	maxFolders = 100 // of commands, in those of one source
	maxDepth   = 3   // of folders of commands
	maxHead    = 16 << 10
)

// Files reads files by a container's paths.
type Files interface {
	List(ctx context.Context, ch core.ChannelID, path string) (core.FileListing, error)
	Read(ctx context.Context, ch core.ChannelID, path string, most int64) (core.FileContent, error)
}

// Channels finds channels; one that is gone is core.ErrNotFound.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
}

// Service lists commands. Methods may be called from any goroutine.
type Service struct {
	channels Channels
	files    Files
}

// Of returns a Service.
func Of(channels Channels, files Files) Service { return Service{channels, files} }

// folders are where commands are, in the order in which they are read.
var folders = []struct {
	source core.CommandSource
	dir    string
}{
	{core.CommandProject, ".claude"}, // below the folder that agents work in
	{core.CommandPerson, sandbox.ClaudeDir},
}

// search is the making of one list.
type search struct {
	Service
	ctx     context.Context
	ch      core.ChannelID
	out     []core.SlashCommand
	read    int
	folders int // in those of one source
	left    []string
}

// Commands lists what a prompt of the channel can begin with. A folder that cannot be read is
// said in the answer.
func (s Service) Commands(ctx context.Context, ch core.ChannelID) (core.SlashCommands, error) {
	channel, err := s.channels.Channel(ctx, ch)
	if errors.Is(err, core.ErrNotFound) {
		return core.SlashCommands{}, core.Fail(core.CodeNotFound, err, "This channel does not exist any more.", "Choose another channel.")
	}
	if err != nil {
		return core.SlashCommands{}, fmt.Errorf("read channel: %w", err)
	}
	f := &search{Service: s, ctx: ctx, ch: ch}
	for _, at := range folders {
		f.folders = 0
		f.commands(at.source, at.dir+"/commands", "", 0)
		if f.folders > maxFolders {
			f.left = append(f.left, fmt.Sprintf("%s/commands has more than %d folders; the rest is not listed.", at.dir, maxFolders))
		}
		f.skills(at.source, at.dir+"/skills")
	}
	if ctx.Err() != nil {
		return core.SlashCommands{}, fmt.Errorf("list commands: %w", ctx.Err())
	}
	f.out = append(own(channel, f.out), f.out...)
	order := []core.CommandSource{core.CommandClaude, core.CommandProject, core.CommandPerson}
	slices.SortStableFunc(f.out, func(a, b core.SlashCommand) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Source), slices.Index(order, b.Source)), strings.Compare(a.Name, b.Name))
	})
	if f.read > maxFiles {
		f.left = append(f.left, fmt.Sprintf("There are more than %d files of commands; the rest is not listed.", maxFiles))
	}
	return core.SlashCommands{Commands: f.out, Left: strings.Join(slices.Compact(f.left), " ")}, nil
}

// own are the CLI's commands without what files have.
func own(ch core.Channel, files []core.SlashCommand) (out []core.SlashCommand) {
	names := ch.Commands
	if len(names) == 0 {
		names = shipped
	}
	for _, name := range names[:min(len(names), core.MaxCommands)] {
		of := func(c core.SlashCommand) bool { return c.Name == name }
		if core.IsCommandName(name) && !slices.Contains(useless, name) && !slices.ContainsFunc(slices.Concat(files, out), of) {
			out = append(out, core.SlashCommand{Name: name, Hint: hints[name], Description: says[name], Source: core.CommandClaude})
		}
	}
	return out
}

// list lists a folder; one that is not there has nothing.
func (f *search) list(dir string) []core.ContainerFile {
	if f.ctx.Err() != nil {
		return nil
	}
	l, err := f.files.List(f.ctx, f.ch, dir)
	if err == nil {
		return l.Files
	}
	fault, told := errors.AsType[*core.Failure](err)
	if !told || fault.Code != core.CodeNotFound {
		why := fmt.Sprintf("%s could not be read.", dir)
		if told {
			why = fault.Cause
		}
		f.left = append(f.left, why)
	}
	return nil
}

// commands takes the Markdown files of a folder, and of those in it: a folder's name comes in
// front of a command's, with a colon.
func (f *search) commands(source core.CommandSource, dir, prefix string, depth int) {
	for _, file := range f.list(dir) {
		stem, markdown := strings.CutSuffix(file.Name, ".md")
		at := path.Join(dir, file.Name)
		switch {
		case markdown && (file.Kind == core.FileOrdinary || file.Kind == core.FileLink):
			f.take(source, prefix+stem, at)
		case file.Kind == core.FileFolder && depth < maxDepth && core.IsCommandName(file.Name):
			if f.folders++; f.folders <= maxFolders {
				f.commands(source, at, prefix+file.Name+":", depth+1)
			}
		}
	}
}

// skills takes the folders with a SKILL.md.
func (f *search) skills(source core.CommandSource, dir string) {
	for _, file := range f.list(dir) {
		if file.Kind == core.FileFolder || file.Kind == core.FileLink {
			f.take(source, file.Name, path.Join(dir, file.Name, "SKILL.md"))
		}
	}
}

// take adds the command of one file, unless the file is none, or hides itself. Of two of one
// name the first counts.
func (f *search) take(source core.CommandSource, name, at string) {
	if f.read > maxFiles || f.ctx.Err() != nil || !core.IsCommandName(name) {
		return
	}
	if slices.ContainsFunc(f.out, func(c core.SlashCommand) bool { return c.Name == name }) {
		return
	}
	if f.read++; f.read > maxFiles {
		return
	}
	got, err := f.files.Read(f.ctx, f.ch, at, maxHead)
	if err != nil {
		return // no skill, gone meanwhile, or not to be read: the CLI has it no more than Loop
	}
	if h := headOf(got.Data); !h.hidden {
		f.out = append(f.out, core.SlashCommand{Name: name, Hint: h.hint, Description: h.description, Source: source})
	}
}
