//go:build linux

// Package relay listens on 127.0.0.1:8222 inside the container and carries HTTP
// over the current link to the host: callbacks below /api/, a run's model below
// /runs/. It adds nothing to a request: who is calling is known to the host from
// the link, never from what is said here. While there is no link it holds
// requests for a while and then answers 503. Only agentimage/guest (main) and
// agentimage/guest/initd may import it.
package relay
