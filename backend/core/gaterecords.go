package core

import "time"

// GateLogQuery says which records of the gate are wanted, the newest Limit of them; 0 is
// 1000, and no more than 10000 are given. Empty fields leave nothing out. RunID and ID may
// be beginnings.
type GateLogQuery struct {
	ChannelID ChannelID `json:"channel_id,omitempty"`
	RunID     RunID     `json:"run_id,omitempty"`
	ID        string    `json:"id,omitempty"`
	Limit     int       `json:"limit,omitempty"`
}

// GateRecord is one decision as it is written down. A record of kind counted stands for
// calls that are not named, one of kind log is about the log itself.
type GateRecord struct {
	ID        string    `json:"id,omitempty"`
	At        time.Time `json:"at"`
	ChannelID ChannelID `json:"channel_id"`
	RunID     RunID     `json:"run_id,omitempty"`
	SpawnID   SpawnID   `json:"spawn_id"`
	ToolUseID string    `json:"tool_use_id,omitempty"`
	Kind      string    `json:"kind"`
	Operation string    `json:"operation"`
	Target    string    `json:"target"`
	Rule      string    `json:"rule,omitempty"`
	Category  string    `json:"category,omitempty"`
	Decision  string    `json:"decision"`
	By        string    `json:"by"`
	Scope     string    `json:"scope,omitempty"`
	Calls     int       `json:"calls"`
	LatencyMs int64     `json:"latency_ms"`
	Pid       int       `json:"pid,omitempty"`
	Command   string    `json:"command,omitempty"`
	Policy    string    `json:"policy"` // version of the spawn's policy
	Digest    string    `json:"digest,omitempty"`
	Hash      string    `json:"hash"`
	Prev      string    `json:"prev"`
}

// GateLogFile is what the verification of one file of records has found.
type GateLogFile struct {
	File      string    `json:"file"`
	ChannelID ChannelID `json:"channel_id"`
	Records   int       `json:"records"`
	Broken    string    `json:"broken,omitempty"` // what is wrong; empty: it is as it was written
}

// GateTestResult is what became of one case of a policy test.
type GateTestResult struct {
	Case    int    `json:"case"` // from 1
	What    string `json:"what"` // “write /home/u/.bashrc”
	Want    string `json:"want"`
	Got     string `json:"got"`
	Rule    string `json:"rule,omitempty"` // that decided; empty: the default
	Message string `json:"message,omitempty"`
}

// Failed says that the policy decides otherwise than the test wants.
func (r GateTestResult) Failed() bool { return r.Got != r.Want }
