package bind_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// fakeTree notes each call of the channels, with its arguments.
type fakeTree struct {
	bind.ChannelService
	asked string
	err   error
}

func (f *fakeTree) note(format string, args ...any) error {
	f.asked = fmt.Sprintf(format, args...)
	return f.err
}

func (f *fakeTree) CreateThread(_ context.Context, r core.ThreadRequest) (core.ChannelView, error) {
	return core.ChannelView{Channel: core.Channel{ID: "new"}}, f.note("thread %+v", r)
}
func (f *fakeTree) CreateWorktree(_ context.Context, r core.WorktreeRequest) (core.ChannelView, error) {
	return core.ChannelView{Channel: core.Channel{ID: "new"}}, f.note("worktree %+v", r)
}
func (f *fakeTree) RemoveTree(_ context.Context, id core.ChannelID, files bool) error {
	return f.note("remove tree %s %v", id, files)
}
func (f *fakeTree) Branches(_ context.Context, id core.ChannelID) (core.BranchList, error) {
	return core.BranchList{Branches: []core.Branch{}, Changed: []string{}}, f.note("branches %s", id)
}

func (f *fakeTree) RemoveWorktree(_ context.Context, id core.ChannelID, force bool) error {
	return f.note("remove worktree %s %v", id, force)
}
func (f *fakeTree) Search(_ context.Context, q string) ([]core.ChannelView, error) {
	return nil, f.note("search %s", q)
}
func (f *fakeTree) ListSessions(_ context.Context, id core.ChannelID) ([]core.SessionInfo, error) {
	return nil, f.note("sessions %s", id)
}
func (f *fakeTree) Messages(_ context.Context, id core.ChannelID, s core.SessionID) ([]core.SessionMessage, error) {
	return nil, f.note("messages %s %s", id, s)
}
func (f *fakeTree) StartWith(_ context.Context, id core.ChannelID, st core.SessionStart) (core.ChannelView, error) {
	return core.ChannelView{}, f.note("start %s %+v", id, st)
}

// TestThreadCalls: each call reaches the service unchanged, answers [] and passes a
// failure on.
func TestThreadCalls(t *testing.T) {
	st := core.SessionStart{Mode: core.SessionFork, SessionID: "s", At: "u"}
	thread := core.ThreadRequest{ParentID: "p", Name: "n", Session: st}
	fork := core.ThreadRequest{ParentID: "c", Name: "n", Session: st}
	tree := core.WorktreeRequest{ParentID: "p", Branch: "b", Name: "n", Base: "v1"}
	for want, call := range map[string]func(*bind.Channels) (any, error){
		fmt.Sprintf("thread %+v", thread): func(c *bind.Channels) (any, error) { return c.CreateThread(thread) },
		fmt.Sprintf("worktree %+v", tree): func(c *bind.Channels) (any, error) { return c.CreateWorktree(tree) },
		"remove tree c true":              func(c *bind.Channels) (any, error) { return nil, c.RemoveTree("c", true) },
		"remove worktree c false":         func(c *bind.Channels) (any, error) { return nil, c.RemoveWorktree("c", false) },
		"branches c":                      func(c *bind.Channels) (any, error) { return c.Branches("c") },
		"search text":                     func(c *bind.Channels) (any, error) { return c.Search("text") },
		"sessions c":                      func(c *bind.Channels) (any, error) { return c.Sessions("c") },
		"messages c s":                    func(c *bind.Channels) (any, error) { return c.Messages("c", "s") },
		fmt.Sprintf("start c %+v", st):    func(c *bind.Channels) (any, error) { return c.SetSession("c", st) },
		fmt.Sprintf("thread %+v", fork): func(c *bind.Channels) (any, error) {
			return c.ForkAt("c", core.SessionStart{SessionID: "s", At: "u"}, "n")
		},
	} {
		boom := errors.New("boom")
		for _, fail := range []error{nil, boom} {
			f := &fakeTree{err: fail}
			out, err := call(&bind.Channels{Ctx: t.Context(), Service: f})
			if f.asked != want || !errors.Is(err, fail) {
				t.Errorf("asked %q, want %q; %v", f.asked, want, err)
			}
			switch list := out.(type) {
			case []core.ChannelView:
				if list == nil {
					t.Errorf("%s answers null", want)
				}
			case []core.SessionInfo:
				if list == nil {
					t.Errorf("%s answers null", want)
				}
			case []core.SessionMessage:
				if list == nil {
					t.Errorf("%s answers null", want)
				}
			}
		}
	}
}
