package hostfacts

// noWait has no meaning on Windows, where folders hold no named pipes.
const noWait = 0

// noFollow has no counterpart in an open on Windows; what was opened is compared
// with what was looked at.
const noFollow = 0

// isNotDir is covered by fs.ErrNotExist on Windows.
func isNotDir(error) bool { return false }
