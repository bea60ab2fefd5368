// Package talks brings what a person says to the agent's CLI in a terminal into the timeline
// of the terminal's channel: each stretch of a conversation as one talk, with its prompts,
// answers and calls of tools, what they cost, and whether the agent is at a turn.
//
// A link says which terminal asks a model, and for which session; nobody polls while none
// does. The CLI keeps the session as a transcript in the channel's state, which is read from
// the offset that is stored with what was read. The transcript is the agent's to write, and
// hostile: its reader is bounded (package sessions), as is its parser (runner/transcript).
// What runs of Loop wrote into the same transcript is in the timeline already and passed over.
// Sub-agents have transcripts of their own beside it. One is of a talk when its call is, and the
// talk is at work as long as it is.
package talks
