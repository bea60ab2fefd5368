package core

import "time"

// QuestionKind says what kind of answer the agent waits for.
type QuestionKind string

const (
	QuestionAsk  QuestionKind = "ask_user"  // one to four questions with options
	QuestionPlan QuestionKind = "exit_plan" // a plan to approve
)

// QuestionState is how a question stands; only an open one can be resolved.
type QuestionState string

const (
	QuestionOpen      QuestionState = "open"
	QuestionAnswered  QuestionState = "answered"
	QuestionCancelled QuestionState = "cancelled"
)

// Question is a question of an agent to the person. The channel is parked while one
// of its questions is open: queued prompts wait. A Question is also the payload of
// agent.ask_user and agent.exit_plan; its row is written with that event.
type Question struct {
	ID           string        `json:"question_id"`
	ChannelID    ChannelID     `json:"channel_id"`
	RunID        RunID         `json:"run_id"`
	Kind         QuestionKind  `json:"kind"`
	State        QuestionState `json:"state"`
	ToolUseID    string        `json:"tool_use_id"`
	Questions    []AskQuestion `json:"questions,omitempty"`
	Plan         string        `json:"plan,omitempty"`
	PlanFilePath string        `json:"planFilePath,omitempty"`
	ReadOnly     bool          `json:"read_only,omitempty"` // its run planned first and could change nothing
	Demo         bool          `json:"demo,omitempty"`
	CreatedAt    time.Time     `json:"created_at"`
	ResolvedAt   time.Time     `json:"resolved_at,omitzero"`
	Answer       *Answer       `json:"answer,omitempty"`
	NextRunID    RunID         `json:"next_run_id,omitempty"` // brings the agent the answer; only told to who gives it
}

// AskQuestion is one question; the names are those of the CLI's own tool.
type AskQuestion struct {
	Question    string      `json:"question"`
	Header      string      `json:"header,omitempty"`
	Options     []AskOption `json:"options"`
	MultiSelect bool        `json:"multiSelect,omitempty"`
}

// AskOption is one of a question's answers.
type AskOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// AnswerAction is what the person did with a question.
type AnswerAction string

const (
	AnswerGiven   AnswerAction = "answer"  // ask_user: Choices and Text
	AnswerApprove AnswerAction = "approve" // exit_plan: go ahead
	AnswerRevise  AnswerAction = "revise"  // exit_plan: Text says what to change
	AnswerCancel  AnswerAction = "cancel"  // either: the agent hears nothing
)

// Answer resolves a question, once.
type Answer struct {
	Action AnswerAction `json:"action"`
	// Choices holds, per question in order, the labels chosen.
	Choices [][]string `json:"choices,omitempty"`
	// Texts holds, per question in order, the person's own words.
	Texts    []string `json:"texts,omitempty"`
	Text     string   `json:"text,omitempty"`
	AuthorID string   `json:"author_id,omitempty"`
}
