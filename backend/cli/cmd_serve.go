package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run Loop without a window and print the address of its page",
		Long: `Run Loop without a window. It prints

  Loop is ready: http://127.0.0.1:<port>/#token=<hex>

when the page can be opened. The token opens everything, so treat the address
like a key. Ctrl-C or SIGTERM ends it; containers with runs go on and are found
again at the next start.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := a.untilInterrupt(cmd.Context())
			defer stop()
			err := a.deps.Serve(ctx, addr, func(url, token string) {
				a.out.line("Loop is ready: %s#token=%s", url, token)
			})
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // ended as asked
			}
			return err
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "", "host:port to listen on, on this machine only (default: api_addr, else any free port)")
	return cmd
}

// untilInterrupt ends the context at the first Ctrl-C; at the second the
// process is left as the system does it by itself.
func (a *app) untilInterrupt(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-a.interrupts:
			a.restoreInterrupt()
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-done }
}
