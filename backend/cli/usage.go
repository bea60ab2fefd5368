package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// isUsage recognises the mistakes that cobra reports itself: it has no error
// type for them.
func isUsage(err error) bool {
	text := err.Error()
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ",
		"if any flags in the group", "required flag", "invalid argument"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// none refuses arguments.
func none(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return tooMany(args[0])
	}
	return nil
}

func tooMany(arg string) error { return usagef("%q is one argument too many", arg) }

// exclusive is cobra's word for flags that exclude each other.
var exclusive = regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(\S+) (\S+).*\] were all set$`)

// plainly says what cobra reports in this program's words.
func plainly(err error) string {
	if m := exclusive.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("--%s and --%s do not go together", m[1], m[2])
	}
	return err.Error()
}
