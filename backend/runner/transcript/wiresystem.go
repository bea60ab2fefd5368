package transcript

type wireSystem struct {
	Subtype     string `json:"subtype"`
	SessionID   string `json:"session_id"`
	UUID        string `json:"uuid"`
	Model       string `json:"model"`
	Status      string `json:"status"`
	Description string `json:"description"`
	Summary     string `json:"summary"`
	Content     string `json:"content"`
	Text        string `json:"text"`
	Level       string `json:"level"`
	Priority    string `json:"priority"`
	Reason      string `json:"reason"`
	Error       string `json:"error"`
	MCPServers  []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	Commands []string `json:"slash_commands"`
	Terminal []string `json:"terminal_slash_commands"`
	Compact  struct {
		PostTokens int64 `json:"post_tokens"`
	} `json:"compact_metadata"`
	CompactResult string  `json:"compact_result"`
	CompactError  string  `json:"compact_error"`
	Tokens        float64 `json:"estimated_tokens"`
	wireTaskLine
	wireRetry
	wireHook
	Plugin   string `json:"name"`
	Original string `json:"original_model"`
	Fallback string `json:"fallback_model"`
	Memories []struct {
		Path string `json:"path"`
	} `json:"memories"`
	Failed []struct {
		Name  string `json:"filename"`
		Error string `json:"error"`
	} `json:"failed"`
}

type wireTaskLine struct {
	TaskID    string `json:"task_id"`
	TaskType  string `json:"task_type"`
	ToolUseID string `json:"tool_use_id"`
	LastTool  string `json:"last_tool_name"`
	AgentKind string `json:"subagent_type"`
	Used      struct {
		Tokens     float64 `json:"total_tokens"`
		Calls      float64 `json:"tool_uses"`
		DurationMs float64 `json:"duration_ms"`
	} `json:"usage"`
}

type wireRetry struct {
	Attempt     float64 `json:"attempt"`
	MaxRetries  float64 `json:"max_retries"`
	DelayMs     float64 `json:"retry_delay_ms"`
	ErrorStatus float64 `json:"error_status"`
}

type wireHook struct {
	Hook     string  `json:"hook_name"`
	Outcome  string  `json:"outcome"`
	Output   string  `json:"output"`
	ExitCode float64 `json:"exit_code"`
}

// wireOther are members of the kinds that are not of type “system”.
type wireOther struct {
	Parent    string `json:"parent_tool_use_id"` // of a sub-agent: its call; ToolUseID is of no call then
	ToolUseID string `json:"tool_use_id"`
	Error     string `json:"error"`
	Goal      struct {
		Condition string `json:"condition"`
	} `json:"value"`
	AgentRetry *struct {
		wireRetry
		Category string `json:"error_category"`
	} `json:"subagent_retry"`
}
