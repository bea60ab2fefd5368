// Package engine talks to the container engine: Docker and what speaks its API
// (Podman, Colima, OrbStack, Docker Desktop). It finds the engine, turns a
// core.Spec into what the Engine API wants, carries exec streams and files, and
// turns every error into a core.Failure a person can act on.
//
// Two implementations live here: Docker, the real one, and Fake, which keeps its
// state in memory. Both pass the suite in enginetest. No type of the Docker
// client appears in an exported signature. Only backend/daemon (and tests) may
// import this package; services declare the small interfaces they need.
package engine
