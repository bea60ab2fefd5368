package api

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
)

// Error codes of the terminal protocol, from the original system.
const (
	termInvalidJSON    core.Code = "invalid_json"
	termNoSession      core.Code = "no_session"
	termMissingField   core.Code = "missing_field"
	termInvalidInput   core.Code = "invalid_input"
	termSessionFailed  core.Code = "session_failed"
	termUnknownMessage core.Code = "unknown_message"
)

// control is one message of a client. Which fields count depends on Type; those
// that may rightly be zero are pointers.
type control struct {
	Type string `json:"type"`

	core.TerminalSpec         // create; the channel is kill's too; Colors are those below, read
	Acks              bool    `json:"acks"`   // create, attach
	Colors            *colors `json:"colors"` // create, attach, colors
	Rows              uint64  `json:"rows"`   // create, resize
	Cols              uint64  `json:"cols"`

	SessionID core.TerminalID `json:"session_id"` // attach, stop, close, ack
	Data      string          `json:"data"`       // input
	Offset    *int64          `json:"offset"`     // ack
	Visible   *bool           `json:"visible"`    // show
	On        *bool           `json:"on"`         // record

	input []byte // Data, decoded
}

// colors are what a client draws with, each as #rrggbb.
type colors struct {
	Foreground string `json:"foreground"`
	Background string `json:"background"`
	Cursor     string `json:"cursor"`
}

// read is nil without colours.
func (c *colors) read() (*core.TerminalColors, *core.Failure) {
	if c == nil {
		return nil, nil
	}
	var out core.TerminalColors
	for _, f := range []struct {
		text string
		to   *core.Color
	}{{c.Foreground, &out.Foreground}, {c.Background, &out.Background}, {cmp.Or(c.Cursor, c.Foreground), &out.Cursor}} {
		v, ok := core.ParseColor(f.text)
		if !ok {
			return nil, refuse(termInvalidInput, "Write each as #rrggbb.", "The colors are not foreground and background.")
		}
		*f.to = v
	}
	return &out, nil
}

// status is one text frame to a client. The first four fields are the original's
// and always there; others without a value are left out, but for those that a
// type always has, which are pointers.
type status struct {
	Type      string          `json:"type"`
	SessionID core.TerminalID `json:"session_id"`
	Message   string          `json:"message"`
	ErrorCode core.Code       `json:"error_code"`

	ChannelID   core.ChannelID      `json:"channel_id,omitempty"`
	ContainerID core.ContainerID    `json:"container_id,omitempty"`
	Target      core.TerminalTarget `json:"target,omitempty"`
	State       core.TerminalState  `json:"state,omitempty"`
	Title       *string             `json:"title,omitempty"`
	Cols        uint16              `json:"cols,omitempty"`
	Rows        uint16              `json:"rows,omitempty"`
	Offset      *int64              `json:"offset,omitempty"`
	Snapshot    *int                `json:"snapshot,omitempty"` // bytes of it, which follow as binary frames
	Name        *string             `json:"name,omitempty"`     // of the recording under way
	ExitCode    *int                `json:"exit_code,omitempty"`
	Signal      string              `json:"signal,omitempty"`
	Remedy      string              `json:"remedy,omitempty"`
	Request     string              `json:"request,omitempty"` // type of the message that an error answers
}

// refuse says why a message was not followed; that ends nothing.
func refuse(code core.Code, remedy, format string, args ...any) *core.Failure {
	return core.Fail(code, nil, fmt.Sprintf(format, args...), remedy)
}

func missing(field string) *core.Failure {
	return refuse(termMissingField, "", "The field %q is missing or zero.", field)
}

var (
	errNoSession = refuse(termNoSession, "Attach to a session or create one first.", "No session is attached here.")
	// errUnknownSession is also the word for an id that cannot be one, so that
	// guesses teach nothing.
	errUnknownSession = refuse(termSessionFailed, "It may have been closed; open a new terminal.",
		"There is no terminal session with that id.")
)

// refusalOf says what a service's error means to a client.
func refusalOf(err error) *core.Failure {
	if err == nil {
		return nil
	}
	f := core.AsFailure(err)
	return core.Fail(termSessionFailed, nil, f.Cause, f.Remedy)
}

