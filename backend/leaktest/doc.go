// Package leaktest gives goroutines that wind down the time they take before goleak
// looks for those that stay. TestMain of any package may import it; nothing else
// does.
package leaktest
