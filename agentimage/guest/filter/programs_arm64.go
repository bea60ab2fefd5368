//go:build linux

package filter

import _ "embed"

// The committed filters of this architecture.
var (
	//go:embed programs/agent-arm64.bpf
	agentProgram []byte
	//go:embed programs/agent-reads-arm64.bpf
	agentReadsProgram []byte
	//go:embed programs/static-arm64.bpf
	staticProgram []byte
	//go:embed programs/debuggers-arm64.bpf
	debuggersProgram []byte
)
