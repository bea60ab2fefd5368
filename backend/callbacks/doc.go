// Package callbacks does what guests ask for: messages, queued prompts,
// threads, worktrees, sessions, and words to other agents. It knows the caller
// by its link and lets it name channels of its own project only; owner's
// business (settings, approvals, images) is not here at all. Only daemon may
// import it.
package callbacks
