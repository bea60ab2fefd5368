// Package egress is the way out of a container that has no network: a dialer that
// connects to public addresses alone, and an HTTP proxy on top of it for whatever came
// over a link.
//
// A name is resolved once. Each address that it has is checked, and only a checked
// address is dialed, as a number. So a name that means something else a moment later
// (DNS rebinding) gains nothing. This computer, its networks and other containers cannot
// be reached; the names of “this computer” mean the agent's own container.
//
// Whatever sends requests here is hostile. It is bounded, and it never learns what a
// private name resolves to.
//
// Only daemon and tests may import it.
package egress
