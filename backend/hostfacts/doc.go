// Package hostfacts looks at the computer Loop runs on and gathers the facts that
// the pure package sandbox decides by: the user, the time zone, the files and folders.
// Before a container starts it also makes the things that its spec needs on the host:
// the channel's state folders, the passwd and group files, copies and mountpoints.
// Only package daemon may import it.
package hostfacts
