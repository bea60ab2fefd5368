package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
	"loop/backend/demo"
)

// demoModelCommand serves the scripted model for people who write scripts.
func (a *app) demoModelCommand() *cobra.Command {
	var addr, scripts string
	var pace float64
	cmd := &cobra.Command{
		Use: "demo-model", Short: "Serve the scripted demo model on this machine", Args: none, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := a.untilInterrupt(cmd.Context())
			defer stop()
			return a.serveDemo(ctx, addr, scripts, pace)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "host:port to listen on, on this machine only")
	cmd.Flags().StringVar(&scripts, "scripts", "", "folder with more scripts, see docs/demo.md")
	cmd.Flags().Float64Var(&pace, "pace", 1, "multiplies every wait; 0 leaves them out")
	return cmd
}

func (a *app) serveDemo(ctx context.Context, addr, scripts string, pace float64) error {
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || (host != "localhost" && (ip == nil || !ip.IsLoopback())) {
		return usagef("--addr %q is not host:port on this machine", addr)
	}
	if pace < 0 || pace > 100 {
		return usagef("--pace is not within 0 and 100")
	}
	if pace == 0 {
		pace = demo.Instant
	}
	lib := maps.Clone(demo.Builtin())
	if scripts != "" {
		own, err := demo.LoadDir(os.DirFS(scripts))
		if err != nil {
			return core.Fail(core.CodeInvalid, err, fmt.Sprintf("The scripts in %q cannot be used.", scripts),
				"The detail names file and field; docs/demo.md describes the format.")
		}
		maps.Copy(lib, own)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return core.Fail(core.CodeConflict, err, fmt.Sprintf("The demo model could not listen on %s.", addr), "Choose another port with --addr.")
	}
	var mu sync.Mutex // requests come side by side
	srv := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler: demo.New(demo.Options{Library: lib, Pace: pace, Observe: func(o demo.Observation) {
			mu.Lock()
			defer mu.Unlock()
			a.err.line("%s", oneLine(fmt.Sprintf("%s %s %s %s %s step %d", o.Method, o.Path, o.Purpose, o.Model, o.Script, o.Step+1), 200))
		}}),
	}
	a.out.line("The demo model answers at http://%s", ln.Addr())
	a.out.line("It has %s.", strings.Join(lib.Names(), ", "))
	closed := make(chan error, 1)
	context.AfterFunc(ctx, func() { closed <- srv.Close() })
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve demo model: %w", err)
	}
	return <-closed
}
