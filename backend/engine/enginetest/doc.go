// Package enginetest holds the one suite that every engine must pass, and Fake, an
// engine in memory: the fake passes it always, the real engine under the build tag
// docker. Only tests may import it.
package enginetest
