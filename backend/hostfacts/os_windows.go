package hostfacts

// noWait has no meaning on Windows, where folders hold no named pipes.
const noWait = 0

// isNotDir is covered by fs.ErrNotExist on Windows.
func isNotDir(error) bool { return false }
