// Package hostpty runs a program of the person's own on a terminal of this
// computer: a pseudo-terminal on Linux and macOS, a pseudo console on Windows.
//
// The program is the leader of a session (Windows: of a job). Close ends the
// session with all that came out of it and looks that nothing is left:
//
//   - Linux finds, through /proc, the members of the session, their descendants,
//     and whatever carries the session's marker LOOP_TERMINAL in its first
//     environment, as programs do that left by setsid. A process that cleared its
//     environment, left the session, and whose parent is gone, is not found; nor is
//     the environment of another user's process (sudo) looked into, though in the
//     session it is found, and named in the error if it cannot be ended.
//   - macOS finds, through sysctl, what has the terminal as its controlling one,
//     descendants, and the marker where the system shows environments; it hides
//     those of its own programs.
//   - Windows ends the job, which nothing in it can leave.
//
// A program that ended by itself leaves behind what it put into the background,
// as in any terminal, until Close.
//
// A Program has files in the place of a terminal, and goes on when Loop ends; the next
// launch adopts it. On macOS its session has no terminal to be found by, and on Windows an
// adopted program gets a new job, so that there orphans of before are not found.
//
// Package daemon hands it to backend/terminal; hostrun and tests may import it.
package hostpty
