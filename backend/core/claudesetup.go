package core

// ClaudeSetup is what the person has made for Claude Code on this computer, as far as agents
// may have copies of it.
type ClaudeSetup struct {
	Folder string      `json:"folder"` // where it is
	Files  []SetupFile `json:"files"`  // what comes with the grant, by path
	// Settings are the names of settings that come with the grant.
	Settings []string       `json:"settings"`
	Asks     []SetupAsk     `json:"asks"` // what runs programs, or sets variables: each needs a yes
	Left     []SkippedMount `json:"left"` // what never comes, and why
	// Plugins are the folders, in the container, of the plugins that were allowed, and Servers
	// the MCP servers.
	Plugins []string               `json:"-"`
	Servers map[string]SetupServer `json:"-"`
}

// Empty reports whether there is nothing to grant.
func (s ClaudeSetup) Empty() bool { return len(s.Files)+len(s.Settings)+len(s.Asks) == 0 }

// SetupFile is one file that agents get a copy of. Path is below the folder, with slashes.
type SetupFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// SetupAsk is one thing that needs a yes of its own.
type SetupAsk struct {
	ID      string `json:"id"`     // as claude_setup_allow has it: hooks, statusLine, env:NAME, mcp:NAME, plugin:NAME
	Text    string `json:"text"`   // what it is
	Detail  string `json:"detail"` // what it runs or sets, shortened
	Allowed bool   `json:"allowed"`
}

// SetupServer is a program that speaks MCP.
type SetupServer struct {
	Command string
	Args    []string
	Env     map[string]string
}
