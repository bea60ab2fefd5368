//go:build linux

// Package relay listens on 127.0.0.1:8222 inside the container and carries HTTP
// over the current link to the host: callbacks below /api/, a run's model below
// /runs/. While there is no link it holds requests for a while and then answers
// 503. Only agentimage/guest (main) and agentimage/guest/initd may import it.
//
// Which spawn asks is found out here, once for every connection: the kernel names
// the socket at its other end, and package spawn names the one spawn whose processes
// hold that socket. The host reads the name in the first frame of the request's
// stream, which no agent can write. The request itself is not changed, and nothing
// in it counts. When no spawn is known, or more than one, the request is refused.
//
// All spawns of a container have one uid. A program that takes another's
// descriptor with ptrace or pidfd_getfd, or that gets another to ask in its place
// (through a tmux server, say), asks as that other. Programs that must not trust
// each other belong into two containers.
package relay
