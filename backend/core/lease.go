package core

import "time"

// HolderKind says what needs a container.
type HolderKind string

// A run and a terminal outlive Loop and take their leases up again. Git and set-up
// are programs that Loop waits for, whose leases end with it. A person holds what
// stays until it is removed by hand.
const (
	HolderRun      HolderKind = "run"
	HolderTerminal HolderKind = "terminal"
	HolderGit      HolderKind = "git"
	HolderSetUp    HolderKind = "set-up"
	HolderPerson   HolderKind = "person"
)

// Holder is one that needs a container: a run by its id, a terminal by its id, a
// person by the channel. The ids of git and set-up are random.
type Holder struct {
	Kind HolderKind
	ID   string
}

// Lease says that a holder needs a container.
type Lease struct {
	Container ContainerKey
	Holder    Holder
	TakenAt   time.Time
}

// Ending is a holder's wish when it gives a container back. It counts when nobody
// else holds the container.
type Ending struct {
	Now   bool          // nothing in it is worth a look: it is removed at once
	Keep  time.Duration // how long it stays once it has stopped; 0 is the registry's time, negative is none
	Grace time.Duration // between the stop signal and the kill; 0 is the registry's
}
