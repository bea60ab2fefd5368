package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loop/backend/wire"
)

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

// callback is one request to the host.
type callback struct {
	method, path string
	in           any    // the body; nil is none
	said         string // what the model reads when it went well; empty is the host's answer
}

// register adds every tool; each is one callback.
func (t tools) register(s *sdk.Server) {
	add(s, t, "send_message", "Show the person a message, in this channel or another of the project.",
		func(in sendMessageIn) callback {
			return callback{http.MethodPost, "/api/messages", in, "The message was sent."}
		})
	add(s, t, "queue_message", "Queue a prompt: the agent of that channel works on it when its turn comes.",
		func(in queueMessageIn) callback {
			return callback{http.MethodPost, "/api/messages", struct {
				queueMessageIn
				Mode string `json:"mode"`
			}{in, "queue"}, ""}
		})
	add(s, t, "list_queued_messages", "List the prompts that wait in a channel.", func(in channelIn) callback {
		return callback{http.MethodGet, t.channel(in.Channel) + "/queued", nil, ""}
	})
	add(s, t, "delete_queued_message", "Take a prompt that an agent queued out of the queue.", func(in messageIDIn) callback {
		return callback{http.MethodDelete, "/api/messages/" + url.PathEscape(in.ID), nil, "It was removed."}
	})
	add(s, t, "list_sessions", "List the conversations kept for a channel.", func(in channelIn) callback {
		return callback{http.MethodGet, t.channel(in.Channel) + "/sessions", nil, ""}
	})
	add(s, t, "resume_session", "Let the next prompt of a channel go on with a conversation.", func(in resumeIn) callback {
		body := map[string]string{"session_id": in.Session, "mode": cmp.Or(in.Mode, "resume")}
		return callback{http.MethodPut, t.channel(in.Channel) + "/session", body, "The next prompt there goes on with that conversation."}
	})
	add(s, t, "create_thread", "Open a thread beside this channel: same folder, its own conversation, which begins with a copy of this one.",
		func(in threadIn) callback { return callback{http.MethodPost, "/api/threads", in, ""} })
	add(s, t, "create_worktree_thread", "Open a thread in a git worktree of its own, so that two agents do not edit the same files.",
		func(in worktreeIn) callback { return callback{http.MethodPost, "/api/worktrees", in, ""} })
	add(s, t, "search_channels", "List the channels of this project by part of a name.", func(in searchIn) callback {
		return callback{http.MethodGet, "/api/channels?q=" + url.QueryEscape(in.Query), nil, ""}
	})
	add(s, t, "list_agents", "List the agents of this project and what each does.", func(noneIn) callback {
		return callback{http.MethodGet, "/api/agents", nil, ""}
	})
	add(s, t, "send_agent_message", "Tell another agent of this project something; it reads it as its next prompt.",
		func(in agentMessageIn) callback {
			path := "/api/agents/" + url.PathEscape(in.Agent) + "/message"
			return callback{http.MethodPost, path, map[string]string{"content": in.Content}, "The message was queued."}
		})
}

// add registers one tool and writes each of its calls into the log.
func add[In any](s *sdk.Server, t tools, name, description string, f func(In) callback) {
	sdk.AddTool(s, &sdk.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			began := time.Now()
			c := f(in)
			answer, err := t.call(ctx, c)
			took := time.Since(began).Milliseconds()
			if err != nil {
				t.calls.Warn(name, "ms", took, "err", err)
				return nil, nil, err
			}
			t.calls.Info(name, "ms", took)
			return text(cmp.Or(c.said, answer)), nil, nil
		})
}

// channel is the path of a channel, or of this agent's own.
func (t tools) channel(id string) string {
	return "/api/channels/" + url.PathEscape(cmp.Or(id, t.options.channel))
}

// call makes one callback and returns its answer. The error is what the model reads.
func (t tools) call(ctx context.Context, c callback) (string, error) {
	var body io.Reader = http.NoBody
	if c.in != nil {
		data, err := json.Marshal(c.in)
		if err != nil {
			return "", fmt.Errorf("encode callback: %w", err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, strings.TrimSuffix(t.url, "/")+c.path, body)
	if err != nil {
		return "", fmt.Errorf("make callback: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token := os.Getenv(wire.TokenEnv); token != "" {
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
