//go:build linux

// Package linkend is loop link: it joins its stdin and stdout to the socket of
// loop init and does nothing else. The host starts it through docker exec as
// the supervisor's uid. Started as uid 0, by an engine that cannot name a user, it
// gives that uid up by itself and keeps no capability. Only agentimage/guest (main)
// may import it.
package linkend
