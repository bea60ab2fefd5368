package core

import (
	"encoding/json"
	"time"
)

// EventType names what happened. Names and payload fields follow the original
// system's event list where it has one.
type EventType string

const (
	EventMessageCreated   EventType = "message.created"             // MessageCreated; stored
	EventMessageStreaming EventType = "message.streaming"           // MessageStreaming; not stored
	EventThinking         EventType = "agent.thinking"              // Thinking; stored
	EventToolUse          EventType = "tool.use"                    // ToolUse; stored
	EventToolResult       EventType = "tool.result"                 // ToolResult; stored
	EventActivity         EventType = "agent.activity"              // Activity; stored
	EventStatus           EventType = "agent.status"                // Status; stored
	EventNotice           EventType = "run.notice"                  // Notice; stored
	EventAttempt          EventType = "run.attempt"                 // Attempt; stored
	EventBackground       EventType = "run.background"              // Background; stored
	EventAskUser          EventType = "agent.ask_user"              // Question; stored, and opens it
	EventExitPlan         EventType = "agent.exit_plan"             // Question; stored, and opens it
	EventAskResolved      EventType = "agent.ask_resolved"          // Question; stored
	EventPlanResolved     EventType = "agent.plan_resolved"         // Question; stored
	EventTodos            EventType = "agent.todos"                 // the tool's own input; stored
	EventMessageUpdated   EventType = "message.updated"             // MessageUpdated; stored
	EventMessagesDone     EventType = "messages.processed"          // MessagesProcessed; not stored
	EventAgentAdded       EventType = "agent_instance.registered"   // AgentInfo; not stored
	EventAgentRemoved     EventType = "agent_instance.unregistered" // AgentInfo; not stored
	EventMessageDeleted   EventType = "message.deleted"             // MessageUpdated without content; stored
	EventRaw              EventType = "agent.raw"                   // the line itself, a kind Loop does not know; stored
	EventQueueChanged     EventType = "queue.changed"               // Run; not stored
	EventChannelCreated   EventType = "channel.created"             // Channel; not stored
	EventChannelUpdated   EventType = "channel.updated"             // Channel; not stored
	EventChannelDeleted   EventType = "channel.deleted"             // no payload; not stored
	EventContainerAdded   EventType = "container.registered"        // Container; not stored, as are the next two
	EventContainerChanged EventType = "container.status_changed"
	EventContainerRemoved EventType = "container.removed"
	EventImageBuild       EventType = "image.build_status" // ImageStatus; not stored
	EventEngineStatus     EventType = "engine.status"      // EngineStatus; not stored
	EventConfigChanged    EventType = "config.changed"     // ConfigStatus; not stored
	EventSignIn           EventType = "signin.changed"     // the sign-in to a subscription; not stored
	EventTrustRequested   EventType = "trust.requested"    // TrustRequested; not stored
	EventTerminalCreated  EventType = "terminal.created"   // TerminalInfo; not stored, as are the next two
	EventTerminalChanged  EventType = "terminal.changed"
	EventTerminalRemoved  EventType = "terminal.removed"
	EventTalk             EventType = "terminal.talk" // TerminalTalk; stored
	EventGateAsked        EventType = "gate.asked"    // Approval; stored where it is a run's
	EventGateChanged      EventType = "gate.changed"  // Approval: more calls, a later deadline; not stored
	EventGateResolved     EventType = "gate.resolved" // Approval; stored where it is a run's
	EventGateDecided      EventType = "gate.decided"  // GateDecisions; stored
	EventGateStatus       EventType = "gate.status"   // GateStatus; not stored
	EventGateRules        EventType = "gate.rules"    // no payload: a rule has changed, of a project or of all; not stored
	EventFrameKept        EventType = "browser.frame" // no payload: a picture of a run's browser was kept; not stored
	EventBrowserHeld      EventType = "browser.held"  // BrowserHeld; not stored
	EventRewindWent       EventType = "rewind.went"   // Rewind; stored
	EventRewindUndone     EventType = "rewind.undone" // Rewind; stored
	// EventReset tells one page that it has missed events and must take a new
	// snapshot; its Seq is the number after which the stream goes on.
	EventReset EventType = "reset"
)

