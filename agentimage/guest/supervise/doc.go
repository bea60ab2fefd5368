//go:build linux

// Package supervise answers the system calls that a spawn's seccomp filter hands over:
// it resolves what a call is about, lets a policy judge that, asks where a person must
// decide, and performs what is allowed in the caller's place. The kernel never decides
// on memory that the caller could still change, except for execve and, where they are
// allowed, the calls of debuggers, whose reach it bounds by itself.
//
// It works inside the keeper, whose uid is the supervisor's and not the agent's. The
// threads that perform are locked; their effective and file system uid is the agent's,
// so that the kernel's own permissions hold, while the real and saved uid stay the
// supervisor's, so that the agent can neither signal nor trace them. They have one
// capability, SYS_PTRACE, and only while they read from the caller: every path is
// walked, and every call is performed, without any.
//
// The keeper's umask becomes 0, and the caller's is applied by hand: an engine's default
// seccomp profile refuses unshare(CLONE_FS), so the threads have none of their own.
//
// Only agentimage/guest and its packages may import it.
package supervise
