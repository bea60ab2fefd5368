package wire

// MaxGateTrial bounds what “loop gate-probe” prints (16 KiB).
const MaxGateTrial = 16 << 10

// Modes of “loop gate-probe MODE DIR”.
const (
	TrialFree = "free" // without supervision: what this container can do, and what succeeds without a gate
	TrialHeld = "held" // under the policy that allows, refuses and asks for the names below
)

// Names in the trial's folder, and what its policy says of writes to them.
const (
	TrialRefused = "refused"
	TrialAsked   = "asked"
	TrialAllowed = "allowed"
)

// GateTrial is what “loop gate-probe” prints, as JSON. It comes from a container, so its
// strings are hostile. Errors are names of the kernel's, like EACCES; empty is success.
type GateTrial struct {
	Kernel   string `json:"kernel"`            // release, e.g. 6.1.0-18-amd64
	Machine  string `json:"machine"`           // as the kernel names its architecture, e.g. x86_64
	Arch     string `json:"arch"`              // that the program was built for, e.g. amd64
	Filters  int    `json:"filters"`           // of system calls, on the program's thread; -1 if the kernel does not say
	Landlock int    `json:"landlock"`          // version; 0 where there is none
	Fences   int    `json:"fences"`            // of Landlock that the program could still get: one less behind the gate's
	Cgroup   int    `json:"cgroup"`            // version of the control groups, 1 or 2; 0 if it is not seen
	Yama     int    `json:"yama"`              // ptrace_scope; -1 where there is no Yama
	Profile  string `json:"profile,omitempty"` // of the kernel's security module, e.g. docker-default (enforce)

	// Install is why the production filter cannot be installed with a supervisor; one of
	// the words below, or another error in full. Only free.
	Install string `json:"install,omitempty"`

	Refused TrialWrite `json:"refused"`
	Asked   TrialWrite `json:"asked"`
	Allowed TrialWrite `json:"allowed"`
	IoUring string     `json:"io_uring"` // error of io_uring_setup
	Ptrace  string     `json:"ptrace"`   // error of a harmless ptrace
	Outside string     `json:"outside"`  // error of having a debugger attach to the supervisor; only held

	Signals  TrialSeries `json:"signals"`  // held calls, interrupted by signals
	Programs TrialSeries `json:"programs"` // that were started
}

// Words for what keeps a filter from being installed.
const (
	InstallKernel   = "kernel"   // it cannot, or answers that it cannot
	InstallListener = "listener" // the engine has a supervisor of its own
)

// TrialWrite is an attempt to make a file.
type TrialWrite struct {
	Error string `json:"error"`
	There bool   `json:"there"` // afterwards, with what was written
}

// TrialSeries counts attempts that each should succeed.
type TrialSeries struct {
	Tried  int    `json:"tried"`
	Failed int    `json:"failed"`
	Why    string `json:"why,omitempty"` // of the first failure
}

// Add counts one attempt; failed is the name of its error, empty for success.
func (s *TrialSeries) Add(failed string) {
	s.Tried++
	if failed == "" {
		return
	}
	if s.Failed++; s.Failed == 1 {
		s.Why = failed
	}
}
