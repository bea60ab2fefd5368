// Package sessions reads the transcripts that the agent CLI keeps in a
// channel's Claude folder: which conversations there are, what was said in one,
// and copying one for another directory. It is an adapter to files; channels
// and runner reach it through small interfaces that daemon fills.
//
// Everything in that folder was written by an agent and is hostile: it is opened
// below an os.Root, only regular files are read, and every read, line, text and
// list is bounded.
package sessions
