//go:build linux

package spawn

// evict drops the spawn that ended first among those of which nothing runs and
// nothing is in a file: a host that has gone away may have forgotten to. The lock
// is held.
func (tab *Table) evict() bool {
	var first *proc
	for _, p := range tab.spawns {
		if !isClosed(p.done) || !isClosed(p.gone) {
			continue
		}
		if exit := p.exit.Load(); !p.req.Spool && p.startErr == nil && (first == nil || exit.At < first.exit.Load().At) {
			first = p
		}
	}
	if first == nil {
		return false
	}
	delete(tab.spawns, first.id)
	return true
}
