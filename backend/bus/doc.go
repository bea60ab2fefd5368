// Package bus hands every event of this launch of Loop to whoever listens.
//
// The promise: Publish numbers events without gaps in the order in which it
// was called and never waits for a listener. A subscription sees every event
// whose number is greater than its Seq, in order, exactly once, until it is
// closed. The bus keeps the last RingSize events, and a subscription is a place
// among them: one that falls further behind gets ErrOverflow, goes on from the
// newest event and must take a new snapshot. Nothing is ever skipped
// silently, and a slow listener costs the others nothing. A page that was away
// comes back with the launch and the number it saw last (Resume).
//
// To join a snapshot with the stream: subscribe first, take the snapshot, and
// apply every event that follows; events already contained in the snapshot
// carry an ID or a state that the snapshot has, so applying them again is
// harmless.
//
// Every layer above core may import bus.
package bus
