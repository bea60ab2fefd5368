// Package hostfacts looks at the computer Loop runs on and fills the facts
// that the pure package sandbox decides by: who the user is, the time zone,
// what stands at which path. It also makes what a spec needs on the host before
// a container starts: the channel's state folders, the passwd and group files
// and the mountpoints. Only package daemon may import it.
package hostfacts
