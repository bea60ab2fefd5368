package core

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// KeptKind says when a picture of a page was taken.
type KeptKind string

const (
	FrameAct  KeptKind = "act"  // an act of the agent had ended
	FramePage KeptKind = "page" // between acts: the page was another one
	FrameTake KeptKind = "take" // the person took over
	FrameGive KeptKind = "give" // the person gave back
)

// KeptFrame is a picture of a page that was kept as proof of what a run did in its
// browser. URL and title are the page's own words.
type KeptFrame struct {
	ID         int64          `json:"frame_id"`
	RunID      RunID          `json:"run_id"`
	ToolUseID  string         `json:"tool_use_id,omitempty"` // act: the call that asked for it, where that is known
	Kind       KeptKind       `json:"kind"`
	Time       int64          `json:"time"` // ms since the epoch
	Driver     BrowserDriver  `json:"driver"`
	Action     string         `json:"action,omitempty"` // act: the tool
	Deed       string         `json:"deed,omitempty"`   // act: what the agent did, in words
	Failed     bool           `json:"failed,omitempty"` // act: it did not work
	Target     *BrowserTarget `json:"target,omitempty"`
	URL        string         `json:"url,omitempty"`
	Title      string         `json:"title,omitempty"`
	Picture    string         `json:"picture,omitempty"` // SHA-256 of the JPEG; empty: there is none
	Why        string         `json:"why,omitempty"`     // there is no picture: a sentence
	Width      int            `json:"width,omitempty"`   // of the picture, in its own pixels
	Height     int            `json:"height,omitempty"`
	ViewWidth  float64        `json:"view_width,omitempty"` // of the page in it, in CSS pixels
	ViewHeight float64        `json:"view_height,omitempty"`
	// Skipped is how many frames before this one were left out, because the run had more
	// than are kept.
	Skipped int `json:"skipped,omitempty"`
}

// TakenFrame is a KeptFrame on its way to be kept.
type TakenFrame struct {
	KeptFrame
	ChannelID ChannelID
	Params    json.RawMessage // of the act; hostile
	Began     time.Time       // the act did
	JPEG      []byte          // hostile; empty with a Why
	Ratio     float64         // pixels of the JPEG for each CSS pixel
}

// BrowserCall is a call of one of the browser's tools, as a run's events tell of it.
type BrowserCall struct {
	ToolUseID string
	Action    string
	Input     json.RawMessage
	Ended     time.Time // its result came; zero before
}

// StoredFrame is a KeptFrame as its row has it.
type StoredFrame struct {
	KeptFrame
	Key   string // stands for what the act asked for
	Began time.Time
	Bytes int64 // of the picture
}

// FrameFile is what a kept frame's row says of its picture.
type FrameFile struct {
	ChannelID ChannelID
	RunID     RunID
	Picture   string
	Bytes     int64
}

// FrameThinning is what is left out of a run that has more pictures than are kept.
type FrameThinning struct {
	Frames   []StoredFrame // as a whole
	Pictures []StoredFrame // only the picture
	Skipped  map[int64]int // how many frames more were left out before a frame, by its id
}

// FramesOfRun sums up the frames that are kept of one run.
type FramesOfRun struct {
	ChannelID ChannelID
	RunID     RunID
	Last      time.Time
	Bytes     int64
}

// RunExport is a run as one file that people without Loop can open.
type RunExport interface {
	Name() string // how the file should be called
	// Write writes it, once. After an error what was written is no such file.
	Write(ctx context.Context, w io.Writer) error
}
