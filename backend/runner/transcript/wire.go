package transcript

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The shapes below name only what is used; everything else is skipped while
// decoding. They were taken from recordings of Claude Code 2.1.197 (testdata).

// lenient: a repeated name takes its last value and broken UTF-8 is replaced,
// because output that is only a little wrong is still worth showing.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func decode(b []byte, v any) error { return json.Unmarshal(b, v, lenient) }

type wireMessage struct {
	Message struct {
		ID      string         `json:"id"`
		Model   string         `json:"model"`
		Content jsontext.Value `json:"content"`
		Usage   wireUsage      `json:"usage"`
	} `json:"message"`
	Parent    string `json:"parent_tool_use_id"`
	SessionID string `json:"session_id"`
	UUID      string `json:"uuid"`
	Error     string `json:"error"`
}

type wireBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
}

type wireStream struct {
	Event struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			ID    string    `json:"id"`
			Model string    `json:"model"`
			Usage wireUsage `json:"usage"`
		} `json:"message"`
		Block struct {
			Name string `json:"name"` // of a tool
		} `json:"content_block"`
		Delta struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
		Usage wireUsage `json:"usage"`
	} `json:"event"`
	Parent string `json:"parent_tool_use_id"`
}

type wireResult struct {
	Subtype        string   `json:"subtype"`
	IsError        bool     `json:"is_error"`
	APIErrorStatus int      `json:"api_error_status"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	SessionID      string   `json:"session_id"`
	DurationMs     float64  `json:"duration_ms"`
	NumTurns       int      `json:"num_turns"`
	StopReason     string   `json:"stop_reason"`
	TerminalReason string   `json:"terminal_reason"`
	TotalUSD       float64  `json:"total_cost_usd"` // of the conversation
	// ModelUsage is the conversation's, Since the run's own; see Usage.
	ModelUsage jsontext.Value   `json:"modelUsage"`
	Since      jsontext.Value   `json:"model_usage_since_last_result"`
	Denials    []jsontext.Value `json:"permission_denials"`
}

type wireRateLimit struct {
	Info struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"`
		Type     string  `json:"rateLimitType"`
	} `json:"rate_limit_info"`
}

type wireFile struct {
	Type     string  `json:"type"`
	FilePath string  `json:"filePath"`
	Content  *string `json:"content"`
	Patch    []struct {
		OldStart int      `json:"oldStart"`
		OldLines int      `json:"oldLines"`
		NewStart int      `json:"newStart"`
		NewLines int      `json:"newLines"`
		Lines    []string `json:"lines"`
	} `json:"structuredPatch"`
}
