//go:build linux

// Package probe performs what “loop doctor” has tried in a container: acts that the gate
// is to refuse, to ask about and to let pass, and what shows whether the kernel carries
// them to a supervisor at all. It judges nothing; the host does. Only agentimage/guest
// (main) may import it.
package probe
