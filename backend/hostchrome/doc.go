// Package hostchrome makes of a Chrome that the person started the browser of a channel: it
// finds the file in which that Chrome says where its DevTools listen, connects there and
// nowhere else, and makes of the WebSocket the two byte streams that package chrome takes.
// It starts nothing. It is a service; only daemon may import it.
package hostchrome
