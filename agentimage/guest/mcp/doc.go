// Package mcp is loop mcp: the MCP server that the agent CLI starts on its
// stdin and stdout. Every tool is one HTTP callback to API_URL, which the relay
// carries to the host; where callbacks go over TCP, it shows the
// container's token. It decides nothing. Where a run works on a computer itself, Loop's own
// program is started as loop mcp. Only the two main packages may import it.
package mcp
