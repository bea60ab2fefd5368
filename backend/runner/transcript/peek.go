package transcript

import "bytes"

var typeKey = []byte(`"type":"`)

// peekType reads the type when it is the first member, where the CLI puts it,
// without decoding. It returns nil when the line has another shape.
func peekType(line []byte) []byte {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] != '{' {
		return nil
	}
	rest, ok := bytes.CutPrefix(line[1:], typeKey)
	if !ok {
		return nil
	}
	end := bytes.IndexByte(rest[:min(len(rest), 64)], '"')
	if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return nil
	}
	return rest[:end]
}

// dullStream are stream events that say nothing the full messages do not; they
// are the most frequent lines of all and are not decoded.
var dullStream = [][]byte{
	[]byte(`"event":{"type":"content_block_stop"`),
	[]byte(`"event":{"type":"message_stop"`),
	[]byte(`"event":{"type":"ping"`),
}

func isDull(line []byte) bool {
	const front = len(`{"type":"stream_event",`)
	if len(line) < front {
		return false
	}
	rest := line[front:]
	for _, p := range dullStream {
		if bytes.HasPrefix(rest, p) {
			return true
		}
	}
	return bytes.HasPrefix(rest, []byte(`"event":{"type":"content_block_delta"`)) &&
		bytes.Contains(rest[:min(len(rest), 120)], []byte(`"delta":{"type":"input_json_delta"`))
}
