package main

import (
	"context"
	"io/fs"

	"loop/backend/cli"
	"loop/backend/config"
	"loop/backend/daemon"
)

// deps names the parts the command line works with. openWindow is nil in the
// plain binary.
func deps(page fs.FS) cli.Deps {
	opts := daemon.Options{Version: version, Frontend: page, Desktop: openWindow != nil}
	in := func(open func(context.Context, daemon.Options) (*daemon.Daemon, error)) func(context.Context) (cli.Core, error) {
		return func(ctx context.Context) (cli.Core, error) {
			l, err := open(ctx, opts)
			if err != nil {
				return nil, err // not l: a nil *Daemon is no nil Core
			}
			return l, nil
		}
	}
	d := cli.Deps{
		Version: version, Open: in(daemon.OpenLocal), OpenIdle: in(daemon.OpenIdle),
		Serve: func(ctx context.Context, addr string, ready func(url, token string)) error {
			o := opts
			o.Addr = addr
			return daemon.Serve(ctx, o, ready)
		},
	}
	if home, err := config.Home(); err == nil {
		d.Home = home // without one, Open says what is wrong with it
	}
	if openWindow != nil {
		d.Window = func(ctx context.Context) error { return openWindow(ctx, opts) }
	}
	return d
}