// sessionRefusal is refusalOf, and says of a session that is not there what is said
// of an id that cannot be one.
func sessionRefusal(err error) *core.Failure {
	if f, ok := errors.AsType[*core.Failure](err); ok && f.Code == core.CodeNotFound {
		return errUnknownSession
	}
	return refusalOf(err)
}

// decodeControl reads a message as far as that is possible without knowing any
// session. It reports the message's type also with an error, when it has one.
func decodeControl(data []byte) (control, *core.Failure) {
	var m control
	err := json.Unmarshal(data, &m)
	if err == nil && !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		err = errors.New("null") // which leaves any Go value as it is
	}
	if err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return m, refuse(termInvalidJSON, "", "The field %q has the wrong form.", wrong.Field)
		}
		return m, refuse(termInvalidJSON, "Messages are JSON objects with a type.", "The message is not a JSON object.")
	}
	var bad *core.Failure
	if m.TerminalSpec.Colors, bad = m.Colors.read(); bad != nil {
		return m, bad
	}
	switch m.Type {
	case "create":
		return m, m.checkCreate()
	case "attach":
		if m.SessionID == "" {
			return m, missing("session_id")
		}
	case "kill":
		if m.ChannelID == "" {
			return m, missing("channel_id")
		}
	case "stop", "close", "input", "resize", "ack", "resync", "detach", "show", "record", "clear", "colors":
	default:
		return m, refuse(termUnknownMessage, "", "%q is no message of this protocol.", core.CleanTitle(m.Type))
	}
	return m, nil
}

// checkCreate refuses mistakes that can be seen without looking at a container.
func (m *control) checkCreate() *core.Failure {
	if len(m.Cmd) > core.MaxTerminalArgs {
		return refuse(termInvalidInput, "Put it into a script.", "The command has %d arguments, and %d are the most.", len(m.Cmd),
			core.MaxTerminalArgs)
	}
	for _, arg := range m.Cmd {
		if arg == "" || strings.ContainsRune(arg, 0) {
			return refuse(termInvalidInput, "Leave it out.", "The command has an argument that is empty or holds a zero byte.")
		}
	}
	if !slices.Contains([]core.TerminalTarget{"", core.TargetAgent, core.TargetHost}, m.Target) {
		return refuse(termInvalidInput, "Use agent for the container, host for this computer.", "The target is neither agent nor host.")
	}
	if !slices.Contains([]core.OpenMode{core.OpenLegacy, core.OpenResume, core.OpenFork, core.OpenFresh}, m.OpenMode) {
		return refuse(termInvalidInput, "Use resume, fork or fresh, or leave it out.", "The open mode is not known.")
	}
	if m.Target != core.TargetHost && m.ContainerID == "" && m.ChannelID == "" {
		return missing("channel_id")
	}
	return nil
}

// checkAttached refuses a message for the attached session that lacks a field, and
// decodes input.
func (m *control) checkAttached() *core.Failure {
	for _, need := range []struct {
		typ, field string
		there      bool
	}{
		{"input", "data", m.Data != ""}, {"resize", "rows", m.Rows > 0}, {"resize", "cols", m.Cols > 0}, {"ack", "offset", m.Offset != nil},
		{"show", "visible", m.Visible != nil}, {"colors", "colors", m.Colors != nil}, {"record", "on", m.On != nil},
	} {
		if m.Type == need.typ && !need.there {
			return missing(need.field)
		}
	}
	var err error
	if m.input, err = base64.StdEncoding.DecodeString(m.Data); err != nil {
		return refuse(termInvalidInput, "", "The input is not base64.")
	}
	return nil
}

// size is the message's, within bounds.
func (m *control) size() (cols, rows uint16) {
	return uint16(min(m.Cols, core.MaxTerminalCols)), uint16(min(m.Rows, core.MaxTerminalRows))
}

func (m *control) spec() core.TerminalSpec {
	s := m.TerminalSpec
	s.Title = core.CleanTitle(s.Title)
	s.Cols, s.Rows = m.size()
	return s
}

// isSessionID reports whether an id could be one: 128 bits in lower-case hex.
func isSessionID(id core.TerminalID) bool {
	if len(id) != 32 || strings.ToLower(string(id)) != string(id) {
		return false
	}
	_, err := hex.DecodeString(string(id))
	return err == nil
}
