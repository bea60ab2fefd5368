package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a mistake on the command line: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// none refuses arguments.
var none = upTo(0)

// upTo allows that many arguments.
func upTo(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("%q is one argument too many", args[n])
		}
		return nil
	}
}

// exactly is cobra.ExactArgs in this program's words, and takes no empty argument.
func exactly(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(what) {
			return usagef("%s is missing", what[len(args)])
		}
		for i, name := range what {
			if strings.TrimSpace(args[i]) == "" {
				return usagef("%s is empty", name)
			}
		}
		return upTo(len(what))(cmd, args)
	}
}

// group is a command with nothing but sub-commands.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subs...)
	return cmd
}

// noSuchCommand refuses an argument of a command that has sub-commands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("there is no “%s %s”", cmd.CommandPath(), args[0])
	}
	return nil
}

// exclusive is cobra's word for flags that exclude each other.
var exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(\S+) (\S+).*\] were all set$`)

// asMistake recognises the mistakes that cobra reports itself: it has no error type
// for them.
func asMistake(err error) error {
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return usagef("--%s and --%s do not go together", m[1], m[2])
	}
	if strings.HasPrefix(err.Error(), "unknown command") { // below “completion”, which is cobra's own
		return usageError{err}
	}
	return err
}
