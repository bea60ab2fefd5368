// Package gate is the one queue of everything that waits for a person's word: calls
// that a supervisor in a container holds, whatever their kind. It knows who asks by
// the spawn, decides what a person has decided already, makes one question of
// several calls that are the same, and lets every question end: with an answer, with
// its time, or with whoever asked. In doubt it denies.
//
// Service.Held is called once for each held call, on the link's goroutine for it, and
// returns the verdict. Everything else may be called from any goroutine. Nothing is
// stored or published under the queue's lock: Run does both, in order. Only package
// daemon may import it.
package gate
