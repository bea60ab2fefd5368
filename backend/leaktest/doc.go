// Package leaktest gives goroutines that are ending the time to end before goleak looks
// for leaked ones. TestMain of any package may import it; nothing else may.
package leaktest
