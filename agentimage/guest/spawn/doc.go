//go:build linux

// Package spawn starts processes as the agent, owns their output and ends their
// whole trees. Three processes of the same binary take part in one spawn:
//
//	loop init    PID 1; owns pipes, terminals, spools and the table of spawns
//	  loop syscallwrap  one per spawn, also the supervisor's uid: a child subreaper, so
//	             every descendant of the spawn, double forks included, stays
//	             below it; it lives until it has no children left
//	    loop spawn  the stage: gives up every privilege, becomes the agent,
//	             writes the spawn's files and executes the program in its place
//
// They talk over socket pairs (socket.go), whole messages that may carry a
// descriptor, far above the numbers a program may be given pipes at. In loop init
// and in the keeper one thread each forks and waits (package threads).
//
// So "the keeper has ended" is the kernel's own word that nothing of a tree is
// left. Only agentimage/guest (main) and agentimage/guest/initd may import it.
package spawn
