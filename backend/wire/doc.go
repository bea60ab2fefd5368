// Package wire is what the two ends of a link say to each other: the app on the
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
//	host opens    ping list resize signal kill wait forget   reply, end
//	              policy  the request is followed by the document, then the reply
//	              questions   the reply is followed by Question frames from guest to
//	                      host and Answer frames back, for as long as both are there
//	              spawn   the request is followed by its body (stdin, then the
//	                      files, sizes declared in the request), then the reply
//	              read    the reply is followed by chunks from guest to host
//	              stdin   the reply is followed by chunks from host to guest,
//	                      then one more reply once the last byte was written
//
// A frame is a big-endian uint32 length and that many bytes of JSON, at most
// MaxFrame. A chunk is a big-endian uint32 length and that many raw bytes, at
// most MaxChunk; length 0 is the end mark, followed by one Reply frame that says
// how it ended. A broken link therefore never looks like the end of an output.
//
// Everything that comes from the guest end is hostile to the host: sizes are
// bounded before memory is taken, and duplicate names and invalid UTF-8 are errors.
// Which container it is it cannot say, only which of that container's spawns asks:
// loop init knows, and the agent has no hand in these frames. Unknown fields are ignored, so that
// a newer peer can say more.
package wire
