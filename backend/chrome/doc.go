// Package chrome drives one Chromium over the DevTools protocol, on the two byte streams
// of --remote-debugging-pipe: tabs, the tools of agents, a person's mouse and keys, and
// pictures of the active page. It starts nothing and knows no container.
//
// It speaks the protocol itself, with the parameter types of cdproto. chromedp would read
// messages of any length and would keep the DOM of every page in memory, both of which a
// page decides about. Whatever comes from Chromium is hostile: it is bounded before it
// takes memory, and events that nobody consumed in time are dropped, oldest question first.
//
// Daemon, hostchrome and tests may import it.
package chrome
