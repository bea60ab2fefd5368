// Package registry knows every container this Loop folder made and where it
// stands. The truth is the engine plus the rows in the store: a row is reserved
// before the engine is called, and dropped only once the engine says that the
// container is gone. The engine's event stream drives it, one list call every
// half minute is the backstop. Containers that do not carry this install's label
// are never looked at. Daemon assembles it; runner and terminals use it through
// interfaces of their own.
package registry
