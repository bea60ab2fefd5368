package callbacks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"loop/backend/core"
)

// Channels is the list of channels as callbacks need it. Within says whether a
// channel belongs to the caller's project, and Members are all of it.
type Channels interface {
	Within(ctx context.Context, caller, id core.ChannelID) bool
	Members(ctx context.Context, id core.ChannelID) ([]core.ChannelView, error)
	CreateThread(ctx context.Context, req core.ThreadRequest) (core.ChannelView, error)
	CreateWorktree(ctx context.Context, req core.WorktreeRequest) (core.ChannelView, error)
	ListSessions(ctx context.Context, id core.ChannelID) ([]core.SessionInfo, error)
	StartWith(ctx context.Context, id core.ChannelID, start core.SessionStart) (core.ChannelView, error)
}

// Runs is the queue as callbacks need it.
type Runs interface {
	Prompt(ctx context.Context, req core.Run) (core.Run, error)
	Interrupt(ctx context.Context, req core.Run) (core.Run, error)
	Remove(ctx context.Context, id core.RunID) error
}

// Store reads runs and keeps messages.
type Store interface {
	Run(ctx context.Context, id core.RunID) (core.Run, error)
	Queue(ctx context.Context, ch core.ChannelID) ([]core.Run, error)
	PromptHistory(ctx context.Context, ch core.ChannelID, query string, limit int) ([]string, error)
	AddEvents(ctx context.Context, events ...core.Event) ([]core.Event, error)
}

// Options assemble a Service.
type Options struct {
	Channels Channels
	Runs     Runs
	Store    Store
	Publish  func(...core.Event)
	Now      func() time.Time
	Hide     func(run core.RunID, text string) string // takes a run's secrets out of text
}

// Limits on what one agent may ask for.
const (
	maxMessage = 256 << 10 // bytes of one message, as shown in a timeline
	maxSummary = 200       // runes of an agent's last prompt shown to others
	maxFound   = 50        // channels in one answer
	maxShown   = 40        // queued prompts in one answer
	maxExcerpt = 250       // runes of a queued prompt in a list; an answer has 64 KiB
	// maxQueued bounds the prompts that agents may have waiting in one project.
	maxQueued = 30
	// maxChain bounds agents that set each other to work: a run that an agent
	// started, whose agent starts a run, and so on.
	maxChain = 8
)

// Service is safe for use from any goroutine.
type Service struct {
	o      Options
	limits limiter

	mu     sync.Mutex
	coming map[core.ChannelID]int // prompts on their way into a project's queues, by its root
}

// New makes the service; it starts nothing.
func New(o Options) *Service {
	return &Service{
		o: o, limits: limiter{now: o.Now, callers: map[core.RunID]*budget{}, prompts: map[core.RunID]*budget{}},
		coming: map[core.ChannelID]int{},
	}
}

var errForeign = core.Fail(core.CodeForbidden, nil, "An agent may name channels of its own project only.",
	"list_agents and search_channels show them.")

// named resolves a channel the caller named; empty is its own.
func (s *Service) named(ctx context.Context, from core.Caller, ch core.ChannelID) (core.ChannelID, error) {
	if ch == "" || ch == from.ChannelID {
		return from.ChannelID, nil
	}
	if !s.o.Channels.Within(ctx, from.ChannelID, ch) {
		return "", errForeign
	}
	return ch, nil
}

// enter is the start of every callback that changes something.
func (s *Service) enter(ctx context.Context, from core.Caller, ch core.ChannelID) (core.ChannelID, error) {
	if err := s.limits.take(from.Origin()); err != nil {
		return "", err
	}
	return s.named(ctx, from, ch)
}

// members counts a request and lists the channels of the caller's project.
func (s *Service) members(ctx context.Context, from core.Caller) ([]core.ChannelView, error) {
	if err := s.limits.take(from.Origin()); err != nil {
		return nil, err
	}
	return s.o.Channels.Members(ctx, from.ChannelID)
}

func checkText(text string) error { return core.CheckText("message", text, maxMessage) }

