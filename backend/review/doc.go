// Package review shows what changed in a channel's folder, and stages, takes out and commits
// it hunk by hunk. It is a service; where git runs is a port, which Containers fills.
//
// Git never runs on the host: in a directory that an agent can write, its configuration would
// run the agent's code as the person. Even in the container Loop's flags keep git from running
// what the repository names: hooks, filters, file-system monitors, programs that show
// differences. What git prints is hostile all the same, and bounded. Package daemon imports it.
package review
