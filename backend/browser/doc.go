// Package browser gives each channel one browser that its agent and the person drive
// together: it starts when somebody needs it and ends when nobody does, says who drives,
// shows pages to panes, and does what agents' tools ask for. It knows neither Docker nor
// the DevTools protocol; both are behind Launch. It is a service; only daemon and
// hostchrome may import it.
package browser
