package bind

import (
	"context"
	"time"

	"loop/backend/core"
	"loop/backend/doctor"
)

// ChannelService is the tree of channels, and the conversations that the agent keeps
// for each.
type ChannelService interface {
	List(ctx context.Context) ([]core.ChannelView, error)
	Get(ctx context.Context, id core.ChannelID) (core.ChannelView, error)
	Add(ctx context.Context, dir, name string) (core.ChannelView, error)
	Demo(ctx context.Context) (core.ChannelView, error)
	Rename(ctx context.Context, id core.ChannelID, name string) error
	SetChoices(ctx context.Context, id core.ChannelID, chosen core.ChannelChoices) error
	Agents() []core.AgentChoice
	Remove(ctx context.Context, id core.ChannelID) error
	Search(ctx context.Context, query string) ([]core.ChannelView, error)
	CreateThread(ctx context.Context, req core.ThreadRequest) (core.ChannelView, error)
	Branches(ctx context.Context, id core.ChannelID) (core.BranchList, error)
	CreateWorktree(ctx context.Context, req core.WorktreeRequest) (core.ChannelView, error)
	RemoveTree(ctx context.Context, id core.ChannelID, removeFiles bool) error
	RemoveWorktree(ctx context.Context, id core.ChannelID, force bool) error
	ListSessions(ctx context.Context, id core.ChannelID) ([]core.SessionInfo, error)
	Messages(ctx context.Context, id core.ChannelID, session core.SessionID) ([]core.SessionMessage, error)
	StartWith(ctx context.Context, id core.ChannelID, start core.SessionStart) (core.ChannelView, error)
}

// TimelineStore reads stored events, prompts and costs.
type TimelineStore interface {
	Timeline(ctx context.Context, id core.ChannelID, beforeID int64, limit int) (events []core.Event, more bool, err error)
	PromptHistory(ctx context.Context, id core.ChannelID, query string, limit int) ([]string, error)
	CostSince(ctx context.Context, since time.Time) (core.DayCost, error)
	Find(ctx context.Context, q core.FindQuery) (core.FoundEvents, error)
}

// RunService takes prompts, changes those that wait, ends runs, and answers agents.
type RunService interface {
	Prompt(ctx context.Context, req core.Run) (core.Run, error)
	Interrupt(ctx context.Context, req core.Run) (core.Run, error)
	Cancel(ctx context.Context, id core.RunID) error
	Remove(ctx context.Context, id core.RunID) error
	Retry(ctx context.Context, id core.RunID) (core.Run, error)
	// Live is the message that is being written in a channel, nil if there is none.
	Live(id core.ChannelID) *core.LiveMessage
	Queue(ctx context.Context, id core.ChannelID) ([]core.Run, error)
	Edit(ctx context.Context, id core.RunID, prompt string) (core.Run, error)
	Hold(ctx context.Context, id core.RunID) (core.Run, error)
	Release(ctx context.Context, id core.RunID) error
	Reorder(ctx context.Context, id core.ChannelID, ids []core.RunID) ([]core.Run, error)
	Steer(ctx context.Context, id core.RunID) error
	Questions(ctx context.Context, id core.ChannelID) ([]core.Question, error)
	Answer(ctx context.Context, questionID string, a core.Answer) (core.Question, error)
}

// ImageService builds one of Loop's images.
type ImageService interface {
	Status(ctx context.Context) core.ImageStatus
	Build(ctx context.Context) error
	Cancel()
}

// AgentImages builds the images that agents work in.
type AgentImages interface {
	ImageService
	SandboxStatus(ctx context.Context, kind string) core.ImageStatus
	BuildSandbox(ctx context.Context, w core.SandboxImage) error
	Output() core.BuildOutput
}

// ContainerService lists the containers of this Loop folder.
type ContainerService interface {
	List() []core.Container
	Views() []core.ContainerView
}

// EngineService says how the engine is.
type EngineService interface {
	Status(ctx context.Context) core.EngineStatus
}

// ConfigService shows the configuration and changes single fields of it, with the
// scopes of Settings.
type ConfigService interface {
	Status() ConfigStatus
	Set(ctx context.Context, scope string, ch core.ChannelID, field string, value any) error
}

// DoctorService performs the checks.
type DoctorService interface {
	Check(ctx context.Context) doctor.Report
	Fix(ctx context.Context, id string) (doctor.Check, error)
}

// Native does what only a window can. Headless it is nil.
type Native interface {
	PickFolder() (string, error) // empty when the person closed the dialog
	OpenURL(url string) error
	Show()           // brings the window to the front, hidden or not
	Hide()           // puts it away
	Quit()           // ends the window, and Loop with it
	Ask(what string) // has its page ask the person: AskClose, AskQuit, AskReview
	Visible() bool   // neither hidden nor minimised, as far as the system says
}

// Questions that Native.Ask can have the page ask.
const (
	AskClose = "close" // the window was closed for the first time while Loop is needed
	AskQuit  = "quit"  // the system's menu wants Loop to quit
	// AskReview and the id of an approval: the person wants to see it.
	AskReview = "review:"
	// AskOpen and the id of a channel: the person wants to see that.
	AskOpen = "open:"
)

// ConfigStatus is the configuration as the page shows it; it never holds a key.
type ConfigStatus struct {
	Path           string                 `json:"path"`
	Problems       []core.SettingsProblem `json:"problems"` // of the global file
	HasCredentials bool                   `json:"has_credentials"`
	CredentialKind string                 `json:"credential_kind,omitempty"`
	Theme          string                 `json:"theme"`            // of Loop's own, or the name of Look; an unknown one is “system”
	Look           *core.Theme            `json:"look,omitempty"`   // the imported theme in force
	Themes         []string               `json:"themes,omitempty"` // names of the imported ones
	DoNotDisturb   bool                   `json:"do_not_disturb"`   // the desktop shows no notifications
	Notify         string                 `json:"notify"`           // what it shows of channels without a choice of their own
	Text           TextSizes              `json:"text"`
	Terminal       TerminalLook           `json:"terminal"`
	Keys           map[string][]string    `json:"keys,omitempty"` // of actions that do not have the page's own
}

// TextSizes are those of the page besides terminals, in CSS pixels.
type TextSizes struct {
	Sidebar int `json:"sidebar"`
	Chat    int `json:"chat"`
	Editor  int `json:"editor"` // code, output, diffs and paths
	Panels  int `json:"panels"` // dialogs, and panels other than the timeline
}

// TerminalLook has the settings of terminal panes.
type TerminalLook struct {
	FontFamily   string `json:"font_family"`
	FontSize     int    `json:"font_size"`   // CSS pixels
	ShiftEnter   string `json:"shift_enter"` // newline, enter
	Bell         string `json:"bell"`        // mark, sound, off
	CopyOnSelect bool   `json:"copy_on_select"`
	ScreenReader bool   `json:"screen_reader"`

	Colors          []string `json:"colors,omitempty"` // [dark.|light.]name=#rrggbb
	MinimumContrast float64  `json:"minimum_contrast"`
}
