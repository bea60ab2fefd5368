// Package shell makes shells say where their prompts and commands are, so that
// panes can mark commands, jump between them and copy what one printed.
//
// The marks are those terminals agree on: OSC 133 A (the prompt begins), B (it
// ends, the command is typed), C (the command runs), D;status (it ended); OSC
// 633;E;command (what was typed, with \\, \x3b and \xNN for what would end the
// sequence); OSC 7;file://host/path (where the shell is). All of them are claims
// of whatever prints them: a page shows them and trusts them with nothing.
//
// The package is pure: it returns a command and files, and its caller puts them into
// place. The person's own start-up files are read as ever.
package shell
