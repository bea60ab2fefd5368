// Package registry knows every container this Loop folder made, and alone begins,
// holds up and ends them.
//
// Whoever needs a container holds a lease, which is stored: a run, a terminal, git, a
// set-up, a person. A container that nobody holds any more is stopped and removed
// after a while, or removed at once where the last holder says that nothing in it is
// worth a look. What a person holds stays until it is removed by hand. After a restart
// holders take their leases up again, and the rest is given back.
//
// The truth is the engine plus the rows in the store: a row is reserved before the
// engine is called, and dropped only once the engine says that the container is gone.
// The engine's event stream drives it, one list call every half minute is the
// backstop. Containers that do not carry this install's label are never looked at.
// Daemon assembles it; services use it through interfaces of their own.
package registry
