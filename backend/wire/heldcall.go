package wire

// Kinds of a question, which is what Approval.Kind says as well.
const (
	KindFile    = "file"
	KindExec    = "execve"
	KindConnect = "connect"
)

// MaxContent bounds each of the two texts of an Approval (16 KiB): with base64 both,
// and the command lines of those who ask, fit MaxDetail.
const MaxContent = 16 << 10

// Approval is Question.Detail of a call that a supervisor holds: what is about to
// happen, as the kernel and not the program says it. The first six fields have the
// names of the approval callback of old. All strings are hostile.
type Approval struct {
	Kind     string            `json:"kind"`
	Target   string            `json:"target"`  // the resolved absolute path, or the command line
	Message  string            `json:"message"` // of the rule that asks
	CacheKey string            `json:"cache_key"`
	Source   string            `json:"source"` // spawn id
	Details  map[string]string `json:"details,omitempty"`

	Operation string    `json:"operation,omitempty"` // file: of package policy
	AskedAs   string    `json:"asked_as,omitempty"`  // the path as the program gave it, where it is another
	From      string    `json:"from,omitempty"`      // rename and link: the other path
	Call      string    `json:"call,omitempty"`      // name of the system call
	Rule      string    `json:"rule,omitempty"`
	Category  string    `json:"category,omitempty"`
	Policy    int64     `json:"policy"`              // version it was judged by
	Processes []Process `json:"processes,omitempty"` // the one that asks first, then its parents, up to the spawn's program
	Append    bool      `json:"append,omitempty"`    // an open that can only add at the end
	InPlace   bool      `json:"in_place,omitempty"`  // an open for writing: what will be written is not known yet
	Before    *Content  `json:"before,omitempty"`    // what is there now
	After     *Content  `json:"after,omitempty"`     // what will be there; only where the supervisor can promise it
	Identity  string    `json:"identity,omitempty"`  // of the pinned object: device:inode
	// Act is the SHA-256, in lower-case hex, of everything that the call would do, also of
	// what no other field says: two calls with the same Act do the same. Empty, nothing is
	// known to do the same.
	Act string `json:"act,omitempty"`
}

// Process is one process of those that led to a question.
type Process struct {
	Pid     int    `json:"pid"`
	Started uint64 `json:"started"` // clock ticks since boot: with Pid it names one process
	Exe     string `json:"exe,omitempty"`
	Command string `json:"command"` // at most MaxCommand bytes for parents, MaxShell for the last but one, 4 KiB for the one that asks
}

// Content is a file's text, or the beginning of it.
type Content struct {
	Text   []byte `json:"text,omitempty"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"` // of the whole file, in lower-case hex
	Cut    bool   `json:"cut,omitempty"`    // Text is not the whole file
	// Part says that Text is what matters of a file that is Cut, in another form, and not
	// its beginning.
	Part bool `json:"part,omitempty"`
}

// Excerpt is the content with what matters of it; nil stays nil.
func (c *Content) Excerpt(text []byte) *Content {
	if c == nil {
		return nil
	}
	return &Content{Text: text, Size: c.Size, SHA256: c.SHA256, Cut: true, Part: true}
}