// SendMessage shows a message of the agent in a channel.
func (s *Service) SendMessage(ctx context.Context, from core.Caller, ch core.ChannelID, text string) error {
	if err := checkText(text); err != nil {
		return err
	}
	ch, err := s.enter(ctx, from, ch)
	if err != nil {
		return err
	}
	run := from.RunID
	if ch != from.ChannelID {
		run = "" // that channel's own runs have not said it
	}
	stored, err := s.o.Store.AddEvents(ctx, core.NewEvent(core.EventMessageCreated, ch, run, s.o.Now(), core.MessageCreated{
		MsgID: core.NewID(), AuthorID: "agent", Content: s.o.Hide(from.RunID, text), IsBot: true, IsProcessed: true,
		TriggerMsgID: string(from.RunID),
	}))
	if err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	s.o.Publish(stored...)
	return nil
}

// QueueMessage queues a prompt in a channel of the project.
func (s *Service) QueueMessage(ctx context.Context, from core.Caller, m core.GuestMessage) (core.Run, error) {
	if err := checkText(m.Content); err != nil {
		return core.Run{}, err
	}
	ch, err := s.enter(ctx, from, m.ChannelID)
	if err != nil {
		return core.Run{}, err
	}
	return s.queue(ctx, from, ch, m)
}

// queue puts a prompt of an agent into a queue. A run that plans first queues prompts
// that plan first: otherwise it could write through them.
func (s *Service) queue(ctx context.Context, from core.Caller, ch core.ChannelID, m core.GuestMessage) (core.Run, error) {
	mine, root, err := s.mayStart(ctx, from)
	if err != nil {
		return core.Run{}, err
	}
	done, err := s.room(ctx, from)
	if err != nil {
		return core.Run{}, err
	}
	defer done()
	if err := s.limits.start(root); err != nil {
		return core.Run{}, err
	}
	req := core.Run{
		ChannelID: ch, Prompt: s.o.Hide(from.RunID, m.Content), Demo: mine.Demo, Script: mine.Script, Plan: mine.Plan,
		Unattended: mine.Unattended, Delay: m.Delay,
		Trigger: "agent", AuthorID: core.AuthorAgent + string(from.Origin()),
	}
	if m.Interrupt {
		// An agent that interrupts its own channel ends itself and with it this
		// request; what it asked for must go on.
		return s.o.Runs.Interrupt(context.WithoutCancel(ctx), req)
	}
	return s.o.Runs.Prompt(ctx, req)
}

// room refuses a prompt when enough prompts of agents wait in the project. Otherwise it
// keeps a place until done: requests that come together would all count the queue
// before the first of them is in it.
func (s *Service) room(ctx context.Context, from core.Caller) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := s.o.Channels.Members(ctx, from.ChannelID)
	if err != nil {
		return nil, err
	}
	root := from.ChannelID
	for _, m := range list {
		if m.ParentID == "" {
			root = m.ID
		}
	}
	n := s.coming[root]
	for _, m := range list {
		if m.Queued == 0 {
			continue
		}
		waiting, err := s.o.Store.Queue(ctx, m.ID)
		if err != nil {
			return nil, fmt.Errorf("read queue: %w", err)
		}
		for _, r := range waiting {
			if r.Trigger == "agent" {
				n++
			}
		}
	}
	if n >= maxQueued {
		return nil, core.Fail(core.CodeTooMany, nil, fmt.Sprintf("%d prompts of agents wait in this project already.", n),
			"Wait until some of them have run.")
	}
	s.coming[root]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.coming[root]--; s.coming[root] == 0 {
			delete(s.coming, root)
		}
	}, nil
}

// mayStart refuses an agent at the end of a chain, and returns its run and the
// one at the chain's beginning.
func (s *Service) mayStart(ctx context.Context, from core.Caller) (mine core.Run, root core.RunID, err error) {
	mine, root, depth, err := s.chain(ctx, from)
	if err == nil && depth >= maxChain {
		err = core.Fail(core.CodeTooMany, nil, fmt.Sprintf("Agents have set each other to work %d times in a row.", depth),
			"The person has to send the next prompt.")
	}
	return mine, root, err
}

