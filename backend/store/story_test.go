package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"loop/backend/core"
)

// step is one call of the store in the story.
type step struct {
	name string
	// at is the step's time after epoch: a step that is done again is done at the
	// same time.
	at time.Duration
	do func(ctx context.Context, s *Store) error
	// twice says that doing it again changes nothing: no second run, no second
	// claim, no second end.
	twice bool
}

// wants checks that a step is refused with this code.
func wants(code error, err error) error {
	if errors.Is(err, code) {
		return nil
	}
	if err == nil {
		err = errors.New("it was not refused")
	}
	return err
}

func claims(ch core.ChannelID, want core.RunID) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, _, err := s.ClaimNext(ctx, ch)
		if err == nil && run.ID != want {
			return fmt.Errorf("claimed %q, not %q", run.ID, want)
		}
		return err
	}
}

func queues(run core.Run) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, _, _, err := s.Enqueue(ctx, run, notice(run.ChannelID, run.ID, "asked"))
		return err
	}
}

func appends(run core.RunID, from, to int64, evs ...core.Event) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		_, err := s.AppendEvents(ctx, run, from, to, evs...)
		return err
	}
}

func checkpoint(id string, r *core.Rewind) func(context.Context, *Store) error {
	kind := core.CheckpointBefore
	if r != nil {
		kind = core.CheckpointKept
	}
	return func(ctx context.Context, s *Store) error {
		_, err := s.PutCheckpoint(ctx, core.Checkpoint{ID: id, ChannelID: "k", RunID: "b", Kind: kind, Tree: "tree", At: epoch, Rewind: r}, nil)
		return err
	}
}

// talks reads a conversation of a terminal up to an offset.
func talks(to int64, usd float64) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		last, err := s.LastTalk(ctx, "k", "s1")
		if err != nil && !errors.Is(err, core.ErrNotFound) || err == nil && last.Offset == to {
			return err // or it was read already
		}
		t := core.SavedTalk{Offset: to, At: epoch, TerminalTalk: core.TerminalTalk{
			ID: "talk-1", ChannelID: "k", SessionID: "s1", Prompts: 1, Working: to == 10, TurnBegan: 7, AddedUSD: usd,
			Usage: core.Usage{Cost: core.Cost{CostUSD: usd, Estimated: true}},
		}, Stated: core.SpentOn{USD: 1, Models: []core.ModelUsage{{Model: "n", Tokens: core.Tokens{Input: 100}, CostUSD: 0.01}}}}
		_, err = s.PutTalk(ctx, t, core.NewEvent(core.EventTalk, "k", t.ID, epoch, t.TerminalTalk))
		return err
	}
}

// ends finishes a run as the runner does.
func ends(id core.RunID, state core.RunState, session core.SessionID) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, err := s.Run(ctx, id)
		if err != nil {
			return err
		}
		run.State, run.EndedAt, run.Outcome.SessionID = state, s.now(), session
		run.Outcome.Commands = []string{"init"}
		run.Outcome.Usage = core.Usage{
			Models:  []core.ModelUsage{{Model: "m", Tokens: core.Tokens{Input: 100}, CostUSD: 0.01}},
			Context: core.Context{Used: 100, Window: 1000},
		}
		_, err = s.FinishRun(ctx, run, notice(run.ChannelID, id, "ended"))
		return err
	}
}

func runs(id core.RunID, attempt int) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		run, err := s.Run(ctx, id)
		if err != nil {
			return err
		}
		run.State, run.StartedAt, run.Attempt.Number = core.RunRunning, s.now(), attempt
		run.SpawnID, run.ContainerID = core.SpawnID(fmt.Sprint(id, attempt)), "box"
		_, err = s.UpdateRun(ctx, run, notice(run.ChannelID, id, "began"))
		return err
	}
}

// frames adds a frame of the run a.
func frames(kind core.KeptKind, picture string) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		f := core.TakenFrame{ChannelID: "c", Began: epoch, KeptFrame: core.KeptFrame{RunID: "a", Kind: kind, Time: epoch.UnixMilli(), Picture: picture}}
		_, err := s.AddFrame(ctx, f, "key", 9)
		return err
	}
}

