package wire

import "errors"

// Op names the purpose of a stream.
type Op string

const (
	OpHello  Op = "hello"
	OpHTTP   Op = "http"
	OpProxy  Op = "proxy"
	OpPing   Op = "ping"
	OpList   Op = "list"
	OpSpawn  Op = "spawn"
	OpRead   Op = "read"
	OpStdin  Op = "stdin"
	OpResize Op = "resize"
	OpSignal Op = "signal"
	OpKill   Op = "kill"
	OpWait   Op = "wait"
	OpForget Op = "forget"
	OpDial   Op = "dial"
	OpPorts  Op = "ports"
	// OpPolicy brings a document; OpQuestions is the one stream of what waits.
	OpPolicy    Op = "policy"
	OpQuestions Op = "questions"
)

// Request is the first frame of every stream. Which fields count is the op's.
type Request struct {
	Op     Op      `json:"op"`
	ID     string  `json:"id,omitzero"`     // of a spawn; http, proxy: of the one that asks
	Stream string  `json:"stream,omitzero"` // read: out, err, or a pipe's descriptor; stdin: the same, or nothing
	Offset int64   `json:"offset,omitzero"` // read: absolute
	Hold   int64   `json:"hold,omitzero"`   // read: how far a terminal may run ahead of this end's marks; 0 does not hold it
	Cols   uint16  `json:"cols,omitzero"`
	Rows   uint16  `json:"rows,omitzero"`
	Signal string  `json:"signal,omitzero"`
	Port   uint16  `json:"port,omitzero"` // dial
	Hello  *Hello  `json:"hello,omitzero"`
	Spawn  *Spawn  `json:"spawn,omitzero"`
	Policy *Policy `json:"policy,omitzero"` // the document follows; without an ID it is for what is spawned from now on
}

// Hello is the guest's first word. BootID is new for every start of loop init,
// so a host that knew an older one knows that all its spawns are gone.
type Hello struct {
	Protocol     int    `json:"protocol"`
	GuestVersion string `json:"guest_version"`
	BootID       string `json:"boot_id"`
	Arch         string `json:"arch"`
	Pid1UID      int    `json:"pid1_uid"`
	AloneMs      int64  `json:"alone_ms,omitzero"` // since the last link was lost; 0: there was none, or it lasts
}

// Spawn asks for a process. The bytes of stdin, of the files and of the policy follow
// the request frame in this order, exactly as many as are declared here.
type Spawn struct {
	Argv      []string `json:"argv"`
	Env       []string `json:"env,omitzero"` // NAME=value, over the container's own
	Dir       string   `json:"dir,omitzero"` // absolute; empty is the agent's home
	Stdio     string   `json:"stdio"`
	Cols      uint16   `json:"cols,omitzero"`
	Rows      uint16   `json:"rows,omitzero"`
	HasStdin  bool     `json:"has_stdin,omitzero"` // pipes: without it and OpenStdin, stdin is /dev/null
	StdinSize int64    `json:"stdin_size,omitzero"`
	OpenStdin bool     `json:"open_stdin,omitzero"` // pipes: stays open for op stdin
	// StdinWithin is in ms, 0 for no limit: a program with an open stdin that has got no byte
	// of it by then is ended and forgotten.
	StdinWithin int64  `json:"stdin_within,omitzero"`
	Files       []File `json:"files,omitzero"`
	Spool       bool   `json:"spool,omitzero"`
	Pause       bool   `json:"pause,omitzero"` // pipes: the program waits for its reader instead of losing what it prints
	Pipes       []Pipe `json:"pipes,omitzero"` // pipes: what the program has besides stdin, stdout and stderr
	// Policy heads the document that the spawn's supervisor goes by; it follows the
	// files. Without one the program is not supervised.
	Policy *Policy `json:"policy,omitzero"`
}

// Pipe is one more descriptor of a program, and a stream of its own: named by the
// number, and never lossy.
type Pipe struct {
	FD    int  `json:"fd"`
	Write bool `json:"write,omitzero"` // the program writes it; without, it reads
}

