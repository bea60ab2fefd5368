// Command loop is the app: the window (built with the tag desktop), the
// headless server and the command line. This file only names the parts;
// package daemon assembles them.
package main

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"loop/agentimage/guest/mcp"
	"loop/backend/cli"
	"loop/backend/dialog"
)

//go:embed all:frontend/dist
var dist embed.FS

// version is set by the linker (-X main.version=…).
var version = "dev"

func main() {
	page, err := fs.Sub(dist, "frontend/dist")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	ends := []os.Signal{syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup leaves it
		ends = append(ends, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends the process at once
	if len(os.Args) > 1 {
		switch os.Args[1] { // the tools of an agent that works on this computer itself
		case "mcp":
			os.Exit(mcp.Main(ctx, os.Args[2:], version))
		case "mcp-browser":
			os.Exit(mcp.BrowserMain(ctx, os.Args[2:], version))
		}
	}
	args := os.Args[1:]
	if dialog.FromToast(args) {
		args = nil // the window is what was clicked for
	}
	os.Exit(cli.Main(ctx, args, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, deps(page)))
}
