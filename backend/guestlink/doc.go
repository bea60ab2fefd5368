// Package guestlink is the host's end of links: one Link per container, over an exec
// stream that somebody else dials. An Opener opens links, a Pool shares them, and a
// Listener serves callbacks over TCP to runs that ask for it. A Link turns core.Link's
// calls into streams of package wire, and serves what the guest may ask of the host:
// callbacks below /api/ and the model of a run below /runs/.
//
// The caller is known by the link and by the spawn that loop init names
// in the first frame of a stream. No request names itself, and two spawns of a container
// have two identities, two model routes and two limits.
//
// The guest is hostile. Whatever it sends can end its own link and nothing
// else: sizes and numbers of streams are bounded, panics of handlers are
// contained, and an owner's route does not exist here.
//
// backend/daemon and tests may import it; it declares the interfaces it
// needs (Dialer, Callbacks, Network, Runs, Waker).
package guestlink
