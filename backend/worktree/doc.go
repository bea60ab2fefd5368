// Package worktree makes and removes git worktrees. It is a service;
// running a program in a project's container is a port that daemon fills.
//
// Git never runs on the host: in a directory that an agent can write, its
// configuration, hooks and filters would run the agent's code as the person. In
// the container they run as the agent. What git prints is hostile all the same.
package worktree
