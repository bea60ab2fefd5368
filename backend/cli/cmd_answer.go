package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loop/backend/core"
)

type answerFlags struct {
	list, json, approve, decline, leave bool
	question, text, revise              string
	choose                              []string
}

// given says that the flags hold an answer.
func (f answerFlags) given() bool {
	return f.approve || f.decline || f.text != "" || f.revise != "" || len(f.choose) > 0
}

func (a *app) answerCommand() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use:   "answer [flags]",
		Short: "Answer what an agent has asked, and follow what it does then",
		Long: `Answer what an agent has asked, and follow what it does then.

A run ends with a question when the agent wants to know something or has a plan
to be approved; its channel waits for the answer. Without a flag that holds an
answer the question is shown and the answer read from the terminal.`,
		Example: `  loop answer                              answer the one open question
  loop answer --list
  loop answer --choose 2                   the second option
  loop answer --choose 1,3 --choose 2      two questions, the first with two options
  loop answer --text "Use the other file"  in your own words
  loop answer --approve                    a plan
  loop answer --revise "Leave out step 2"`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.answer(cmd.Context(), f) },
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "list the open questions")
	cmd.Flags().StringVar(&f.question, "question", "", "id of the question (default: the only open one)")
	cmd.Flags().StringArrayVar(&f.choose, "choose", nil, "numbers or labels of the options chosen; once for each question, in order")
	cmd.Flags().StringVar(&f.text, "text", "", "an answer in your own words, or a remark to a plan that you approve")
	cmd.Flags().BoolVar(&f.approve, "approve", false, "approve the plan")
	cmd.Flags().StringVar(&f.revise, "revise", "", "what to change in the plan")
	cmd.Flags().BoolVar(&f.decline, "decline", false, "decline the question or the plan; the agent is not told anything")
	cmd.Flags().BoolVar(&f.leave, "no-follow", false, "do not wait for what the agent does then")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("approve", "revise", "decline", "choose")
	cmd.MarkFlagsMutuallyExclusive("text", "revise")
	cmd.MarkFlagsMutuallyExclusive("text", "decline")
	return cmd
}

func (a *app) answer(ctx context.Context, f answerFlags) error {
	if f.list {
		return a.with(ctx, a.connectIdle, func(j *job) error {
			j.asJSON = f.json
			names, err := j.channelNames()
			if err != nil {
				return err
			}
			return list(j, questionColumns(names), "Runs.Questions")
		})
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	fo := &follower{app: a, core: c, sink: a.sink(f.json)}
	return fo.close(fo.answer(ctx, f))
}

// answer answers a question and follows the run that brings the agent the answer.
func (f *follower) answer(ctx context.Context, flags answerFlags) error {
	short, stop := f.app.untilInterrupt(ctx)
	defer stop()
	q, err := pickQuestion(short, f.core, flags.question)
	if err != nil {
		return err
	}
	var ans core.Answer
	if flags.given() {
		ans, err = answerOf(q, flags)
	} else if isTerminal(f.app.in) {
		ans, err = typed(short, func() (core.Answer, error) { return f.app.ask(q) })
	} else {
		err = usagef("the answer is missing: use --choose, --text, --approve, --revise or --decline")
	}
	if err != nil {
		return err
	}
	// Followed before the answer is sent, so that no event of its run is missed.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if f.events, err = f.core.Events(life); err != nil {
		return err
	}
	f.began = time.Now()
	q, err = call[core.Question](short, f.core, "Runs.Answer", q.ID, ans)
	switch {
	case err != nil:
		return err
	case q.State == core.QuestionCancelled:
		f.app.err.line("Declined.")
		return nil
	case flags.leave || q.NextRunID == "":
		f.app.err.line("Answered.")
		return nil
	}
	stop()
	f.run = core.Run{ID: q.NextRunID, ChannelID: q.ChannelID, State: core.RunQueued}
	return f.toEnd(ctx, life)
}

func questionColumns(names channelNames) columns[core.Question] {
	return columns[core.Question]{[]string{"QUESTION", "CHANNEL", "ASKED", "WHAT"}, func(q core.Question) []string {
		return []string{q.ID, names.of(q.ChannelID), q.CreatedAt.Local().Format(time.DateTime), oneLine(summary(q), maxLine)}
	}}
}

func summary(q core.Question) string {
	if q.Kind == core.QuestionPlan {
		return "Plan: " + q.Plan
	}
	var parts []string
	for _, ask := range q.Questions {
		parts = append(parts, ask.Question)
	}
	return strings.Join(parts, " / ")
}

