// Package enginetest holds the suite that every engine must pass, and Fake, an engine
// in memory. The fake runs it with the unit tests, the real engine under the build tag
// docker. Only tests may import it.
package enginetest
