package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"loop/backend/core"
)

func says(ch core.ChannelID, run core.RunID, text string, bot bool) core.Event {
	return core.NewEvent(core.EventMessageCreated, ch, run, epoch, core.MessageCreated{MsgID: string(run), Content: text, IsBot: bot})
}

func excerpts(t *testing.T, s *Store, q core.FindQuery) []string {
	t.Helper()
	got, err := s.Find(context.Background(), q)
	if err != nil {
		t.Fatalf("find %+v: %v", q, err)
	}
	out := []string{}
	for _, f := range got.Found {
		out = append(out, f.Excerpt)
	}
	return out
}

func TestFind(t *testing.T) {
	s, ctx := open(t), context.Background()
	addChannel(t, s, "c-1")
	addChannel(t, s, "c-2")
	_, err := s.AddEvents(ctx,
		says("c-1", "r", "Put a token bucket in front of internal/auth/login.go", false),
		says("c-1", "r", "The café answers 429", true),
		says("c-2", "q", "Another bucket stands elsewhere", true),
		core.NewEvent(core.EventToolUse, "c-1", "r", epoch, core.ToolUse{ToolUseID: "toolu_1", Name: "Bash", Input: []byte(`{"command":"go test ./...\nmake bench","n":3}`)}),
		core.NewEvent(core.EventToolResult, "c-1", "r", epoch, core.ToolResult{ToolUseID: "toolu_1", Output: "ok  handle_login 0.4s"}),
		core.NewEvent(core.EventThinking, "c-1", "r", epoch, core.Thinking{Text: "A \"leaky\" one might do"}),
		core.NewEvent(core.EventStatus, "c-1", "r", epoch, core.Status{State: core.RunFailed, Failure: &core.Failure{Cause: "The engine does not answer."}}),
		core.NewEvent(core.EventRaw, "c-1", "r", epoch, map[string]string{"type": "strange"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		q    core.FindQuery
		want []string
	}{
		{core.FindQuery{Words: "bucket"}, []string{"Another bucket stands elsewhere", "Put a token bucket in front of internal/auth/login.go"}},
		{core.FindQuery{Words: "BUCK", ChannelID: "c-1"}, []string{"Put a token bucket in front of internal/auth/login.go"}},
		{core.FindQuery{Words: "buck "}, []string{}},
		{core.FindQuery{Words: "front tok"}, []string{"Put a token bucket in front of internal/auth/login.go"}},
		{core.FindQuery{Words: `"bucket token"`}, []string{}},
		{core.FindQuery{Words: `"token bucket`}, []string{"Put a token bucket in front of internal/auth/login.go"}},
		{core.FindQuery{Words: "auth/login.go"}, []string{"Put a token bucket in front of internal/auth/login.go"}},
		{core.FindQuery{Words: "cafe"}, []string{"The café answers 429"}},
		{core.FindQuery{Words: "make bench"}, []string{"go test ./... make bench"}},
		{core.FindQuery{Words: "login 0.4"}, []string{"ok handle_login 0.4s"}},
		{core.FindQuery{Words: `leaky" NEAR(`}, []string{}},
		{core.FindQuery{Words: "leaky OR"}, []string{}},
		{core.FindQuery{Words: "engine"}, []string{"The engine does not answer."}},
		{core.FindQuery{Words: "toolu_1"}, []string{}},
		{core.FindQuery{Words: "strange"}, []string{}},
		{core.FindQuery{Words: " *-\"() "}, []string{}},
		{core.FindQuery{Words: "channel:c"}, []string{}},
	} {
		got := excerpts(t, s, tc.q)
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%+v found %q, want %q", tc.q, got, tc.want)
		}
	}
	page, err := s.Find(ctx, core.FindQuery{Words: "bucket", Limit: 1})
	if err != nil || !page.More || len(page.Found) != 1 {
		t.Fatalf("first page: %+v, %v", page, err)
	}
	next, err := s.Find(ctx, core.FindQuery{Words: "bucket", Limit: 1, BeforeID: page.Found[0].EventID})
	if err != nil || next.More || len(next.Found) != 1 || next.Found[0].ChannelID != "c-1" {
		t.Fatalf("second page: %+v, %v", next, err)
	}
	use, err := s.Find(ctx, core.FindQuery{Words: "make"})
	if err != nil || len(use.Found) != 1 || use.Found[0].ToolUseID != "toolu_1" || use.Found[0].ToolName != "Bash" {
		t.Fatalf("a call: %+v, %v", use, err)
	}
}

// TestFindFollowsTheQueue: a prompt that waits is found as it was edited, and not once it was
// taken out; what a removed channel said is gone from the index, too.
func TestFindFollowsTheQueue(t *testing.T) {
	s, ctx := open(t), context.Background()
	addChannel(t, s, "c")
	add := func(e core.Event) {
		t.Helper()
		if _, err := s.AddEvents(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := s.Enqueue(ctx, core.Run{ID: "r", ChannelID: "c", Prompt: "first words"}, says("c", "r", "first words", false)); err != nil {
		t.Fatal(err)
	}
	add(says("c", "r", "the agent's second answer", true))
	for _, text := range []string{"a second try", "on second thoughts"} {
		edit := core.NewEvent(core.EventMessageUpdated, "c", "r", epoch, core.MessageUpdated{MsgID: "r", Content: text})
		if _, _, err := s.EditQueued(ctx, "r", text, edit); err != nil {
			t.Fatal(err)
		}
	}
	if got := excerpts(t, s, core.FindQuery{Words: "first"}); len(got) != 0 {
		t.Errorf("the words from before the edit are found: %q", got)
	}
	if got, want := excerpts(t, s, core.FindQuery{Words: "second"}), []string{"the agent's second answer", "on second thoughts"}; !reflect.DeepEqual(got, want) {
		t.Errorf("after the edit: %q, want %q", got, want)
	}
	add(core.NewEvent(core.EventMessageDeleted, "c", "r", epoch, core.MessageUpdated{MsgID: "r"}))
	if got := excerpts(t, s, core.FindQuery{Words: "thoughts"}); len(got) != 0 {
		t.Errorf("after it was taken out: %q", got)
	}
	add(says("c", "q", "stays", false))
	if err := s.RemoveChannel(ctx, "c"); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := s.writer.QueryRow("SELECT count(*) FROM said WHERE said MATCH 'stays'").Scan(&left); err != nil || left != 0 {
		t.Errorf("the index has %d rows of a removed channel, %v", left, err)
	}
}

// TestFindTakesWhatComes: no text of an agent keeps an event from being stored.
func TestFindTakesWhatComes(t *testing.T) {
	s, ctx := open(t), context.Background()
	addChannel(t, s, "c")
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for i, input := range []string{`{"a":"\u0000x\ud800"}`, deep, `{"a":1,"a":"two"}`, `null`, `"plain"`, "{\"a\":\"\xff\xfe\"}"} {
		e := core.Event{Type: core.EventToolUse, ChannelID: "c", RunID: "r", Time: epoch, Data: []byte(fmt.Sprintf(`{"tool_use_id":"t","tool_name":"Odd%d","input":%s}`, i, input))}
		if _, err := s.AddEvents(ctx, e); err != nil {
			t.Errorf("%q: %v", input[:min(len(input), 40)], err)
		}
	}
	if _, err := s.AddEvents(ctx, core.Event{Type: core.EventToolUse, ChannelID: "c", Time: epoch, Data: []byte(`{"cut`)}); err != nil {
		t.Errorf("no JSON: %v", err)
	}
	if got := excerpts(t, s, core.FindQuery{Words: "Odd2"}); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

func FuzzFind(f *testing.F) {
	s, ctx := open(f), context.Background()
	addChannel(f, s, "c")
	for _, q := range []string{"a", `"`, `a"b c`, "NEAR(a b)", "a*", "^a", "a:b", "\x00", "ß", "-a +b", "{a b} : c"} {
		f.Add(q, "some text with a b c")
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		if _, err := s.AddEvents(ctx, says("c", "r", text, true)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Find(ctx, core.FindQuery{Words: query, ChannelID: "c"}); err != nil {
			t.Fatalf("find %q: %v", query, err)
		}
	})
}

// TestExcerpt: an excerpt has its word, is one line and bounded.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("wörter und ", 3000) + "Needle\n\tin the hay" + strings.Repeat(" more", 3000)
	got := excerpt(long, "nEEDLE")
	if !strings.Contains(got, "Needle in the hay") || len([]rune(got)) > excerptRunes+2 || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") {
		t.Errorf("excerpt %q", got)
	}
	if got := excerpt("İstanbul needle", "needle"); got != "İstanbul needle" {
		t.Errorf("excerpt %q", got)
	}
}
