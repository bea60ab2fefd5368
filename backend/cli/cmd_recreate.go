package cli

import "github.com/spf13/cobra"

func (a *app) recreateCommand() *cobra.Command {
	return a.channelJob(&cobra.Command{
		Use: "recreate", Short: "Have a channel's next run and terminals get a new container", Args: none,
		Long: `A channel's runs and terminals share a container, which keeps what was changed in the
settings for up to five minutes after its last use. This command has the next of them get a
new one at once. What works in the present container goes on there, and ends with it.`,
		Example: `  loop recreate
  loop recreate --channel api-server`,
	}, a.connectIdle, func(j *job) error {
		_, err := show(j, func(was bool) {
			if was {
				a.out.line("The next run gets a new container.")
			} else {
				a.out.line("The channel has no container now; the next run makes one.")
			}
		}, "Containers.Recreate", j.channel)
		return err
	})
}
