// Package slashcommands lists what a prompt can begin with after a slash: the agent CLI's own
// commands, as it named them in the channel's last run, and those in the project's and the
// channel's Claude folder, as the container sees them. What it reads is a container's word:
// names, descriptions, numbers and sizes are bounded, and what does not show is taken out.
//
// It is a service: files and channels are ports. Package daemon imports it.
package slashcommands
