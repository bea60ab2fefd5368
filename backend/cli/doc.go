// Package cli is the command line of Loop: loop run, queue, serve, terminal,
// doctor, image, channels, ps, version, and the start of the window in the desktop
// binary.
//
// Commands speak to Loop through Core, which has two forms: a running instance
// over the loopback API, found through instance.json and checked to be alive,
// or Loop itself in this process, made by Deps.Open, or by Deps.OpenIdle for
// a look at what is stored or a change of it, which starts nothing that waits. What a
// command prints for people goes through one place that neutralises control
// characters, because most of it was written in a container.
//
// Only main imports cli.
package cli
