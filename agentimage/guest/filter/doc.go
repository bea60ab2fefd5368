//go:build linux

// Package filter holds the system call filters that Loop puts on what it starts in a
// container, and the Landlock fence beneath them. Install puts a filter on the calling
// thread, Attest checks from outside that one is there, and Probe makes one call that
// only a working supervisor answers in a certain way.
//
// What becomes of each call is said in calls.txt, and their numbers on both
// architectures in numbers.txt, which build/seccomp takes from the kernel's headers and
// compares with libseccomp. The programs in programs/ and the tables notified_*.go are
// assembled from the two by TestPrograms with -update; without it the test compares.
// They are not compiled by libseccomp: it knows no number that is newer than itself, and
// for an architecture that it does not run on it takes no number without a name.
//
// A filter cannot look behind a pointer, so it only refuses, passes or hands to the
// supervisor. Only agentimage/guest and its packages may import this one.
package filter
