package core

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
	"unicode"
)

// TerminalID names a terminal session: 128 random bits in hex. A program in a
// container is named by the same id there, as its SpawnID.
type TerminalID string

// TerminalTarget says where a session's program runs.
type TerminalTarget string

const (
	TargetAgent TerminalTarget = "agent" // in the channel's container; also what an empty one means
	TargetHost  TerminalTarget = "host"  // on this computer, as the person
)

// OpenMode says how a terminal's agent takes up the channel's conversation.
type OpenMode string

const (
	OpenLegacy OpenMode = ""       // threads that share their parent's session fork, others resume
	OpenResume OpenMode = "resume" // go on in place; without a session the same as fresh
	OpenFork   OpenMode = "fork"   // a session of its own; without a session the same as resume
	OpenFresh  OpenMode = "fresh"  // a new conversation
)

// Limits of terminals. The seed's argument limit; the others bound memory: a
// cell takes some 16 bytes, and two screens and the scrollback hold them.
const (
	MaxTerminalArgs = 64
	MaxTerminalCols = 1000
	MaxTerminalRows = 500
	MinTerminalCols = 2 // below that a wide character has no place
	MinTerminalRows = 1
	MaxTerminalDir  = 4096 // bytes
)

// TerminalSpec asks for a session.
type TerminalSpec struct {
	ChannelID   ChannelID      `json:"channel_id,omitempty"`
	ContainerID ContainerID    `json:"container_id,omitempty"` // agent: this container; empty finds or makes the channel's
	Target      TerminalTarget `json:"target,omitempty"`
	Cmd         []string       `json:"cmd,omitempty"`   // empty: a login shell; for an agent target with the agent typed into it
	Plain       bool           `json:"plain,omitempty"` // agent, Cmd empty: the shell alone
	OpenMode    OpenMode       `json:"open_mode,omitempty"`
	Dir         string         `json:"dir,omitempty"`   // where a program begins; empty, or not there: where the channel's begin
	Cols        uint16         `json:"cols,omitempty"`  // 0: 80
	Rows        uint16         `json:"rows,omitempty"`  // 0: 24
	Title       string         `json:"title,omitempty"` // given by the person; empty follows the program's
	// Colors are those of whoever asks; nil is DarkTerminal.
	Colors *TerminalColors `json:"-"`
}

// TerminalState is where a session stands.
type TerminalState string

const (
	TerminalRunning TerminalState = "running"
	TerminalAway    TerminalState = "away"  // its container cannot be reached now; the program goes on
	TerminalEnded   TerminalState = "ended" // the program ended; what it printed can still be read
)

// ShellState is the state of a shell, by the marks that it prints.
type ShellState string

const (
	ShellUnknown ShellState = ""        // it makes no marks
	ShellPrompt  ShellState = "prompt"  // it waits for a command
	ShellRunning ShellState = "running" // a command runs in it
)

// TerminalInfo describes a session; pages list it and events carry it.
type TerminalInfo struct {
	ID          TerminalID     `json:"session_id"`
	ChannelID   ChannelID      `json:"channel_id"`
	ContainerID ContainerID    `json:"container_id,omitempty"`
	Target      TerminalTarget `json:"target"`
	State       TerminalState  `json:"state"`
	Title       string         `json:"title"`         // given, else the program's, else the command; printable, at most 200 runes
	Named       bool           `json:"named"`         // the title was given by the person
	Dir         string         `json:"dir,omitempty"` // where the shell is, as it says itself
	Cmd         []string       `json:"cmd,omitempty"` // what was asked for
	Plain       bool           `json:"plain,omitempty"`
	Shell       ShellState     `json:"shell,omitempty"`
	Command     string         `json:"command,omitempty"` // what runs in the shell, as it was typed; cleaned as titles are
	Exit        *TerminalExit  `json:"exit,omitempty"`    // of an ended one
	Cols        uint16         `json:"cols"`
	Rows        uint16         `json:"rows"`
	Viewers     int            `json:"viewers"`
	Recording   string         `json:"recording,omitempty"` // name of the recording under way
	// RecordingProblem says, in sentences, why the last one ended before it was told to.
	RecordingProblem string    `json:"recording_problem,omitempty"`
	CreatedAt        time.Time `json:"created_at"`
}

// TerminalExit is how a session's program ended.
type TerminalExit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"` // a sentence where it was not the program's own doing
}

// FrameKind says what a TerminalFrame is.
type FrameKind int

const (
	// FrameSnapshot replaces everything the viewer knew: Data, written to a
	// fresh terminal of Cols by Rows, draws the screen as it was at Offset.
	FrameSnapshot FrameKind = iota + 1
	FrameOutput             // Data follows at Offset
	FrameResized            // from here on the terminal is Cols by Rows
	FrameEnded              // the program ended (Exit); nothing follows
)

// TerminalFrame is one step of what a viewer is shown, in order.
type TerminalFrame struct {
	Kind       FrameKind
	Data       []byte // at most 64 KiB for output; valid until the next call of Next
	Offset     int64  // absolute, of the first byte of Data (snapshot: of the byte after it)
	Cols, Rows uint16
	Exit       *TerminalExit
}

// TerminalViewer is one attached client. Next and Ack may be called from
// different goroutines; whoever attached calls Close.
type TerminalViewer interface {
	Info() TerminalInfo
	// Next waits for the next frame. The first one after attaching is a
	// snapshot. io.EOF follows FrameEnded.
	Next(ctx context.Context) (TerminalFrame, error)
	// Ack says how many bytes of Data, snapshots included, the viewer has
	// processed since it attached. A viewer that asked for flow control and
	// stays too far behind is given no more until it acknowledges, holds the
	// program up for a while, and is resynchronised after that.
	Ack(bytes int64)
	// Resync makes the next frame a snapshot.
	Resync()
	// Show says whether the viewer is drawn. A hidden one holds nobody up and is
	// given a snapshot when it is shown again.
	Show(visible bool)
	Close()
}

// TerminalAttach are a viewer's wishes.
type TerminalAttach struct {
	Acks   bool            // it acknowledges; without that only its connection's own back-pressure counts
	Colors *TerminalColors // nil keeps those that programs get
}

// maxTitle bounds a title, in runes.
const maxTitle = 200

// CleanTitle keeps what can be drawn on one line of text that a program or a
// person chose: no control characters, none that turn the direction of text or
// are invisible, and a bounded length.
func CleanTitle(s string) string {
	left := maxTitle
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if left == 0 || !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		left--
		return r
	}, s))
}

// Color is red, green and blue.
type Color [3]uint8

// TerminalColors are the colours in which a viewer draws a terminal. A program can
// ask for them; most do so to choose between light and dark.
type TerminalColors struct{ Foreground, Background, Cursor Color }

// DarkTerminal are the colours of the page's dark theme. Programs get them until a
// viewer names its own.
var DarkTerminal = TerminalColors{Foreground: Color{0xe6, 0xe9, 0xee}, Background: Color{0x14, 0x17, 0x1b}, Cursor: Color{0xe6, 0xe9, 0xee}}

// ParseColor reads #rrggbb.
func ParseColor(s string) (c Color, ok bool) {
	if len(s) != 7 || s[0] != '#' {
		return c, false
	}
	_, err := hex.Decode(c[:], []byte(s[1:]))
	return c, err == nil
}

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
