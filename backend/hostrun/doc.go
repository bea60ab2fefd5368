// Package hostrun runs programs of agents on this computer itself, behind the interface
// that a container has: core.Link.
//
// It is what is used where the person has switched containers off. Nothing holds such a
// program: it is the person, to the system. What the interface promises otherwise holds:
//
//   - Output goes straight into files of the channel's state, and input comes from a file,
//     so that the program goes on when Loop ends. The next launch finds it by its number
//     and the time it was started, or by its marker.
//   - Kill ends the whole tree and returns when nothing of it is left (package hostpty says
//     what it finds).
//   - A stream that has grown past Options.SpoolMax is said to be “spool full”, and the tree
//     is held up where the system can do that (not on Windows). At twice that much it is
//     ended.
//
// There are no terminals, no pipes beside the three, no input after the start, and no
// policies: a request for one of them is refused.
//
// Package daemon hands it to the runner; tests may import it.
package hostrun
