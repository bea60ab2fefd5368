// Package transcript reads what the agent CLI prints with
// --print --verbose --include-partial-messages --output-format stream-json.
//
// The bytes come out of a container and are hostile: nothing in them can make
// the reader or the parser fail, loop or use more than a fixed amount of
// memory. A line that is too long is cut and the stream goes on; a line that is
// not JSON is remembered for diagnosis; a kind that is not known is handed on
// as it is, bounded. A result is recognised even when its line is cut off.
//
// The package is pure: no clock, no goroutine, no I/O but the reader it is
// given. Runner imports it; so may anything that shows a spool.
package transcript
