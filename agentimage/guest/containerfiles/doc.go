//go:build linux

// Package containerfiles looks at a container's own files and changes them, for the person
// at the host. It runs as the agent and may do what the agent may; what is on the host is
// the host's own work. Only agentimage/guest (main) may import it.
package containerfiles
