// Package cli is the command line of Loop: loop run, queue, serve, terminal,
// doctor, image, channels, ps, version, and the start of the window in the desktop
// binary.
//
// Commands speak to Loop through Core, which has two forms. One is a running
// instance over the loopback API, found through instance.json and checked to be
// alive. The other is Loop in this process: Deps.Open makes one that works its
// queue, Deps.OpenIdle one that only reads or changes stored things and starts no
// prompt that waits. job is how a command gets its Core, its channel and its form
// of output; each cmd_ file holds one command.
//
// Output for people passes through printer, which neutralises control characters,
// because most of the text was written in a container.
//
// Only main imports cli.
package cli
