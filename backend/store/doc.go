// Package store keeps Loop's channels, runs, timeline and container records in
// one SQLite file.
//
// A method that returned nil has written its change so that it survives the death of
// the process. The log is WAL with synchronous NORMAL: after a power cut the newest
// transactions may be missing, but the file is never damaged. A method that changes
// more than one thing does so in one transaction, so a crash leaves either all of it
// or none. There is one writing connection and a few reading ones; every method may be
// called from any goroutine.
//
// Errors wrap core.ErrNotFound or core.ErrConflict where the caller can act on
// them; trouble with the file itself is a *core.Failure that names the path.
//
// Only daemon imports store; services declare the few methods they need.
package store
