//go:build linux

package supervise

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"loop/backend/policy"
	"loop/backend/wire"
)

// question describes a call for a person. What of it goes into its key is what an
// answer is bound to.
type question struct {
	kind     string
	op       policy.Operation
	verdict  policy.Verdict
	target   string
	from     string
	as       string // the path as the caller gave it
	act      act
	copied   bool // only the bytes of from get to target, so that it is the same from elsewhere
	identity string
	append   bool
	inPlace  bool
	before   *wire.Content
	after    *wire.Content
	placed   *replacement // of after, where that is put there
	pins     []*object    // closed when the question is dropped
	silent   func() (policy.Verdict, bool)
	excerpt  func() // puts what matters of before and after in the place of their texts
}

// key is equal for two calls that mean the same act on the same object.
func (q *question) key() string {
	parts := []string{q.digest(), q.from, q.identity, strconv.FormatBool(q.inPlace), strconv.FormatBool(q.append)}
	for _, t := range []*wire.Content{q.before, q.after} {
		if t != nil {
			parts = append(parts, t.SHA256, strconv.FormatInt(t.Size, 10))
		} else {
			parts = append(parts, "", "")
		}
	}
	return hashed(parts...)
}

func (q *question) unpin() {
	for _, o := range q.pins {
		o.close()
	}
	q.pins = nil
}

// approval is what is asked.
func (q *question) approval(c *call) wire.Approval {
	a := wire.Approval{
		Kind: q.kind, Target: q.target, Message: q.verdict.Message, CacheKey: q.key(), Source: c.s.options.SpawnID,
		Operation: string(q.op), From: q.from, Call: c.name, Rule: q.verdict.Rule,
		Category: string(q.verdict.Category), Policy: c.view.version, Processes: c.chain(),
		Append: q.append, InPlace: q.inPlace, Before: q.before, After: q.after, Identity: q.identity,
		Act: q.digest(), Details: q.act.shown,
	}
	if q.as != q.target {
		a.AskedAs = q.as
	}
	return a
}

// maxDigest bounds the files whose digest is taken.
const maxDigest = 8 << 20

// content reads a regular file: its size, its beginning, and its digest where it is not
// too large. nil where the agent may not read it, and where nobody is asked.
func (c *call) content(o *object) *wire.Content {
	shown, _ := c.contents(o)
	return shown
}

// contents is content with the whole text, which is nil where there is no digest.
func (c *call) contents(o *object) (shown *wire.Content, whole []byte) {
	if c.brief || o == nil || o.kind() != unix.S_IFREG {
		return nil, nil
	}
	data, err := readObject(o)
	if err != nil {
		if errors.Is(err, unix.EFBIG) {
			return &wire.Content{Size: o.st.Size, Cut: true}, nil
		}
		return nil, nil
	}
	return contentOf(data), data
}

func contentOf(data []byte) *wire.Content {
	sum := sha256.Sum256(data)
	t := &wire.Content{Text: data, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	if len(data) > wire.MaxContent {
		t.Text, t.Cut = bytes.Clone(data[:wire.MaxContent]), true // the rest is not kept while the call waits
	}
	return t
}

// readObject reads a whole regular file of at most maxDigest bytes, as the agent.
func readObject(o *object) ([]byte, error) {
	if o.st.Size > maxDigest {
		return nil, unix.EFBIG
	}
	fd, err := unix.Open(o.itself(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), o.path)
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxDigest+1))
	if err == nil && len(data) > maxDigest {
		err = unix.EFBIG
	}
	return data, err
}

// weigh has a judge look at contents, where both are known as a whole.
func (q *question) weigh(c *call, was, is []byte) {
	judge, ok := c.view.Judge.(ContentJudge)
	if !ok || is == nil || was == nil && q.before != nil {
		return
	}
	q.silent = func() (policy.Verdict, bool) { return judge.Content(q.target, was, is) }
	q.excerpt = func() {
		if was, is, ok := judge.Excerpt(q.target, was, is); ok && max(len(was), len(is)) <= wire.MaxContent {
			q.before, q.after = q.before.Excerpt(was), q.after.Excerpt(is)
		}
	}
}

// passes tells whether the contents alone let the call pass.
func (q *question) passes() bool {
	if q.silent == nil {
		return false
	}
	v, ok := q.silent()
	return ok && rank(v.Decision) == 0
}

// maxChain bounds the processes that are named in a question.
const maxChain = 16

// chain names the process that calls and its parents, up to the spawn's program. The one
// that this program started itself is named longer: the agent CLI starts a shell for each
// tool call, and the call is known by it.
func (c *call) chain() []wire.Process {
	var out []wire.Process
	own := os.Getpid()
	limit := 4 << 10
	for pid := c.process(); pid > 1 && pid != own && len(out) < maxChain; limit = wire.MaxShell {
		at := "/proc/" + strconv.Itoa(pid)
		parent, started, err := parentage(at)
		if err != nil {
			break
		}
		p := wire.Process{Pid: pid, Started: started, Command: commandLine(at, limit)}
		p.Exe, _ = os.Readlink(at + "/exe")
		if len(p.Exe) > limit {
			p.Exe = p.Exe[:limit]
		}
		out = append(out, p)
		pid = parent
	}
	for i := 1; i < len(out); i++ {
		if i != len(out)-2 {
			out[i].Command = out[i].Command[:min(len(out[i].Command), wire.MaxCommand)]
		}
	}
	return out
}

// parentage reads the parent and the start time of a process.
func parentage(at string) (parent int, started uint64, err error) {
	data, err := os.ReadFile(at + "/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:])) // the name may hold anything
	if len(fields) < 20 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	if parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, 0, err
	}
	started, err = strconv.ParseUint(fields[19], 10, 64)
	return parent, started, err
}

// commandLine reads a process's arguments, joined by spaces.
func commandLine(at string, limit int) string {
	f, err := os.Open(at + "/cmdline")
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	data, _ := io.ReadAll(io.LimitReader(f, int64(limit)))
	return strings.ReplaceAll(strings.TrimRight(string(data), "\x00"), "\x00", " ")
}
