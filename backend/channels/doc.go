// Package channels keeps the list of channels: adding one for a directory, the
// demo channel, renaming, removing, and how each stands. It is a service:
// daemon assembles it, bind and cli reach it through small interfaces.
package channels
