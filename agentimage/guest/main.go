//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"loop/agentimage/guest/containerfiles"
	"loop/agentimage/guest/denial"
	"loop/agentimage/guest/initd"
	"loop/agentimage/guest/linkend"
	"loop/agentimage/guest/mcp"
	"loop/agentimage/guest/probe"
	"loop/agentimage/guest/spawn"
	"loop/backend/wire"
)

// version is set by the build (-X main.version=…).
var version = "dev"

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		return usage()
	}
	switch args[0] {
	case "init":
		return initd.Main(version)
	case "syscallwrap":
		return spawn.Keep(args[1:])
	case "spawn":
		return spawn.Stage()
	case "link":
		return linkend.Main()
	case "gate-reason":
		denial.Hook(os.Stdin, os.Stdout, os.Getenv(wire.GatePolicyFile), time.Now())
		return 0
	case "mcp":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		return mcp.Main(ctx, args[1:], version)
	case "mcp-browser":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		return mcp.BrowserMain(ctx, args[1:], version)
	case "gate-probe":
		return probe.Main(args[1:])
	case "files":
		return containerfiles.Main()
	case "version":
		fmt.Println("loop guest", version)
		return 0
	}
	return usage()
}

func usage() int {
	_, _ = fmt.Fprintln(os.Stderr, "usage: loop init | link | mcp | mcp-browser --channel-id C --api-url U"+
		" | gate-reason | gate-probe free|held DIR | files | version")
	return 2
}
