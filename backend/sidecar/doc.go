// Package sidecar starts Chromium for a channel, in a container of its own, and is
// everything that reaches into that container: the pipe of the DevTools protocol, the way
// out to public sites and to what the channel's agents serve, limits, and files. Nothing
// of it listens anywhere. It is a service; only daemon may import it.
package sidecar
