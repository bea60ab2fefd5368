//go:build claude

package demo

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sendArgs struct {
	Content string `json:"content"`
}

func init() { reexec["mcp"] = serveTestMCP }

// serveTestMCP is a stand-in for “loop mcp”: one tool, over stdio.
func serveTestMCP() {
	s := mcp.NewServer(&mcp.Implementation{Name: "loop", Version: "test"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "send_message", Description: "Send a message to the channel."},
		func(_ context.Context, _ *mcp.CallToolRequest, a sendArgs) (*mcp.CallToolResult, any, error) {
			if f := os.Getenv("LOOP_DEMO_TEST_SENT"); f != "" {
				if err := os.WriteFile(f, []byte(a.Content), 0o600); err != nil {
					return nil, nil, fmt.Errorf("record message: %w", err)
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent"}}}, nil, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
