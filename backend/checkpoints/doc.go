// Package checkpoints keeps the files of a folder as they were at a moment, in a folder of
// Loop's own: contents by their SHA-256, and trees, which say which file had which content.
// It walks through os.Root, runs no program, and knows nothing of git but what git ignores. A
// file whose size, times and inode are those of the tree before is not read again.
//
// It is an adapter to files. Package rewind may import it.
package checkpoints
