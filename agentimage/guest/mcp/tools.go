//go:build linux

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tokenEnv holds the capability of this container where callbacks travel over
// TCP instead of the link; the relay needs none.
const tokenEnv = "LOOP_API_TOKEN"

type (
	sendMessageIn struct {
		Channel string `json:"channel_id,omitempty" jsonschema:"a channel of this project; leave out for this agent's own"`
		Content string `json:"content" jsonschema:"the text of the message, Markdown"`
	}
	queueMessageIn struct {
		Channel   string `json:"channel_id,omitempty" jsonschema:"a channel of this project; leave out for this agent's own"`
		Content   string `json:"content" jsonschema:"the prompt"`
		Interrupt bool   `json:"interrupt,omitempty" jsonschema:"stop what runs in that channel and begin with this"`
		Delay     int64  `json:"delay_seconds,omitempty" jsonschema:"begin no earlier than in this many seconds"`
	}
	channelIn struct {
		Channel string `json:"channel_id,omitempty" jsonschema:"a channel of this project; leave out for this agent's own"`
	}
	messageIDIn struct {
		ID string `json:"message_id" jsonschema:"of a prompt that an agent queued"`
	}
	resumeIn struct {
		Channel string `json:"channel_id,omitempty" jsonschema:"a channel of this project; leave out for this agent's own"`
		Session string `json:"session_id" jsonschema:"from list_sessions"`
		Mode    string `json:"mode,omitempty" jsonschema:"resume (default), or fork to go on with a copy"`
	}
	threadIn struct {
		Name    string `json:"name" jsonschema:"what the thread is about"`
		Message string `json:"message,omitempty" jsonschema:"its first prompt"`
	}
	worktreeIn struct {
		Branch  string `json:"branch" jsonschema:"the branch; made if it does not exist"`
		Base    string `json:"base,omitempty" jsonschema:"where a new branch begins; leave out for what is checked out"`
		Name    string `json:"name,omitempty" jsonschema:"what the thread is about"`
		Message string `json:"message,omitempty" jsonschema:"its first prompt"`
	}
	searchIn struct {
		Query string `json:"query,omitempty" jsonschema:"part of a name, branch or folder; leave out for all"`
	}
	agentMessageIn struct {
		Agent   string `json:"agent_id" jsonschema:"from list_agents"`
		Content string `json:"content" jsonschema:"what to tell it"`
	}
	noneIn struct{}
)

// register adds every tool; each is one callback.
func (t tools) register(s *sdk.Server) {
	add(s, t, "send_message", "Show the person a message, in this channel or another of the project.",
		func(ctx context.Context, in sendMessageIn) (string, error) {
			if strings.TrimSpace(in.Content) == "" {
				return "", errors.New("content is empty")
			}
			_, err := t.call(ctx, http.MethodPost, "/api/messages", in)
			return "The message was sent.", err
		})
	add(s, t, "queue_message", "Queue a prompt: the agent of that channel works on it when its turn comes.",
		func(ctx context.Context, in queueMessageIn) (string, error) {
			return t.call(ctx, http.MethodPost, "/api/messages", struct {
				queueMessageIn
				Mode string `json:"mode"`
			}{in, "queue"})
		})
	add(s, t, "list_queued_messages", "List the prompts that wait in a channel.", func(ctx context.Context, in channelIn) (string, error) {
		return t.call(ctx, http.MethodGet, "/api/channels/"+t.channel(in.Channel)+"/queued", nil)
	})
	add(s, t, "delete_queued_message", "Take a prompt that an agent queued out of the queue.",
		func(ctx context.Context, in messageIDIn) (string, error) {
			_, err := t.call(ctx, http.MethodDelete, "/api/messages/"+url.PathEscape(in.ID), nil)
			return "It was removed.", err
		})
	add(s, t, "list_sessions", "List the conversations kept for a channel.", func(ctx context.Context, in channelIn) (string, error) {
		return t.call(ctx, http.MethodGet, "/api/channels/"+t.channel(in.Channel)+"/sessions", nil)
	})
	add(s, t, "resume_session", "Let the next prompt of a channel go on with a conversation.",
		func(ctx context.Context, in resumeIn) (string, error) {
			if in.Mode == "" {
				in.Mode = "resume"
			}
			_, err := t.call(ctx, http.MethodPut, "/api/channels/"+t.channel(in.Channel)+"/session",
				map[string]string{"session_id": in.Session, "mode": in.Mode})
			return "The next prompt there goes on with that conversation.", err
		})
	add(s, t, "create_thread", "Open a thread beside this channel: same folder, its own conversation, which begins with a copy of this one.",
		func(ctx context.Context, in threadIn) (string, error) {
			return t.call(ctx, http.MethodPost, "/api/threads", in)
		})
	add(s, t, "create_worktree_thread", "Open a thread in a git worktree of its own, so that two agents do not edit the same files.",
		func(ctx context.Context, in worktreeIn) (string, error) {
			return t.call(ctx, http.MethodPost, "/api/worktrees", in)
		})
	add(s, t, "search_channels", "List the channels of this project by part of a name.",
		func(ctx context.Context, in searchIn) (string, error) {
			return t.call(ctx, http.MethodGet, "/api/channels?q="+url.QueryEscape(in.Query), nil)
		})
	add(s, t, "list_agents", "List the agents of this project and what each does.", func(ctx context.Context, _ noneIn) (string, error) {
		return t.call(ctx, http.MethodGet, "/api/agents", nil)
	})
	add(s, t, "send_agent_message", "Tell another agent of this project something; it reads it as its next prompt.",
		func(ctx context.Context, in agentMessageIn) (string, error) {
			_, err := t.call(ctx, http.MethodPost, "/api/agents/"+url.PathEscape(in.Agent)+"/message", map[string]string{"content": in.Content})
			return "The message was queued.", err
		})
}

// add registers one tool and writes each of its calls into the log.
func add[In any](s *sdk.Server, t tools, name, description string, f func(context.Context, In) (string, error)) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			began := time.Now()
			out, err := f(ctx, in)
			took := time.Since(began).Milliseconds()
			if err != nil {
				t.calls.Warn(name, "ms", took, "err", err)
				return nil, nil, err
			}
			t.calls.Info(name, "ms", took)
			return text(out), nil, nil
		})
}

// channel is the part of a path that names a channel.
func (t tools) channel(id string) string {
	return url.PathEscape(cmp.Or(id, t.options.channel))
}

// call makes one callback and returns its answer. The error is what the model reads.
func (t tools) call(ctx context.Context, method, path string, in any) (string, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return "", fmt.Errorf("encode callback: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(t.url, "/")+path, body)
	if err != nil {
		return "", fmt.Errorf("make callback: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := os.Getenv(tokenEnv); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("reach Loop: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	said := strings.ToValidUTF8(strings.TrimSpace(string(answer)), "\uFFFD")
	if resp.StatusCode/100 == 2 {
		return said, nil
	}
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer, &e) == nil && e.Error != "" {
		said = e.Error
	}
	return "", fmt.Errorf("Loop answered %d: %s", resp.StatusCode, said)
}
