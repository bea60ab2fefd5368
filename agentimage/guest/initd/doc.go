//go:build linux

// Package initd is loop init, PID 1 of every container Loop makes. It starts as
// 0:0 with exactly the capabilities the container was granted, puts ownership
// right, moves itself to the supervisor's uid and gid with those capabilities
// and without CHOWN, checks that the move is complete, and then serves one link
// at a time on a socket that only its own uid can reach. Only
// agentimage/guest (main) may import it.
package initd
