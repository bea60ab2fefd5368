package core

// FindQuery asks for what was said and done. Words are parted by spaces and must all be
// there, in any order; the last one may be a beginning. Words in quotes stand together.
type FindQuery struct {
	Words     string    `json:"words"`
	ChannelID ChannelID `json:"channel_id,omitempty"` // empty: everywhere
	BeforeID  int64     `json:"before_id,omitempty"`  // only events older than this one; 0: from the newest on
	Limit     int       `json:"limit,omitempty"`      // 0: 50, and at most 500
}

// FoundEvent is a place in a timeline.
type FoundEvent struct {
	EventID   int64     `json:"event_id"`
	ChannelID ChannelID `json:"channel_id"`
	RunID     RunID     `json:"run_id,omitempty"`
	Type      EventType `json:"type"`
	Timestamp int64     `json:"timestamp"` // ms since the epoch
	ToolUseID string    `json:"tool_use_id,omitempty"`
	ToolName  string    `json:"tool_name,omitempty"`
	IsBot     bool      `json:"is_bot,omitempty"` // of a message: the agent's
	Excerpt   string    `json:"excerpt"`          // one line around the first word, at most some 200 characters
}

// FoundEvents are newest first.
type FoundEvents struct {
	Found []FoundEvent `json:"found"`
	More  bool         `json:"more"` // there are older ones
}
