package transcript

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

// Tools that stand for a question to the person. Loop's permission tool refuses
// them and interrupts the run, which the CLI then ends with the refused calls in
// its result (seen with Claude Code 2.1.197).
const (
	toolAsk  = "AskUserQuestion"
	toolPlan = "ExitPlanMode"
)

// Ask is what the agent ended its run with to ask the person. Its texts come out
// of a container; all of them are bounded.
type Ask struct {
	Kind         core.QuestionKind
	ToolUseID    string
	Questions    []core.AskQuestion
	Plan         string
	PlanFilePath string
}

// Bounds of a question. The CLI itself allows four questions of four options.
const (
	maxQuestions = 8
	maxOptions   = 12
	maxQuestion  = 4 << 10
	maxPreview   = 16 << 10
	maxPlan      = 256 << 10
	maxPending   = 16 // questions that are not refused yet
)

type wireAsk struct {
	Questions    []core.AskQuestion `json:"questions"`
	Plan         string             `json:"plan"`
	PlanFilePath string             `json:"planFilePath"`
}

type wireDenial struct {
	Tool  string         `json:"tool_name"`
	ID    string         `json:"tool_use_id"`
	Input jsontext.Value `json:"tool_input"`
}

type wirePlanFile struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
	Old     string `json:"old_string"`
	New     string `json:"new_string"`
	All     bool   `json:"replace_all"`
}

// readAsk makes an Ask of a call of one of the two tools; nil if it is none or
// holds nothing to ask.
func readAsk(tool, id string, input []byte) *Ask {
	a := &Ask{ToolUseID: clipShort(id)}
	var w wireAsk
	bad := decode(input, &w) != nil
	switch tool {
	case toolAsk:
		a.Kind = core.QuestionAsk
		for _, q := range w.Questions[:min(len(w.Questions), maxQuestions)] {
			q.Question, q.Header = clipMarked(q.Question, maxQuestion), clipShort(q.Header)
			q.Options = append([]core.AskOption{}, q.Options[:min(len(q.Options), maxOptions)]...)
			for i, o := range q.Options {
				q.Options[i] = core.AskOption{
					Label: clipShort(o.Label), Description: clipMarked(o.Description, maxQuestion), Preview: clipMarked(o.Preview, maxPreview),
				}
			}
			a.Questions = append(a.Questions, q)
		}
		if bad || len(a.Questions) == 0 {
			return nil
		}
	case toolPlan:
		a.Kind = core.QuestionPlan
		a.Plan, a.PlanFilePath = clipMarked(w.Plan, maxPlan), clipShort(w.PlanFilePath)
	default:
		return nil
	}
	return a
}

// tool notes what the main conversation's calls mean for a question: the call
// itself, or the plan that is being written to a file before it.
func (p *Parser) tool(b wireBlock) {
	switch b.Name {
	case toolAsk, toolPlan:
		if a := readAsk(b.Name, b.ID, b.Input); a != nil && len(p.pending) < maxPending {
			if p.pending == nil {
				p.pending = map[string]*Ask{}
			}
			p.pending[a.ToolUseID] = a
		}
	case "Write", "Edit":
		var f wirePlanFile
		if len(b.Input) > maxPlan || decode(b.Input, &f) != nil || !isPlanFile(f.Path) {
			return
		}
		switch {
		case b.Name == "Write":
			p.planPath, p.plan = f.Path, f.Content
		case f.Path == p.planPath && f.Old != "":
			n := 1
			if f.All {
				n = -1
			}
			if len(p.plan)+strings.Count(p.plan, f.Old)*len(f.New) <= 2*maxPlan {
				p.plan = strings.Replace(p.plan, f.Old, f.New, n)
			}
		}
	}
}

// isPlanFile knows the file that the CLI tells the agent to write its plan to.
func isPlanFile(path string) bool {
	return strings.Contains(path, "/.claude/plans/") && strings.HasSuffix(path, ".md") && len(path) <= maxShort
}

// refused turns the answer to a refused question into one that fits Loop.
func (p *Parser) refused(r core.ToolResult) core.ToolResult {
	a := p.pending[r.ToolUseID]
	if a == nil {
		return r
	}
	delete(p.pending, r.ToolUseID)
	put := strings.Contains(r.Output, "doesn't want to proceed with this tool use") ||
		strings.Contains(r.Output, "question is with the person")
	if !r.IsError || !put {
		return r
	}
	p.ask(a)
	r.IsError, r.Output = false, "The question is with the person."
	return r
}

func (p *Parser) ask(a *Ask) {
	if a.Kind == core.QuestionPlan && a.Plan == "" {
		a.Plan, a.PlanFilePath = clipMarked(p.plan, maxPlan), p.planPath
		if a.Plan == "" {
			a.Plan = p.lastText
		}
	}
	p.Asked = a
}

// settle decides by the result whether the run ended with a question.
func (p *Parser) settle(w wireResult, r *Result) {
	if p.closed {
		return
	}
	if !r.Failed() {
		p.Asked = nil // it went on after all
		return
	}
	for i := len(w.Denials) - 1; i >= 0; i-- {
		var d wireDenial
		if decode(w.Denials[i], &d) != nil {
			continue
		}
		if a := readAsk(d.Tool, d.ID, d.Input); a != nil {
			if p.Asked == nil || p.Asked.ToolUseID != a.ToolUseID {
				p.ask(a)
			}
			break
		}
	}
	p.closed = p.Asked != nil
}
