package core

// Activity is a step that the agent's CLI reports apart from its messages.
type Activity struct {
	Activity    string `json:"activity"`
	Description string `json:"description,omitempty"`
	Model       string `json:"model,omitempty"`
	// ParentID is the call whose sub-agent this is about; empty: the agent itself.
	ParentID string     `json:"parent_tool_use_id,omitempty"`
	Agent    *AgentWork `json:"agent,omitempty"`
	Retry    *RetryWait `json:"retry,omitempty"`
}

// AgentWork is what a sub-agent has done so far, as the CLI counts it.
type AgentWork struct {
	Kind       string `json:"kind,omitempty"`  // Explore, general-purpose, …
	State      string `json:"state,omitempty"` // running, completed, failed, stopped; empty: as before
	Calls      int    `json:"calls,omitempty"`
	Tokens     int64  `json:"tokens,omitempty"`
	DurationMs int64  `json:"duration_ms,omitempty"`
}

// RetryWait is the CLI's wait before it asks the model again.
type RetryWait struct {
	Attempt int    `json:"attempt"`
	Of      int    `json:"of,omitempty"`
	DelayMs int64  `json:"delay_ms"`
	Why     string `json:"why"` // a sentence
}
