// Package api is the loopback listener: the owner surface (calls, events,
// terminals, recordings, the headless page) and health. Guest callbacks never
// arrive here; they come over each container's own link (package guestlink).
//
// Every request passes one front door before any routing: exact Host, exact
// Origin list, then the per-launch token for everything but static files and
// health. Only package daemon may import it.
package api
