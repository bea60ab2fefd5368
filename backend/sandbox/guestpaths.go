package sandbox

import (
	"path"

	"loop/backend/wire"
)

// Places inside a container that the host and the guest binary agree on.
const (
	// GuestBin is the guest binary, PID 1 of every container.
	GuestBin = wire.GuestBinary
	// GuestRunDir is a tmpfs for sockets and per-run files.
	GuestRunDir = wire.RunDir
	// GuestSpoolDir is the channel's spool directory as loop init sees it.
	GuestSpoolDir = wire.SpoolDir
	// ClaudeDir is the agent CLI's folder, the value of CLAUDE_CONFIG_DIR. It lies
	// beside the home: a place inside is the agent's to replace by a link, and
	// another container's mount would land where that leads.
	ClaudeDir = "/opt/loop/.claude"
	// WorkspaceDir and OriginalDir are OpenClaw's places of an agent's folder.
	WorkspaceDir = "/workspace"
	OriginalDir  = "/agent"
	// RelayURL is the in-container relay, the value of API_URL.
	RelayURL = "http://" + wire.RelayAddr
	// SupervisorID is the uid and gid that loop init moves itself to.
	SupervisorID = wire.SupervisorID
	// SupervisorName is its name in the generated passwd file.
	SupervisorName = wire.SupervisorName
	// GuestVolumePrefix begins the name of every guest volume; a configured
	// mount may never name one, or an agent could rewrite its own supervisor.
	GuestVolumePrefix = "loop-guest-"
)

// GuestDir is where the read-only volume with the guest binary is mounted: the
// binary is at the volume's root.
var GuestDir = path.Dir(GuestBin)
