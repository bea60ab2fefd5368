// Package eagerstart has a channel's container ready before its next run: it is started
// while a person writes the prompt, with the CLI waiting in it. Containers are visited so
// that they do not end while Loop runs, and made anew when a person says so.
//
// It is a service: it knows no engine and no store. Package daemon imports it.
package eagerstart