// File is one file of a spawn's private directory.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Reply answers a request, and ends a chunk stream.
type Reply struct {
	Error  *Error       `json:"error,omitzero"`
	Offset int64        `json:"offset,omitzero"` // read: where the bytes start; end of a read: where they stopped
	Info   *Info        `json:"info,omitzero"`   // spawn
	Spawns []Info       `json:"spawns,omitzero"` // list
	Exit   *Exit        `json:"exit,omitzero"`   // wait
	Policy *PolicyState `json:"policy,omitzero"`
	Ports  []Port       `json:"ports,omitzero"` // ports
}

// Port is a TCP port that a program in the container listens on.
type Port struct {
	Port    uint16 `json:"port"`
	Process string `json:"process,omitzero"` // as the program calls itself; empty where that is not known
}

// Info is what loop init knows of one spawn. Times are ms since the epoch.
type Info struct {
	ID      string `json:"id"`
	Pid     int    `json:"pid"`
	Stdio   string `json:"stdio"`
	Started int64  `json:"started"`
	Exit    *Exit  `json:"exit,omitzero"`
	Gone    bool   `json:"gone,omitzero"`     // nothing of its tree is left
	OutBase int64  `json:"out_base,omitzero"` // first offset still there; 0 for a spool
	OutEnd  int64  `json:"out_end"`
	ErrBase int64  `json:"err_base,omitzero"`
	ErrEnd  int64  `json:"err_end"`
	Paused  string `json:"paused,omitzero"`
	InEnd   int64  `json:"in_end,omitzero"`  // pipes: bytes that the program's stdin has taken
	InOpen  bool   `json:"in_open,omitzero"` // pipes: stdin takes more
	// Detached are commands in the tree of a spooled spawn that have a session of their
	// own and that its program has let go, or left behind: at most MaxDetached, each
	// cut to MaxCommand bytes.
	Detached []string `json:"detached,omitempty"`
	// Debuggers says that the filter of a supervised spawn lets its programs debug each other.
	Debuggers bool `json:"debuggers,omitzero"`
}

// Exit is how a process ended: Code is 128+n when a signal did it.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitzero"`
	At     int64  `json:"at"`
}

// ErrCode says why a request was refused.
type ErrCode string

const (
	CodeInvalid    ErrCode = "invalid"
	CodeProtocol   ErrCode = "protocol"
	CodeNotFound   ErrCode = "not_found"
	CodeConflict   ErrCode = "conflict"
	CodeLimit      ErrCode = "limit"
	CodeNoProgram  ErrCode = "no_program"
	CodeNotExec    ErrCode = "not_executable"
	CodeBadDir     ErrCode = "bad_dir"
	CodeDiskFull   ErrCode = "disk_full"
	CodeGap        ErrCode = "gap" // a reader fell behind a ring; Offset is the new start
	CodeEnded      ErrCode = "ended"
	CodePrivileges ErrCode = "privileges" // the process could not be made harmless
	CodePolicy     ErrCode = "policy"     // the document is wrong, or cannot be gone by as it is
	CodeDenied     ErrCode = "denied"     // by the policy, or by a person
	CodeGate       ErrCode = "gate"       // no program runs here without supervision, and there is none
	CodeInternal   ErrCode = "internal"
)

// Error is a refusal that crosses the link.
type Error struct {
	Code ErrCode `json:"code"`
	Text string  `json:"text"`
}

func (e *Error) Error() string { return e.Text }

// Refuse makes the reply that carries an error; its text is cut to MaxText.
func Refuse(code ErrCode, text string) Reply {
	return Reply{Error: NewError(code, text)}
}

// AsError is err as it crosses the link: itself, or what happened as CodeInternal.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return NewError(CodeInternal, err.Error())
}

// NewError bounds text and makes it valid UTF-8, so that it can always be sent.
func NewError(code ErrCode, text string) *Error {
	return &Error{Code: code, Text: clip(text)}
}

// ExitRecord is the sidecar <id>.exit in the spool: how a spawn ended, for a
// host that comes after the container died.
type ExitRecord struct {
	ID     string `json:"id"`
	Exit   Exit   `json:"exit"`
	OutEnd int64  `json:"out_end"`
	ErrEnd int64  `json:"err_end"`
	BootID string `json:"boot_id"`
}
