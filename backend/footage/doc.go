// Package footage keeps pictures of what runs did in their browsers: files on this
// computer, in a folder of the channel that no container sees, and a row for each frame.
// It joins frames with the tool calls that led to them, leaves some out where a run has
// too many, and forgets old ones. It is a service; only daemon may import it.
package footage
