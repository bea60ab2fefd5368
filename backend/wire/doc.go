// Package wire holds the protocol between the two ends of a link: the app on the
// host (backend/guestlink) and loop init inside a container (agentimage/guest).
// Both import it, and it imports neither; it holds no goroutine and no socket.
//
// A link is one byte stream, multiplexed by yamux; the host is the yamux client.
// Every stream on it starts with one request frame from the side that opened it
// and one reply frame from the other:
//
//	guest opens   hello   the first stream; the host answers, then it may open
//	              http    then one HTTP/1.1 exchange of a spawn, the guest being
//	                      the client; which spawn asks is in the request frame
//	        proxy   then the bytes of one connection of a spawn to its way out, where
//	              the host has given it one (HTTP proxy requests)
//	host opens    ping list resize signal kill wait forget   reply, end
//	              policy  the request is followed by the document, then the reply
//	              questions   the reply is followed by Question frames from guest to
//	                      host and Answer frames back, for as long as both are there
//	              spawn   the request is followed by its body (stdin, the
//	                      files, the policy; sizes declared in the request), then the reply
//	              read    the reply is followed by chunks from guest to host
//	              dial    the reply is followed by the bytes of a connection to that
//	                      port of the container's own loopback
//	              stdin   the reply is followed by chunks from host to guest,
//	                      then one more reply once the last byte was written
//
// A frame is a big-endian uint32 length and that many bytes of JSON, at most
// MaxFrame. A chunk is a big-endian uint32 length and that many raw bytes, at
// most MaxChunk; length 0 is the end mark, followed by one Reply frame that says
// how it ended. A broken link therefore never looks like the end of an output.
//
// The host takes everything from the guest end for hostile: sizes are bounded before
// memory is taken, and duplicate names and invalid UTF-8 are errors. The guest does not
// say which container it is, which the host knows from the link; it says which of that
// container's spawns asks, which loop init finds out and the agent cannot write. Unknown
// fields are ignored, so that a newer peer can say more.
package wire
