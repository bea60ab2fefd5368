package core

import (
	"fmt"
	"time"
)

// Names of the layers that make a setting. The order is that of precedence, lowest
// first.
const (
	LayerBuiltin = "built-in"
	LayerGlobal  = "global"
	// LayerAgents is what the global file says of every agent, and LayerAgent what it says
	// of one.
	LayerAgents = "agents.defaults"
	LayerAgent  = "agent"
	// LayerProject and LayerWorktree are files inside a folder that agents write. Only
	// those of their settings that are in force count.
	LayerProject  = "project"
	LayerWorktree = "worktree"
	LayerChannel  = "channel"
	LayerRun      = "run"
)

// SettingsOrigin is where a setting was made. Path is empty where no file says it.
// Line and Col count from 1, and are 0 where the place in the file is not known.
type SettingsOrigin struct {
	Layer string `json:"layer"`
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	// Overrode is set where a container's value is explained; nil where nothing is below, or
	// what is below is secret or a whole list.
	Overrode *OverriddenSetting `json:"-"`
}

// OverriddenSetting is the value below the one that counts, and where it was made.
type OverriddenSetting struct {
	Setting string `json:"setting"`
	Value   string `json:"value"` // in the setting's own unit
	Layer   string `json:"layer"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// String names the layer, and the file and line where they are known.
func (o SettingsOrigin) String() string {
	switch {
	case o.Path == "":
		return o.Layer
	case o.Line == 0:
		return o.Layer + ", " + o.Path
	}
	return fmt.Sprintf("%s, %s:%d", o.Layer, o.Path, o.Line)
}

// SettingsProblem is one thing wrong with a settings file. Unless it is a warning, the
// file is not used: the global one as it was before, a project's not at all,
// and then nothing runs there. Line and Col count from 1, Col in characters; both are
// 0 when the whole file is meant.
type SettingsProblem struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
	Warning bool   `json:"warning"`
}

func (p SettingsProblem) String() string {
	where := p.Path
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Col)
	}
	return where + ": " + p.Message
}

// SettingsPending is a project's settings file that waits for approval: it names
// Fields, and they are not in force. What a project's own image is made of has the one field
// that is its kind: ToolchainImage, ToolchainSetup or ToolchainDevcontainer.
type SettingsPending struct {
	Path   string   `json:"path"`
	SHA256 string   `json:"sha256"` // of the file as Diff shows it
	Diff   string   `json:"diff"`   // unified, against what was approved last; credentials are hidden
	Fields []string `json:"fields"`
}

// ProjectToolchain is what a project's own image is made of, and what the person decided on it.
type ProjectToolchain struct {
	SettingsPending
	Kind  string   `json:"kind"`  // ToolchainImage, ToolchainSetup or ToolchainDevcontainer
	State string   `json:"state"` // ToolchainUndecided, ToolchainApproved or ToolchainDeclined
	Text  string   `json:"text"`  // all of it
	Notes []string `json:"notes"` // what of it Loop leaves out, in sentences
}

// What the person decided on a ProjectToolchain.
const (
	ToolchainUndecided = "undecided"
	ToolchainApproved  = "approved"
	ToolchainDeclined  = "declined"
)

// Toolchain is the kind of what an image is made of; empty for settings.
func (p SettingsPending) Toolchain() string {
	if len(p.Fields) == 1 {
		switch p.Fields[0] {
		case ToolchainImage, ToolchainSetup, ToolchainDevcontainer:
			return p.Fields[0]
		}
	}
	return ""
}

// SettingsRevision is one text that a settings file had.
type SettingsRevision struct {
	ID      string    `json:"id"`
	Path    string    `json:"path"`
	Source  string    `json:"source"` // settings, external, initial, restore:<id>
	At      time.Time `json:"at"`
	Added   int       `json:"added"` // lines, against the revision before
	Removed int       `json:"removed"`
}
