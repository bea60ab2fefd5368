// Package imagebuild makes the image agents work in and the volume that carries
// the in-container binary: it finds or makes the base, looks up the version of
// Claude Code, builds with BuildKit or the engine's own builder, and says all the
// while how far it is. Nothing is tagged before it is complete. Daemon assembles
// it; it knows the engine only through the interfaces declared here.
package imagebuild
