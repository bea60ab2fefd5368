package runner

import (
	"testing"

	"loop/backend/core"
)

// TestAnswerInOwnWords: text without a choice is the answer. The agent must not read
// that there is no answer.
func TestAnswerInOwnWords(t *testing.T) {
	one := core.Question{Kind: core.QuestionAsk, Questions: []core.AskQuestion{{Question: "Which?"}}}
	two := core.Question{Kind: core.QuestionAsk, Questions: []core.AskQuestion{{Question: "Which?"}, {Question: "When?"}}}
	for _, c := range []struct {
		q    core.Question
		a    core.Answer
		want string
	}{
		{one, core.Answer{Text: " neither "}, "My answer to “Which?”: neither"},
		{one, core.Answer{Choices: [][]string{{"Red"}}, Text: "but dark"}, "My answer to “Which?”: Red\n\nbut dark"},
		{one, core.Answer{Texts: []string{"mine"}}, "My answer to “Which?”: mine"},
		{two, core.Answer{Choices: [][]string{{"Red"}}, Text: "soon"}, "These are the answers to your questions.\n\n1. Which?\n   Red\n\n2. When?\n   (see below)\n\n\nsoon"},
	} {
		if got := answerPrompt(c.q, c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
