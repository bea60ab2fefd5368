// Package engine talks to the container engine: Docker and what speaks its API. It
// finds the engine (sockets of Podman, Colima, OrbStack and Docker Desktop too, none
// of which it was run with), makes sure that it binds this computer's folders, turns a
// core.Spec into what the Engine API wants, carries exec streams and files, and
// turns every error into a core.Failure a person can act on.
//
// The suite in enginetest is passed by Docker here and by a fake there, which keeps
// its state in memory and is what tests of other packages use. No type of the Docker
// client appears in an exported signature. Only backend/daemon (and tests) may
// import this package; services declare the small interfaces they need.
package engine
