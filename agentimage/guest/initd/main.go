//go:build linux

package initd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loop/agentimage/guest/ask"
	"loop/agentimage/guest/relay"
	"loop/agentimage/guest/spawn"
	"loop/agentimage/guest/threads"
	"loop/backend/wire"
)

// stopDeadline bounds the end of every spawn when the container is stopped; the
// engine's own grace before it kills everything is ten seconds by default.
const stopDeadline = 8 * time.Second

// warmThreads covers what may block at a time: eight file calls (package spool),
// four starts, the process table, the terminal thread, and those that run Go.
// They count against the container's pids limit.
const warmThreads = 32

// Main runs loop init and returns its exit code. It runs twice each time the container
// starts: as 0:0 to set things up, and as the supervisor to serve. Where the container has
// yet to be set up by a command, it does that alone.
func Main(version string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if os.Getpid() != 1 {
		log.Error("loop init is PID 1 of a container Loop makes and nothing else")
		return 2
	}
	who, err := readIdentity(os.Getenv)
	if err == nil && os.Getuid() == 0 && os.Getenv(wire.SetupMark) == "1" {
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil || !setupMounted(string(mounts), wire.SetupDir) {
			log.Error("a set-up is wanted, and its folder is not mounted", "dir", wire.SetupDir, "err", err)
			return wire.ExitSetupFailed
		}
		first := setup{
			dir: wire.SetupDir, home: filepath.Join(wire.RunDir, "setup"), etc: "/etc", who: who, limit: wire.SetupTime, out: os.Stderr,
		}
		if code, due := first.run(context.Background()); due {
			return code
		}
	}
	if err == nil {
		err = run(who, version, log)
	}
	if err != nil {
		log.Error("loop init", "err", err)
		return 1
	}
	return 0
}

func run(who identity, version string, log *slog.Logger) error {
	switch os.Getuid() {
	case 0:
		if err := settle(who, filepath.SplitList(os.Getenv("CHOWN_PATHS")), log); err != nil {
			return fmt.Errorf("set up (are CHOWN and DAC_OVERRIDE granted?): %w", err)
		}
		return become()
	case wire.SupervisorID:
		runtime.UnlockOSThread() // nothing is executed any more
		if err := verify("/proc/self/status"); err != nil {
			return fmt.Errorf("check own privileges: %w", err)
		}
		return serve(who, version, log)
	}
	return fmt.Errorf("started as uid %d: the container must start loop init as 0:0", os.Getuid())
}

// serve is loop init's real life. Its order of end is the reverse of its start:
// links, relay, spawns, reaper.
func serve(who identity, version string, log *slog.Logger) error {
	if err := harden(who); err != nil {
		return err
	}
	threads.Warm(warmThreads)
	stop, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	if refused, err := refuse(stop, log); refused || err != nil {
		return err
	}

	reaper := threads.NewReaper()
	reapCtx, stopReaper := context.WithCancel(context.Background())
	reaped := make(chan struct{})
	go func() { defer close(reaped); reaper.Run(reapCtx) }()
	defer func() { stopReaper(); <-reaped }()

	bootID := rand.Text()
	desk := ask.NewDesk()
	spawns := spawn.New(spawn.Config{
		Agent:   spawn.Agent{UID: who.uid, GID: who.gid, Groups: []int{who.gid}, Home: who.home},
		Env:     spawn.BaseEnv(os.Environ(), who.user, who.home),
		RunsDir: wire.RunsDir, SpoolDir: wire.SpoolDir, BootID: bootID,
		Reaper: reaper, Log: log,
		GateDir: wire.GateDir, Gated: os.Getenv(wire.GateEnabled) == "1", Asker: desk,
		Unsupervised: func(id string) {
			// The filter of what is left answers ENOSYS now, to calls that were to be
			// refused as well. The end of PID 1 is the end of every process here.
			log.Error("a supervisor ended before its program: the container ends", "id", id)
			os.Exit(wire.ExitUnsupervised)
		},
	})
	local, err := net.Listen("tcp4", wire.RelayAddr)
	if err != nil {
		return fmt.Errorf("listen for the relay: %w", err)
	}
	rel := relay.New(spawns, log)
	defer rel.Serve(local)()
	out, err := net.Listen("tcp4", wire.ProxyAddr)
	if err != nil {
		return fmt.Errorf("listen for the way out: %w", err)
	}
	defer rel.ServeProxy(out)()

	srv := &Server{Spawns: spawns, Relay: rel, Desk: desk, Log: log, UID: wire.SupervisorID, Hello: wire.Hello{
		Protocol: wire.Protocol, GuestVersion: version, BootID: bootID,
		Arch: runtime.GOARCH, Pid1UID: os.Getuid(),
	}}
	ln, err := listenSocket(wire.SocketPath)
	if err != nil {
		return err
	}
	unvisited, err := seconds(os.Getenv(wire.EndUnvisited))
	if err != nil {
		return fmt.Errorf("read %s: %w", wire.EndUnvisited, err)
	}
	life, end := context.WithCancel(stop)
	defer end()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		switch {
		case os.Getenv(wire.EndUnlinked) == "1":
			srv.endUnlinked(life, maxUnlinked, func() bool { return false }, end)
		case unvisited > 0:
			srv.endUnlinked(life, unvisited, spawns.Busy, end)
		}
	}()
	err = srv.Serve(life, ln)
	end()
	<-watched
	ctx, cancel := context.WithTimeout(context.Background(), stopDeadline)
	defer cancel()
	return errors.Join(err, spawns.Close(ctx))
}

// seconds reads a time of at most a week; none is 0.
func seconds(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if d := time.Duration(n) * time.Second; err == nil && n > 0 && n <= 7*24*3600 {
		return d, nil
	}
	return 0, errors.Join(fmt.Errorf("%q is no number of seconds", text), err)
}

// harden makes this process as little of a target as it can be.
//
// A process that is not dumpable has its /proc files owned by root. Against an
// agent with a uid of its own that only removes core dumps and same-uid access;
// an agent that is uid 0 would become the owner of /proc/1/oom_score_adj and
// could offer PID 1 to the kernel first. There the process stays dumpable: its
// files are the supervisor's, and attaching needs the supervisor's uid either way.
func harden(who identity) error {
	var core unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &core); err != nil {
		return fmt.Errorf("read core limit: %w", err)
	}
	core.Cur = 0 // the soft one: a program may still ask for core files of its own
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &core); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	if who.uid == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("set dumpable: %w", err)
	}
	return nil
}
