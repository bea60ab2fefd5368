// Package core holds the nouns of Loop: channels, runs, events, containers and
// their specs, and the few behaviours that more than one package must name the
// same way (Link). It has no I/O, no locks and no third-party imports, and every
// other package may import it.
//
// JSON tags here are the one outward shape: the same names reach the window,
// the CLI's JSON lines and the event rows in the database.
package core
