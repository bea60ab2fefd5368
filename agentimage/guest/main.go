//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
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

// init keeps main on the process's first thread. The commands that execute another program in
// their place need that: where another thread does so, the kernel shows the process as a zombie
// for a moment (TestExecutingShowsNoZombie), and an engine that is to start something in the
// container then takes it for stopped.
func init() { runtime.LockOSThread() }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		return usage()
	}
	switch args[0] { // these execute something
	case "init":
		return initd.Main(version)
	case "spawn":
		return spawn.Stage()
	}
	runtime.UnlockOSThread()
	switch args[0] {
	case "syscallwrap":
		return spawn.Keep(args[1:])
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
