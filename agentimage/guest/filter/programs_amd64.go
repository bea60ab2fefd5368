//go:build linux

package filter

import _ "embed"

// The committed filters of this architecture.
var (
	//go:embed programs/agent-amd64.bpf
	agentProgram []byte
	//go:embed programs/agent-reads-amd64.bpf
	agentReadsProgram []byte
	//go:embed programs/static-amd64.bpf
	staticProgram []byte
	//go:embed programs/debuggers-amd64.bpf
	debuggersProgram []byte
)
