//go:build linux

// Package spawn starts processes as the agent, owns their output and ends their
// whole trees. Three processes of the same binary take part in one spawn:
//
//	loop init    PID 1; owns pipes, terminals, spools and the table of spawns
//	  loop syscallwrap  the keeper, one per spawn, also the supervisor's uid: a
//	             child subreaper, so every descendant of the spawn, double forks
//	             included, stays below it; it lives until it has no children left.
//	             With a policy it also answers their system calls
//	    loop spawn  the stage: gives up every privilege, becomes the agent,
//	             writes the spawn's files, installs the filter that hands calls to
//	             the keeper, and executes the program in its place
//
// They talk over socket pairs (socket.go, messages.go), whole messages that may carry a
// descriptor, far above the numbers a program may be given pipes at. In loop init
// and in the keeper one thread each forks and waits (package threads).
//
// So "the keeper has ended" is the kernel's own word that nothing of a tree is
// left. A supervised program starts only after the handshake (handshake.go), and the
// container does not outlive a supervisor that ended before its tree, or that somebody
// stopped (watchdog.go). What a keeper asks
// (held.go) goes through loop init (keeperend.go) to the host; a policy comes the same way
// back.
//
// Only agentimage/guest (main) and agentimage/guest/initd may import it.
package spawn