// story uses every call that writes.
func story() []step {
	const hour = time.Hour
	ch := func(id core.ChannelID) core.Channel {
		return core.Channel{ID: id, Kind: core.KindProject, Name: string(id), Dir: "/" + string(id), DemoSessionID: "d0", CreatedAt: epoch}
	}
	run := func(id core.RunID, ch core.ChannelID) core.Run {
		return core.Run{ID: id, ChannelID: ch, Prompt: "do " + string(id), CreatedAt: epoch}
	}
	later, scripted := run("later", "c"), run("scripted", "c")
	later.NotBefore, scripted.Demo = epoch.Add(30*hour), true
	cont := run("cont", "")
	return []step{
		{"add channel", 0, func(ctx context.Context, s *Store) error { return s.AddChannel(ctx, ch("c")) }, true},
		{"add another", 0, func(ctx context.Context, s *Store) error { return s.AddChannel(ctx, ch("k")) }, true},
		{"agent", 0, func(ctx context.Context, s *Store) error {
			return s.SetChannelChoices(ctx, "k", core.ChannelChoices{AgentID: "dev", Model: "m"})
		}, true},
		{"rename", 0, func(ctx context.Context, s *Store) error { return s.RenameChannel(ctx, "k", "new") }, true},
		{"add thread", 0, func(ctx context.Context, s *Store) error {
			thread := ch("t")
			thread.Kind, thread.ParentID, thread.Untitled, thread.Origin = core.KindThread, "c", true, core.Origin{ChannelID: "c", Open: true}
			return s.AddChannel(ctx, thread)
		}, true},
		{"title", 0, func(ctx context.Context, s *Store) error { return s.TitleChannel(ctx, "t", "Fix the login") }, true},
		{"origin", 0, func(ctx context.Context, s *Store) error {
			return s.SetOrigin(ctx, "t", core.Origin{ChannelID: "c", EventID: 1, Words: "do a"})
		}, true},
		{"talk", 0, talks(10, 0.25), true},
		{"talk goes on", 0, talks(20, 0.5), true},
		{"talk goes back", 0, func(ctx context.Context, s *Store) error { return wants(core.ErrConflict, talks(5, 0)(ctx, s)) }, true},
		{"enqueue a", 0, queues(run("a", "c")), true},
		{"enqueue b", 0, queues(run("b", "c")), true},
		{"enqueue unwanted", 0, queues(run("unwanted", "c")), true},
		{"enqueue the id again", 0, queues(run("a", "c")), true},
		{"enqueue another prompt with the id", 0, func(ctx context.Context, s *Store) error {
			other := run("a", "c")
			other.Prompt = "something else"
			return wants(core.ErrConflict, queues(other)(ctx, s))
		}, true},
		{"enqueue nowhere", 0, func(ctx context.Context, s *Store) error {
			return wants(core.ErrNotFound, queues(run("lost", "nowhere"))(ctx, s))
		}, true},
		{"hold", 0, func(ctx context.Context, s *Store) error {
			_, err := s.HoldQueued(ctx, "b", epoch.Add(5*time.Minute))
			return err
		}, true},
		{"edit", 0, func(ctx context.Context, s *Store) error {
			_, _, err := s.EditQueued(ctx, "b", "do better", notice("c", "b", "edited"))
			return err
		}, false},
		{"promote", 0, func(ctx context.Context, s *Store) error { _, err := s.PromoteQueued(ctx, "b"); return err }, false},
		{"reorder", 0, func(ctx context.Context, s *Store) error {
			_, err := s.ReorderQueue(ctx, "c", []core.RunID{"a", "b", "unwanted"})
			return err
		}, true},
		{"reorder what is not the queue", 0, func(ctx context.Context, s *Store) error {
			_, err := s.ReorderQueue(ctx, "c", []core.RunID{"b", "a"})
			return wants(core.ErrConflict, err)
		}, true},
		{"remove from the queue", 0, ends("unwanted", core.RunCancelled, ""), true},
		{"begin with a fork", 0, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", false, core.SessionStart{Mode: core.SessionFork, SessionID: "old"}, "")
		}, true},
		{"claim a", hour, claims("c", "a"), true},
		{"claim beside a run", hour, claims("c", ""), true},
		{"start a", hour, runs("a", 1), false},
		{"start a again", hour, runs("a", 2), false},
		{"output of a", hour, appends("a", 0, 10, notice("c", "a", "turn"), notice("c", "a", "tool")), true},
		{"a asks", hour, appends("a", 10, 20, asked("c", "a", "q1")), true},
		{"the same output", hour, func(ctx context.Context, s *Store) error {
			return wants(core.ErrConflict, appends("a", 0, 10, notice("c", "a", "turn"))(ctx, s))
		}, true},
		{"a is done", hour, ends("a", core.RunDone, "s1"), true},
		{"claim while parked", 2 * hour, claims("c", ""), true},
		{"answer", 2 * hour, func(ctx context.Context, s *Store) error {
			_, _, _, err := s.AnswerQuestion(ctx, "q1", core.Answer{Action: core.AnswerGiven, Choices: [][]string{{"this"}}}, &cont, notice("c", "a", "answered"))
			return err
		}, true},
		{"answer twice", 2 * hour, func(ctx context.Context, s *Store) error {
			other := run("cont2", "")
			_, _, _, err := s.AnswerQuestion(ctx, "q1", core.Answer{Action: core.AnswerCancel}, &other)
			return wants(core.ErrConflict, err)
		}, true},
		{"claim the continuation", 2 * hour, claims("c", "cont"), true},
		{"start it", 2 * hour, runs("cont", 1), false},
		{"it asks", 2 * hour, appends("cont", 0, 7, asked("c", "cont", "q2")), true},
		{"resume another meanwhile", 2 * hour, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", false, core.SessionStart{Mode: core.SessionResume, SessionID: "older"}, "")
		}, true},
		{"it is interrupted", 2 * hour, ends("cont", core.RunInterrupted, "s2"), true},
		{"cancel its question", 2 * hour, func(ctx context.Context, s *Store) error {
			_, _, _, err := s.AnswerQuestion(ctx, "q2", core.Answer{Action: core.AnswerCancel}, nil)
			return err
		}, true},
		{"claim b", 2 * hour, claims("c", "b"), true},
		{"b could not start", 2 * hour, func(ctx context.Context, s *Store) error {
			b, err := s.Run(ctx, "b")
			if err != nil {
				return err
			}
			b.State = core.RunQueued
			_, err = s.UpdateRun(ctx, b)
			return err
		}, false},
		{"claim b again", 3 * hour, claims("c", "b"), true},
		{"b is done", 3 * hour, ends("b", core.RunDone, "s3"), true},
		{"enqueue later", 3 * hour, queues(later), true},
		{"claim with the clock back a day", -21 * hour, claims("c", ""), false},
		{"claim later", 9*hour + 1, claims("c", "later"), true},
		{"later fails", 9 * hour, ends("later", core.RunFailed, "s4"), true},
		{"another session", 9 * hour, func(ctx context.Context, s *Store) error { return s.SetChannelSession(ctx, "c", false, "s5") }, true},
		{"another demo session", 9 * hour, func(ctx context.Context, s *Store) error { return s.SetChannelSession(ctx, "c", true, "d1") }, true},
		{"begin the demo afresh", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.SetChannelNext(ctx, "c", true, core.SessionStart{Mode: core.SessionFresh}, "")
		}, true},
		{"enqueue a demo", 9 * hour, queues(scripted), true},
		{"claim it", 9 * hour, claims("c", "scripted"), true},
		{"the demo is done", 9 * hour, ends("scripted", core.RunDone, "d2"), true},
		{"reserve a container", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.ReserveContainer(ctx, core.Container{Key: "box", Name: "box", ChannelID: "c", Type: core.TypeAgent}, core.Holder{Kind: core.HolderRun, ID: "r"})
		}, true},
		{"its id", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.UpdateContainer(ctx, box("1234", core.ContainerReserved, 0))
		}, true},
		{"its status", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.UpdateContainer(ctx, box("1234", core.ContainerStopped, 20*hour))
		}, true},
		{"a terminal holds it", 9 * hour, func(ctx context.Context, s *Store) error {
			l := core.Lease{Container: "box", Holder: core.Holder{Kind: core.HolderTerminal, ID: "t"}, TakenAt: epoch}
			return s.HoldContainer(ctx, l, box("1234", core.ContainerRunning, 0))
		}, true},
		{"the run gives it back", 9 * hour, func(ctx context.Context, s *Store) error {
			return s.ReleaseContainer(ctx, core.Holder{Kind: core.HolderRun, ID: "r"}, box("1234", core.ContainerRunning, 20*hour))
		}, true},
		{"it is gone", 9 * hour, func(ctx context.Context, s *Store) error { return s.DropContainer(ctx, "box") }, true},
		{"a frame of an act", 9 * hour, frames(core.FrameAct, "one"), false},
		{"a frame between acts", 9 * hour, frames(core.FramePage, "two"), false},
		{"the newest frame", 9 * hour, frames(core.FrameAct, "three"), false},
		{"thin frames", 9 * hour, func(ctx context.Context, s *Store) error {
			frame := func(id int64, picture string) []core.StoredFrame {
				return []core.StoredFrame{{KeptFrame: core.KeptFrame{ID: id, Picture: picture}}}
			}
			gone, err := s.ThinFrames(ctx, "a", core.FrameThinning{Frames: frame(2, "two"), Pictures: frame(1, "one"), Skipped: map[int64]int{3: 1}}, "left out")
			if err == nil && fmt.Sprint(gone) != "[two one]" {
				return fmt.Errorf("the pictures %v have no frame any more", gone)
			}
			return err
		}, false},
		{"forget the frames of a run", 9 * hour, func(ctx context.Context, s *Store) error { return s.DeleteFrames(ctx, "a") }, true},
		{"a frame of a run that stays", 9 * hour, frames(core.FrameTake, "four"), false},
		{"events", 9 * hour, func(ctx context.Context, s *Store) error {
			_, err := s.AddEvents(ctx, notice("k", "", "one"), notice("k", "", "two"))
			return err
		}, false},
		{"a checkpoint before a run", 9 * hour, checkpoint("b.before", nil), true},
		{"a going back that begins", 9 * hour, checkpoint("w", &core.Rewind{ID: "w", State: core.RewindBegun}), true},
		{"it went back", 9 * hour, func(ctx context.Context, s *Store) error {
			c := core.Checkpoint{ID: "w", ChannelID: "k", Kind: core.CheckpointKept, At: epoch, Rewind: &core.Rewind{ID: "w", State: core.RewindDone}}
			_, err := s.PutCheckpoint(ctx, c, &core.TalkChange{Session: "cut", Context: core.Context{Used: 1}}, notice("k", "", "went back"))
			return err
		}, false},
		{"an old checkpoint goes", 9 * hour, func(ctx context.Context, s *Store) error { return s.DropCheckpoints(ctx, []string{"b.before"}) }, true},
		{"remove channel", 9 * hour, func(ctx context.Context, s *Store) error { return s.RemoveChannel(ctx, "k") }, true},
	}
}

// box is the story's container as it stands.
func box(id core.ContainerID, st core.ContainerStatus, removeAt time.Duration) core.Container {
	c := core.Container{Key: "box", ID: id, Name: "box", ChannelID: "c", Type: core.TypeAgent, Status: st, LastUsedAt: epoch}
	if removeAt > 0 {
		c.RemoveAt = epoch.Add(removeAt)
	}
	return c
}
