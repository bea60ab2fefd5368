//go:build linux

package filter

// Call is a system call of this architecture.
type Call struct {
	Number int
	Name   string // as the kernel's headers have it, without __NR_
}

// Notified are the calls that an agent's filter may hand to the supervisor, by number.
// Some are handed over only with certain arguments (calls.txt); a supervisor that gets
// any other has another filter below it.
func Notified() []Call { return notified() }
