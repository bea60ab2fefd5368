package cli

import (
	"github.com/spf13/cobra"

	"loop/backend/core"
)

func (a *app) stopCommand() *cobra.Command {
	return a.job(jsonFlag(&cobra.Command{
		Use: "stop CONTAINER", Short: "Stop a container", Args: exactly("the container"),
		Long: `Stops a container and what terminals have running in it. One in which a run works is left alone.
A container is named by its name or the beginning of its id, as “loop ps” lists them. The next
run or terminal of its channel starts the channel's container again.`,
		Example: `  loop stop loop-api-server-3f9a1c
  loop stop 8e41b7`,
	}), a.connectIdle, func(j *job) error {
		_, err := show(j, func(c core.Container) { a.out.line("Stopped %s.", c.Name) }, "Containers.Stop", j.args[0])
		return err
	})
}
