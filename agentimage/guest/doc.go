//go:build linux

// The program loop inside a container: PID 1 (init), the container's end of the
// link (link), the agent's MCP server (mcp), and the two steps of starting a
// process (keep, spawn), which only init runs; and a hook that tells the agent CLI why the
// gate denied something (gate-reason). Linux only, without cgo, so that
// one file works in any image. It imports backend/wire and third parties and
// nothing else of Loop.
package main