// Event is one thing that happened. Seq numbers every event of one launch of
// the app, without gaps; ID is the row of a stored event and grows over the
// life of the database, 0 for events that are not stored. FirstSeq is set where
// an event stands for more than its own number: pieces of a message that were
// joined, or events the page did not ask for.
type Event struct {
	Seq       uint64          `json:"seq"`
	FirstSeq  uint64          `json:"first_seq,omitempty"`
	ID        int64           `json:"id,omitempty"`
	Type      EventType       `json:"type"`
	ChannelID ChannelID       `json:"channel_id,omitempty"`
	RunID     RunID           `json:"run_id,omitempty"`
	Time      time.Time       `json:"-"`
	Timestamp int64           `json:"timestamp"` // ms since the epoch
	Data      json.RawMessage `json:"data,omitempty"`
}

// NewEvent encodes data; at is the moment shown to the person.
func NewEvent(t EventType, ch ChannelID, run RunID, at time.Time, data any) Event {
	raw, err := json.Marshal(data)
	if err != nil {
		// Payloads are this package's own structs; one that cannot be encoded is a bug that must be seen.
		raw, _ = json.Marshal(Notice{Level: "error", Text: "event could not be encoded: " + err.Error()})
	}
	return Event{Type: t, ChannelID: ch, RunID: run, Time: at, Timestamp: at.UnixMilli(), Data: raw}
}

// TrustRequested is a project's settings file of which a run left Fields out,
// because nobody approved the file as it is.
type TrustRequested struct {
	ChannelID ChannelID `json:"channel_id"`
	Path      string    `json:"path"`
	SHA256    string    `json:"sha256"`
	Fields    []string  `json:"fields"`
}

// MessageCreated is a message of the person, the agent or Loop.
type MessageCreated struct {
	MsgID    string `json:"msg_id"`
	AuthorID string `json:"author_id,omitempty"`
	Author   string `json:"author_name,omitempty"`
	Content  string `json:"content"`
	// Attachments are the pictures of a prompt.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Model and Effort are what was asked for this prompt alone.
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
	IsBot  bool   `json:"is_bot"`
	// UUID names the message in the agent's transcript; a fork may end there.
	UUID string `json:"uuid,omitempty"`
	// Cut says that the agent ended in the middle of the message.
	Cut bool `json:"cut,omitempty"`
	// IsProcessed is false for a prompt that waits; messages.processed says when
	// its run has begun.
	IsProcessed  bool   `json:"is_processed"`
	Priority     int    `json:"priority,omitempty"`
	TriggerMsgID string `json:"trigger_msg_id,omitempty"`
	NotBefore    int64  `json:"not_before,omitempty"` // ms since the epoch
}

// MessagesProcessed names prompts whose runs have begun.
type MessagesProcessed struct {
	MsgIDs []string `json:"msg_ids"`
}

// MessageUpdated is a queued prompt that was edited, or taken out of the queue.
type MessageUpdated struct {
	MsgID   string `json:"msg_id"`
	Content string `json:"content,omitempty"`
}

// MessageStreaming is a piece of a message still being written. Offset is the
// number of bytes of this block sent before Delta, so a viewer that missed a
// piece knows it.
type MessageStreaming struct {
	MsgID  string `json:"msg_id"`
	Block  int    `json:"block"`
	Kind   string `json:"kind"` // text, thinking, tool: the name of one whose input is being written
	Offset int    `json:"offset"`
	Delta  string `json:"delta"`
}

// Thinking is a block of the agent's thinking.
type Thinking struct {
	MsgID string `json:"msg_id,omitempty"`
	Text  string `json:"text"`
	Cut   bool   `json:"cut,omitempty"` // as in MessageCreated
}

