package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// isUsage recognises the mistakes that cobra reports itself: it has no error
// type for them.
func isUsage(err error) bool {
	text := err.Error()
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "if any flags in the group", "required flag", "invalid argument"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// none refuses arguments.
func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is one argument too many", args[0])
	}
	return nil
}
