package core

import "time"

// Recording is a terminal session as it was shown, kept as asciicast v2.
type Recording struct {
	Name       string     `json:"name"` // of its file, which is what it is asked for by
	SessionID  TerminalID `json:"session_id"`
	ChannelID  ChannelID  `json:"channel_id"`
	Title      string     `json:"title"`
	StartedAt  time.Time  `json:"started_at"`
	DurationMs int64      `json:"duration_ms"` // of what is written so far
	Bytes      int64      `json:"bytes"`       // of the file
	Cols       uint16     `json:"cols"`        // at the beginning
	Rows       uint16     `json:"rows"`
}