// ToolUse is a call of a tool by the agent.
type ToolUse struct {
	ToolUseID string          `json:"tool_use_id"`
	ParentID  string          `json:"parent_tool_use_id,omitempty"`
	Name      string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	Cut       bool            `json:"cut,omitempty"` // the agent ended before it had called the tool
}

// ToolResult carries at most 8 KiB of output (the limit of the original);
// Truncated says that more was there.
type ToolResult struct {
	ToolUseID string       `json:"tool_use_id"`
	ParentID  string       `json:"parent_tool_use_id,omitempty"`
	Output    string       `json:"output"`
	IsError   bool         `json:"is_error"`
	Truncated bool         `json:"truncated,omitempty"`
	Files     []FileChange `json:"files,omitempty"`
	// Pictures of the output, in the order of its “[image]” marks. They are kept as those
	// of prompts are.
	Pictures []Attachment `json:"pictures,omitempty"`
}

// FileChange is a file a tool says it wrote: read from the tool's own result,
// never by running git on the host.
type FileChange struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"` // create, edit
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Patch   string `json:"patch,omitempty"` // unified hunks, bounded
	Alarm   string `json:"alarm,omitempty"` // ReviewAlarm.Word, where the file is in the project and reaches further
}

// Background lists all tasks that the agent has under way besides its turn; a later
// list of the same run takes its place. Waiting says that the turn is over and the
// run goes on for these tasks alone.
type Background struct {
	Tasks   []BackgroundTask `json:"tasks"`
	Waiting bool             `json:"waiting"`
}

// BackgroundTask is a command that runs, or a sub-agent that works, while the
// agent goes on.
type BackgroundTask struct {
	ID   string `json:"task_id"`
	Kind string `json:"kind"` // command, agent, other
	What string `json:"what"` // the command, or what the agent calls the task
}

// Status is a step in the life of a run. Status is running, completed or
// error as in the original; State is Loop's finer word.
type Status struct {
	Status     string    `json:"status"`
	State      RunState  `json:"state"`
	Step       string    `json:"step,omitempty"` // StepToolchain, slot, image, container, link, agent
	Error      string    `json:"error,omitempty"`
	Failure    *Failure  `json:"failure,omitempty"`
	Result     string    `json:"result,omitempty"`
	SessionID  SessionID `json:"session_id,omitempty"`
	DurationMs int64     `json:"duration_ms,omitempty"`
	NumTurns   int       `json:"num_turns,omitempty"`
	StopReason string    `json:"stop_reason,omitempty"`
	Model      string    `json:"model,omitempty"`
	ExitCode   int       `json:"exit_code,omitempty"`
	// MsgID is the prompt's message, Trigger who sent it (see Run), and
	// TriggerContent its beginning.
	MsgID          string `json:"msg_id,omitempty"`
	Trigger        string `json:"trigger,omitempty"`
	TriggerContent string `json:"trigger_content,omitempty"`
	// OnHost says that the run works on this computer itself, without a container.
	OnHost bool `json:"on_host,omitempty"`
	Usage
}

// Notice tells the person something about a run that is neither the agent's word nor
// a failure: a skipped mount, a cut line, a re-attached run, who drives the browser.
type Notice struct {
	Level  string        `json:"level"` // info, warning, error
	Text   string        `json:"text"`
	Driver BrowserDriver `json:"driver,omitempty"` // who drives the channel's browser from then on; empty: it is about something else
}

// LiveMessage is the part streamed so far of a message that is not complete, so that
// a page that reloads in the middle shows it. The place in Blocks is the block's
// number; blocks already stored are empty.
type LiveMessage struct {
	RunID  RunID       `json:"run_id"`
	MsgID  string      `json:"msg_id"`
	Blocks []LiveBlock `json:"blocks"`
}

// LiveBlock is one block of a LiveMessage.
type LiveBlock struct {
	Kind string `json:"kind"` // text, thinking
	Text string `json:"text"`
}