// chain counts how many agents in a row led to the caller's run.
func (s *Service) chain(ctx context.Context, from core.Caller) (mine core.Run, root core.RunID, depth int, err error) {
	root = from.Origin()
	for depth = 0; depth < maxChain && root != ""; depth++ {
		run, err := s.o.Store.Run(ctx, root)
		if errors.Is(err, core.ErrNotFound) {
			return mine, root, depth, nil // its channel is gone; the chain was no longer than this
		}
		if err != nil {
			return mine, root, 0, fmt.Errorf("read run: %w", err)
		}
		if root == from.RunID {
			mine = run
		}
		parent, ok := strings.CutPrefix(run.AuthorID, core.AuthorAgent)
		if !ok {
			return mine, root, depth, nil
		}
		root = core.RunID(parent)
	}
	return mine, root, depth, nil
}

// Queued lists what waits in a channel.
func (s *Service) Queued(ctx context.Context, from core.Caller, ch core.ChannelID) ([]core.Run, error) {
	ch, err := s.enter(ctx, from, ch)
	if err != nil {
		return nil, err
	}
	list, err := s.o.Store.Queue(ctx, ch)
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	list = list[:min(len(list), maxShown)]
	for i := range list {
		list[i].Prompt = core.Shortened(list[i].Prompt, maxExcerpt)
	}
	return list, nil
}

// RemoveQueued takes a prompt that an agent queued out of the queue; the
// person's own are not an agent's to remove.
func (s *Service) RemoveQueued(ctx context.Context, from core.Caller, id core.RunID) error {
	if err := s.limits.take(from.Origin()); err != nil {
		return err
	}
	run, err := s.o.Store.Run(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return errForeign // whether it exists elsewhere is not said
	}
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	if _, err := s.named(ctx, from, run.ChannelID); err != nil {
		return err
	}
	if run.Trigger != "agent" {
		return core.Fail(core.CodeForbidden, nil, "Only prompts that an agent queued can be removed by an agent.", "Ask the person.")
	}
	return s.o.Runs.Remove(ctx, id)
}

// Sessions lists the conversations kept for a channel.
func (s *Service) Sessions(ctx context.Context, from core.Caller, ch core.ChannelID) ([]core.SessionInfo, error) {
	ch, err := s.enter(ctx, from, ch)
	if err != nil {
		return nil, err
	}
	return s.o.Channels.ListSessions(ctx, ch)
}

// SetSession says how a channel's next run begins.
func (s *Service) SetSession(ctx context.Context, from core.Caller, ch core.ChannelID, start core.SessionStart) error {
	ch, err := s.enter(ctx, from, ch)
	if err != nil {
		return err
	}
	_, err = s.o.Channels.StartWith(ctx, ch, start)
	return err
}

// CreateThread opens a thread beside the caller and gives it its first prompt.
func (s *Service) CreateThread(ctx context.Context, from core.Caller, t core.GuestThread) (core.ChannelInfo, error) {
	if err := s.first(ctx, from, t.Message); err != nil {
		return core.ChannelInfo{}, err
	}
	ch, err := s.o.Channels.CreateThread(ctx, core.ThreadRequest{ParentID: from.ChannelID, Name: t.Name, Session: t.Session})
	return s.begin(ctx, from, ch, err, t.Message)
}

// CreateWorktree opens a worktree beside the caller and gives it its first prompt.
func (s *Service) CreateWorktree(ctx context.Context, from core.Caller, w core.GuestWorktree) (core.ChannelInfo, error) {
	if err := s.first(ctx, from, w.Message); err != nil {
		return core.ChannelInfo{}, err
	}
	switch mine, _, _, err := s.chain(ctx, from); {
	case err != nil:
		return core.ChannelInfo{}, err
	case mine.Plan:
		return core.ChannelInfo{}, core.Fail(core.CodeForbidden, nil,
			"This run plans first, and a worktree would write into the project.", "Make it part of the plan.")
	}
	// Git works in a container of its own and is not half done because the
	// caller's run ended meanwhile.
	ch, err := s.o.Channels.CreateWorktree(context.WithoutCancel(ctx),
		core.WorktreeRequest{ParentID: from.ChannelID, Branch: w.Branch, Name: w.Name, Base: w.Base})
	return s.begin(ctx, from, ch, err, w.Message)
}

