package core

import (
	"context"
	"encoding/json"
)

// BrowserPhase says how a channel's browser stands.
type BrowserPhase string

const (
	BrowserIdle     BrowserPhase = "idle" // not started, or ended because nobody needed it
	BrowserStarting BrowserPhase = "starting"
	BrowserRunning  BrowserPhase = "running"
	BrowserCrashed  BrowserPhase = "crashed"
	BrowserOff      BrowserPhase = "off" // browser_enabled is false
)

// BrowserDriver says who drives.
type BrowserDriver string

const (
	DriverNobody BrowserDriver = "nobody"
	DriverAgent  BrowserDriver = "agent"
	DriverPerson BrowserDriver = "person"
)

// Where a browser is, as the setting browser.mode says it.
const (
	BrowserInDocker = "docker" // in a container of the channel's
	BrowserOnHost   = "host"   // one that the person started
)

// BrowserDeed is what the agent did last.
type BrowserDeed struct {
	Text   string         `json:"text"` // “clicked “Continue””
	At     int64          `json:"at"`   // ms since the epoch
	OK     bool           `json:"ok"`
	Target *BrowserTarget `json:"target,omitempty"`
}

// BrowserHeld says whether the person drives a channel's browser while an agent waits for it.
type BrowserHeld struct {
	Held bool `json:"held"`
}

// BrowserPort is a port that a program of the channel's agents listens on.
type BrowserPort struct {
	Port    uint16 `json:"port"`
	URL     string `json:"url"`     // where a browser of the channel finds it
	Process string `json:"process"` // what the program calls itself; empty where that is not known
}

// BrowserState is all that a pane shows besides the page itself.
type BrowserState struct {
	Phase     BrowserPhase      `json:"phase"`
	Step      string            `json:"step,omitempty"`     // of starting
	SinceMs   int64             `json:"since_ms,omitempty"` // how long the start has taken
	Failure   *Failure          `json:"failure,omitempty"`
	Driver    BrowserDriver     `json:"driver"`
	WaitingMs int64             `json:"waiting_ms,omitempty"` // how long the agent has waited for the person
	Tabs      []BrowserTab      `json:"tabs"`
	Dialog    *BrowserDialog    `json:"dialog,omitempty"`
	Chooser   *BrowserChooser   `json:"chooser,omitempty"`
	Deed      *BrowserDeed      `json:"deed,omitempty"`
	Errors    int               `json:"errors"`   // in the console of the active page
	Requests  int               `json:"requests"` // of the active page
	View      BrowserView       `json:"view"`
	Notices   []string          `json:"notices,omitempty"`
	Downloads []BrowserDownload `json:"downloads,omitempty"` // newest last
	Ports     []BrowserPort     `json:"ports,omitempty"`     // by number
	Mode      string            `json:"mode,omitempty"`      // BrowserInDocker or BrowserOnHost
	Popup     *BrowserPopup     `json:"popup,omitempty"`     // only while the person drives
	Cursor    string            `json:"cursor,omitempty"`    // of CSS, where the mouse is
}

// BrowserCommand is one message of a pane. Which fields count is Type's.
type BrowserCommand struct {
	Type         string          `json:"type"`
	ChannelID    ChannelID       `json:"channel_id,omitempty"` // start
	View         *BrowserView    `json:"view,omitempty"`       // start, view
	ID           uint32          `json:"id,omitempty"`         // painted: of the frame; act: of the caller's choice
	Input        *BrowserInput   `json:"input,omitempty"`
	Action       string          `json:"action,omitempty"` // act
	Params       json.RawMessage `json:"params,omitempty"`
	ConsoleAfter *int64          `json:"console_after,omitempty"` // drawer: lines after this one, -1 for none
	NetworkAfter *int64          `json:"network_after,omitempty"`
}

// BrowserUpdate is one message to a pane: a frame, or one of the others by Type.
type BrowserUpdate struct {
	Type     string           `json:"type"`
	State    *BrowserState    `json:"state,omitempty"`
	ID       uint32           `json:"id,omitempty"` // result: of the act
	Result   *BrowserResult   `json:"result,omitempty"`
	Lines    []BrowserLine    `json:"lines,omitempty"`
	Requests []BrowserRequest `json:"requests,omitempty"`
	Text     string           `json:"text,omitempty"`    // clipboard
	Message  string           `json:"message,omitempty"` // error
	Frame    *BrowserFrame    `json:"-"`
	FrameID  uint32           `json:"-"`
}

// BrowserViewer is one pane on a browser. Handle and Next are each called from one
// goroutine. Next waits for the next message and returns ctx's error; Close ends both.
type BrowserViewer interface {
	Handle(m BrowserCommand)
	Next(ctx context.Context) (BrowserUpdate, error)
	Close() error
}
