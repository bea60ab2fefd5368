package sandbox

// Paths and addresses that the host and the guest binary agree on. They are
// part of the host-guest contract; wire holds the protocol itself.
const (
	// GuestDir is where the read-only volume with the guest binary is mounted.
	GuestDir = "/opt/loop"
	// GuestBin is the guest binary, PID 1 of every container.
	GuestBin = "/opt/loop/bin/loop"
	// GuestRunDir is a tmpfs for sockets and per-run files.
	GuestRunDir = "/run/loop"
	// GuestSpoolDir is the channel's spool directory as loop init sees it.
	GuestSpoolDir = "/run/loop/private/spool"
	// RelayURL is the in-container relay, the value of API_URL.
	RelayURL = "http://127.0.0.1:8222"
	// SupervisorID is the uid and gid that loop init moves itself to. It is the
	// same on every host, so that ordinary and root hosts share one path.
	SupervisorID = 64999
	// SupervisorName is its name in the generated passwd file.
	SupervisorName = "loop-init"
	// GuestVolumePrefix begins the name of every guest volume; a configured
	// mount may never name one, or an agent could rewrite its own supervisor.
	GuestVolumePrefix = "loop-guest-"
)