// first judges a first prompt before anything is made for it.
func (s *Service) first(ctx context.Context, from core.Caller, message string) error {
	if _, err := s.enter(ctx, from, ""); err != nil {
		return err
	}
	if message != "" {
		if err := checkText(message); err != nil {
			return err
		}
		if _, _, err := s.mayStart(ctx, from); err != nil {
			return err
		}
		done, err := s.room(ctx, from)
		if err != nil {
			return err
		}
		done()
	}
	return s.limits.make(from.Origin())
}

// begin gives a channel its first prompt, unless it could not be made.
func (s *Service) begin(ctx context.Context, from core.Caller, ch core.ChannelView, err error, message string) (core.ChannelInfo, error) {
	if err == nil && message != "" {
		_, err = s.queue(ctx, from, ch.ID, core.GuestMessage{Content: message})
	}
	return info(from, ch), err
}

// SearchChannels lists channels of the caller's project by name, branch or folder.
func (s *Service) SearchChannels(ctx context.Context, from core.Caller, query string) ([]core.ChannelInfo, error) {
	list, err := s.members(ctx, from)
	if err != nil {
		return nil, err
	}
	query = strings.ToLower(strings.TrimSpace(query))
	out := []core.ChannelInfo{}
	for _, m := range list {
		if len(out) < maxFound && strings.Contains(strings.ToLower(m.Name+"\n"+m.Branch+"\n"+m.Dir), query) {
			out = append(out, info(from, m))
		}
	}
	return out, nil
}

// info is a channel as an agent of its project may see it.
func info(from core.Caller, ch core.ChannelView) core.ChannelInfo {
	return core.ChannelInfo{
		ID: ch.ID, ParentID: ch.ParentID, Kind: ch.Kind, Name: ch.Name, Dir: ch.Dir, Branch: ch.Branch,
		Status: string(ch.State), Own: ch.ID == from.ChannelID,
	}
}

// Agents lists the channels of the project in which an agent works or has worked.
func (s *Service) Agents(ctx context.Context, from core.Caller) ([]core.AgentInfo, error) {
	list, err := s.members(ctx, from)
	if err != nil {
		return nil, err
	}
	out := []core.AgentInfo{}
	for _, m := range list {
		busy := m.Queued > 0 || m.State == core.ChannelWorking || m.State == core.ChannelNeedsYou
		if !busy && m.SessionID == "" && m.DemoSessionID == "" {
			continue
		}
		last, err := s.o.Store.PromptHistory(ctx, m.ID, "", 1)
		if err != nil {
			return nil, fmt.Errorf("read prompts: %w", err)
		}
		a := core.AgentInfo{ID: m.ID, Channel: m.ID, Name: m.Name, Status: string(m.State), Own: m.ID == from.ChannelID}
		if len(last) > 0 {
			a.Summary = core.Shortened(strings.Join(strings.Fields(last[0]), " "), maxSummary)
		}
		out = append(out, a)
	}
	return out, nil
}

// MessageAgent queues words to another agent of the project, with the sender's
// name in front. Control characters are refused: the text is typed into a
// prompt, and the original's marks of a paste could end it early.
func (s *Service) MessageAgent(ctx context.Context, from core.Caller, agent core.ChannelID, text string) error {
	if err := checkText(text); err != nil {
		return err
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return core.Fail(core.CodeInvalid, nil, "The message has control characters in it.", "Send plain text.")
	}
	to, err := s.enter(ctx, from, agent)
	if err != nil {
		return err
	}
	if to == from.ChannelID {
		return core.Fail(core.CodeInvalid, nil, "That agent is the sender.", "queue_message leaves a note to oneself.")
	}
	name := string(from.ChannelID)
	list, err := s.o.Channels.Members(ctx, from.ChannelID)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == from.ChannelID {
			name = m.Name
		}
	}
	_, err = s.queue(ctx, from, to, core.GuestMessage{Content: "[from " + name + "] " + text})
	return err
}
