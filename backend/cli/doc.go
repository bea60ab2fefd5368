// Package cli is the command line of Loop: loop run, queue, serve, terminal,
// doctor, image, channels, ps, version, and the start of the window in the desktop
// binary.
//
// Commands speak to Loop through Core, which has two forms: a running instance
// over the loopback API, found through instance.json and checked to be alive,
// or Loop itself in this process, made by Deps.Open, or by Deps.OpenIdle where
// the queue is looked at or changed and nothing of it may be started. What a
// command prints for people goes through one place that neutralises control
// characters, because most of it was written in a container.
//
// Only main imports cli.
package cli
