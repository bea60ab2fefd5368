// Package bus hands every event of this launch of Loop to whoever listens.
//
// The promise: Publish numbers events without gaps in the order in which it
// was called and never waits for a listener. A subscription sees every event
// whose number is greater than its Seq, in order, exactly once, until it is
// closed. Each subscription has a bounded queue; one that falls behind by more
// than the queue is closed with ErrOverflow and must subscribe again and take a
// new snapshot. Nothing is ever skipped silently, and a slow listener costs the
// others nothing. The lock covers numbering and placing into queues, which
// cannot wait; it is not held while a listener handles an event.
//
// To join a snapshot with the stream: subscribe first, take the snapshot, and
// apply every event that follows; events already contained in the snapshot
// carry an ID or a state that the snapshot has, so applying them again is
// harmless.
//
// Every layer above core may import bus.
package bus
