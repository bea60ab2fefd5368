// Package claudesetup reads what the person has made for Claude Code on this computer
// (instructions, skills, agents, commands, settings), and keeps copies of what they granted
// in a channel's state. Mounts would not do: they leave files of root behind, go stale when
// an editor replaces a file, and break where a link leads out of the folder.
//
// Credentials and conversations never come. What runs programs needs a yes of its own, and
// nothing may set what Loop sets. The state is a folder that agents write: it is opened below
// its root only.
//
// daemon and tests may import it.
package claudesetup
