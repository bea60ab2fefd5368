// Package inventory is what a person sees of containers, and does to them by hand: list,
// inspect, watch, read the log, stop, remove, prune.
//
// It is a service: the registry decides what may end, and the engine, links and provision
// are ports. While somebody watches, one goroutine of Run and those that it waits for ask the
// engine what containers use. Package daemon imports it.
package inventory
