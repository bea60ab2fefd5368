package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

// maxPutBytes is what a file that is written may have; Loop's own bound.
const maxPutBytes = 8 << 20

func (a *app) filesCommand() *cobra.Command {
	top := a.channelJob(&cobra.Command{
		Use: "files [PATH]", Short: "List, read and change files as a channel's container has them", Args: upTo(1),
		Long: `Lists a folder as the channel's container has it. A path is that of the container or of this
computer; one that is not absolute is below the folder in which agents work. What is mounted
needs no container. What the container alone has needs one that runs.`,
		Example: `  loop files
  loop files cat /etc/os-release
  echo text | loop files put notes.md
  loop files rm build --all`,
	}, a.connectIdle, func(j *job) error {
		_, err := show(j, a.folder, "Files.List", j.channel, strings.Join(j.args, ""))
		return err
	})
	top.AddCommand(
		a.channelJob(&cobra.Command{Use: "stat PATH", Short: "Say what a path leads to", Args: exactly("the path")},
			a.connectIdle, func(j *job) error {
				_, err := show(j, a.fileStat, "Files.Stat", j.channel, j.args[0])
				return err
			}),
		a.channelJob(&cobra.Command{Use: "cat PATH", Short: "Print a file, 8 MiB at most", Args: exactly("the path")},
			a.connectIdle, func(j *job) error {
				c, err := call[core.FileContent](j.ctx, j, "Files.Read", j.channel, j.args[0], maxPutBytes)
				if err != nil {
					return err
				}
				return a.content(c)
			}),
		a.putCommand(),
		a.channelJob(&cobra.Command{Use: "mkdir PATH", Short: "Make a folder", Args: exactly("the path")},
			a.connectIdle, func(j *job) error { return j.change("Files.Mkdir", j.args[0]) }),
		a.removeFileCommand(),
		a.channelJob(&cobra.Command{
			Use: "mv PATH PATH", Short: "Give a file or a folder another path on the same mount", Args: exactly("the path", "the new path"),
		}, a.connectIdle, func(j *job) error { return j.change("Files.Rename", j.args[0], j.args[1]) }),
	)
	return top
}

func (j *job) change(method string, args ...any) error {
	_, err := j.Call(j.ctx, method, append([]any{j.channel}, args...)...)
	return err
}

func (a *app) removeFileCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rm PATH", Short: "Remove a file, a link, or an empty folder", Args: exactly("the path")}
	all := cmd.Flags().Bool("all", false, "a folder with all that is in it")
	return a.channelJob(cmd, a.connectIdle, func(j *job) error { return j.change("Files.Remove", j.args[0], *all) })
}

// putCommand replaces a file by what it was when the command began, so that nobody's change
// in between is lost.
func (a *app) putCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "put PATH", Short: "Write standard input to a file", Args: exactly("the path")}
	over := cmd.Flags().Bool("over", false, "replace the file that is there")
	return a.channelJob(cmd, a.connectIdle, func(j *job) error {
		data, err := io.ReadAll(io.LimitReader(a.in, maxPutBytes+1))
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		if len(data) > maxPutBytes {
			return core.Fail(core.CodeInvalid, nil, "Standard input is larger than 8 MiB.", "Copy the file in a terminal.")
		}
		mark := ""
		if *over {
			c, err := call[core.FileContent](j.ctx, j, "Files.Read", j.channel, j.args[0], maxPutBytes)
			if err != nil {
				return err
			}
			if !c.Whole {
				return core.Fail(core.CodeInvalid, nil, "The file that is there is larger than 8 MiB.", "Change it in a terminal.")
			}
			mark = c.Mark
		}
		return j.change("Files.Write", j.args[0], data, mark)
	})
}

func (a *app) folder(l core.FileListing) {
	for _, f := range l.Files {
		size, name := inBytes(f.Bytes), f.Name
		switch f.Kind {
		case core.FileFolder:
			size, name = "-", name+"/"
		case core.FileLink:
			size, name = "-", name+" -> "+f.Link
		case core.FileOther:
			size = "?"
		case core.FileOrdinary:
		}
		when := "-"
		if f.ModifiedMs != 0 {
			when = time.UnixMilli(f.ModifiedMs).Format(time.DateTime)
		}
		a.out.line("%10s  %-19s  %s", size, when, core.CleanTitle(name))
	}
	if len(l.Files) == 0 {
		a.err.line("The folder is empty.")
	}
	if l.Left != "" {
		a.err.line("%s", l.Left)
	}
}

func (a *app) fileStat(f core.FileStat) {
	a.out.line("path      %s", core.CleanTitle(f.Path))
	if f.HostPath != "" {
		a.out.line("on host   %s", core.CleanTitle(f.HostPath))
	}
	a.out.line("kind      %s", f.Kind)
	a.out.line("size      %s", inBytes(f.Bytes))
	a.out.line("changed   %s", time.UnixMilli(f.ModifiedMs).Format(time.DateTime))
	if f.ReadOnly {
		a.out.line("The container may only read it.")
	}
}

// content prints a file: to a program as it is, on a terminal without what would move the cursor.
func (a *app) content(c core.FileContent) error {
	if a.out.terminal {
		a.out.text(string(c.Data))
		a.out.fresh()
	} else if _, err := a.out.w.Write(c.Data); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	if !c.Whole {
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("These are the first 8 MiB of %s.", inBytes(c.Bytes)),
			"Look at the rest in a terminal.")
	}
	return nil
}