func pickQuestion(ctx context.Context, c Core, id string) (core.Question, error) {
	list, err := call[[]core.Question](ctx, c, "Runs.Questions")
	if err != nil {
		return core.Question{}, err
	}
	if id == "" && len(list) == 1 {
		return list[0], nil
	}
	if i := slices.IndexFunc(list, func(q core.Question) bool { return q.ID == id }); i >= 0 {
		return list[i], nil
	}
	switch {
	case id != "":
		return core.Question{}, core.Fail(core.CodeNotFound, nil, fmt.Sprintf("There is no open question %q.", id),
			"Run “loop answer --list” to see them.")
	case len(list) == 0:
		return core.Question{}, core.Fail(core.CodeNotFound, nil, "No agent waits for an answer.", "Run “loop channels” to see what they do.")
	}
	return core.Question{}, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("%d questions are open.", len(list)),
		"Choose one with --question; “loop answer --list” shows them.")
}

// answerOf makes an answer of the flags. Loop checks whether it fits.
func answerOf(q core.Question, f answerFlags) (core.Answer, error) {
	switch {
	case f.decline:
		return core.Answer{Action: core.AnswerCancel}, nil
	case f.approve:
		return core.Answer{Action: core.AnswerApprove, Text: f.text}, nil
	case f.revise != "":
		return core.Answer{Action: core.AnswerRevise, Text: f.revise}, nil
	case q.Kind == core.QuestionPlan:
		return core.Answer{}, usagef("this is a plan: use --approve, --revise or --decline")
	}
	ans := core.Answer{Action: core.AnswerGiven, Text: f.text}
	for i, text := range f.choose {
		if i >= len(q.Questions) {
			return ans, usagef("there are %d answers to %d questions", len(f.choose), len(q.Questions))
		}
		labels, err := labelsOf(q.Questions[i], text)
		if err != nil {
			return ans, err
		}
		ans.Choices = append(ans.Choices, labels)
	}
	return ans, nil
}

// labelsOf reads numbers from 1 with commas between them, or one label.
func labelsOf(ask core.AskQuestion, text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if slices.ContainsFunc(ask.Options, func(o core.AskOption) bool { return o.Label == text }) {
		return []string{text}, nil
	}
	var labels []string
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > len(ask.Options) {
			return nil, usagef("%q is no option; there are 1 to %d", oneLine(part, maxLine), len(ask.Options))
		}
		labels = append(labels, ask.Options[n-1].Label)
	}
	return labels, nil
}

// ask reads the answer from the terminal. A line that is neither numbers nor a label
// is an answer in the person's own words; an empty line is never an answer.
func (a *app) ask(q core.Question) (core.Answer, error) {
	in := bufio.NewScanner(io.LimitReader(a.in, maxPromptBytes))
	line := func(prompt string) (string, error) {
		for {
			a.err.text(prompt)
			if !in.Scan() {
				return "", usagef("no answer was given")
			}
			if t := strings.TrimSpace(in.Text()); t != "" {
				return t, nil
			}
		}
	}
	showQuestion(a.err, q)
	if q.Kind == core.QuestionPlan {
		text, err := line("Type “approve”, “decline”, or what to change: ")
		switch {
		case err != nil:
			return core.Answer{}, err
		case strings.EqualFold(text, "approve"):
			return core.Answer{Action: core.AnswerApprove}, nil
		case strings.EqualFold(text, "decline"):
			return core.Answer{Action: core.AnswerCancel}, nil
		}
		return core.Answer{Action: core.AnswerRevise, Text: text}, nil
	}
	ans := core.Answer{Action: core.AnswerGiven}
	for i, ask := range q.Questions {
		text, err := line(fmt.Sprintf("Answer %d (numbers, or your own words): ", i+1))
		if err != nil {
			return ans, err
		}
		labels, err := labelsOf(ask, text)
		own := ""
		if err != nil {
			labels, own = []string{}, text
		}
		ans.Choices, ans.Texts = append(ans.Choices, labels), append(ans.Texts, own)
	}
	return ans, nil
}

// showQuestion prints a question for reading.
func showQuestion(p *printer, q core.Question) {
	p.fresh()
	if q.Kind == core.QuestionPlan {
		p.styledLine(bold, "The agent has a plan:")
		p.line("%s", q.Plan)
		return
	}
	for i, ask := range q.Questions {
		many := ""
		if ask.MultiSelect {
			many = " (more than one is allowed)"
		}
		p.styledLine(bold, "%d. %s%s", i+1, ask.Question, many)
		for n, o := range ask.Options {
			p.line("   %d) %s", n+1, o.Label)
			if o.Description != "" {
				p.styledLine(dim, "      %s", o.Description)
			}
		}
	}
}
