package wire

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// ValidID reports whether s can name a spawn or a run: it becomes a file name and
// a part of a path. 1 to 64 letters and digits of ASCII, “-” and “_”, a letter or
// digit first.
func ValidID(s string) bool {
	return len(s) > 0 && len(s) <= 64 && s[0] != '-' && s[0] != '_' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// Validate checks everything that can be known without the machine.
func (q Request) Validate() error {
	switch q.Op {
	case OpPing, OpList, OpQuestions, OpPorts:
		return nil
	case OpPolicy:
		if q.Policy == nil {
			return fmt.Errorf("policy without its fields")
		}
		if err := q.Policy.validate(); err != nil || q.ID == "" {
			return err
		}
	case OpHello:
		if q.Hello == nil {
			return fmt.Errorf("hello without its fields")
		}
		return q.Hello.validate()
	case OpSpawn:
		if q.Spawn == nil {
			return fmt.Errorf("spawn without its fields")
		}
		if err := q.Spawn.validate(); err != nil {
			return err
		}
	case OpRead:
		if q.Stream != StreamOut && q.Stream != StreamErr && !validPipe(q.Stream) {
			return fmt.Errorf("stream %q is neither out nor err nor a pipe", clip(q.Stream))
		}
		if q.Offset < 0 || q.Hold < 0 {
			return fmt.Errorf("offset %d or hold %d is negative", q.Offset, q.Hold)
		}
	case OpStdin:
		if q.Stream != StreamIn && !validPipe(q.Stream) {
			return fmt.Errorf("stream %q is neither stdin nor a pipe", clip(q.Stream))
		}
	case OpResize:
		if q.Cols == 0 || q.Rows == 0 {
			return fmt.Errorf("size %d×%d has no cells", q.Cols, q.Rows)
		}
	case OpDial:
		if q.Port == 0 {
			return fmt.Errorf("dial without a port")
		}
		return nil
	case OpHTTP, OpProxy, OpSignal, OpKill, OpWait, OpForget:
	default:
		return fmt.Errorf("unknown op %q", clip(string(q.Op)))
	}
	if !ValidID(q.ID) {
		return fmt.Errorf("spawn id %q is not a name", clip(q.ID))
	}
	return nil
}

// maxAloneMs is ten years, so that it can be reckoned with.
const maxAloneMs = 10 * 366 * 24 * 3600 * 1000

func (h Hello) validate() error {
	if len(h.GuestVersion) > 128 || len(h.BootID) > 64 || len(h.Arch) > 32 {
		return fmt.Errorf("hello fields: %w", ErrTooLarge)
	}
	if !ValidID(h.BootID) {
		return fmt.Errorf("boot id %q is not a name", clip(h.BootID))
	}
	if h.AloneMs < 0 || h.AloneMs > maxAloneMs {
		return fmt.Errorf("hello: %d ms without a link", h.AloneMs)
	}
	return nil
}

func (s Spawn) validate() error {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return fmt.Errorf("spawn without a program")
	}
	if len(s.Argv) > MaxArgs || len(s.Env) > MaxArgs {
		return fmt.Errorf("arguments or environment: %w", ErrTooLarge)
	}
	if strings.Contains(strings.Join(s.Argv, ""), "\x00") {
		return fmt.Errorf("an argument has a NUL byte")
	}
	for _, e := range s.Env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || strings.IndexByte(e, 0) >= 0 {
			return fmt.Errorf("environment entry %q is not NAME=value", clip(name))
		}
	}
	if s.Dir != "" && (!path.IsAbs(s.Dir) || strings.IndexByte(s.Dir, 0) >= 0) {
		return fmt.Errorf("directory %q is not an absolute path", clip(s.Dir))
	}
	return s.validateIO()
}

func (s Spawn) validateIO() error {
	switch s.Stdio {
	case StdioPipes:
	case StdioPTY:
		if s.HasStdin || s.OpenStdin || s.Spool || s.Pause || len(s.Pipes) > 0 {
			return fmt.Errorf("a terminal has neither a stdin body nor a spool nor pipes")
		}
	default:
		return fmt.Errorf("stdio %q is neither pipes nor pty", clip(s.Stdio))
	}
	if s.StdinSize < 0 || s.StdinSize > MaxBody || (s.StdinSize > 0 && !s.HasStdin) {
		return fmt.Errorf("stdin of %d bytes", s.StdinSize)
	}
	if s.StdinWithin < 0 || s.StdinWithin > MaxStdinWithin || (s.StdinWithin > 0 && (!s.OpenStdin || s.StdinSize > 0)) {
		return fmt.Errorf("a wait of %d ms for stdin", s.StdinWithin)
	}
	if s.Spool && s.Pause {
		return fmt.Errorf("a spool keeps everything and has nobody to wait for")
	}
	fds := make(map[int]bool, len(s.Pipes))
	for _, p := range s.Pipes {
		if p.FD < MinPipeFD || p.FD > MaxPipeFD || fds[p.FD] {
			return fmt.Errorf("descriptor %d of a pipe is not usable", p.FD)
		}
		fds[p.FD] = true
	}
	if len(s.Files) > MaxFiles {
		return fmt.Errorf("%d files: %w", len(s.Files), ErrTooLarge)
	}
	total := s.StdinSize
	seen := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		if !validFile(f.Name) || seen[f.Name] {
			return fmt.Errorf("file name %q is not usable", clip(f.Name))
		}
		seen[f.Name] = true
		if f.Size < 0 || f.Size > MaxBody {
			return fmt.Errorf("file of %d bytes: %w", f.Size, ErrTooLarge)
		}
		total += f.Size // at most 65 terms of MaxBody: cannot overflow
	}
	if total > MaxBody {
		return fmt.Errorf("stdin and files of %d bytes: %w", total, ErrTooLarge)
	}
	if s.Policy != nil {
		return s.Policy.validate()
	}
	return nil
}

// validPipe reports whether s names a pipe of a spawn.
func validPipe(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= MinPipeFD && n <= MaxPipeFD && strconv.Itoa(n) == s
}

func validFile(s string) bool {
	return s != "" && len(s) <= 255 && s != "." && s != ".." && !strings.ContainsAny(s, "/\x00")
}

// Validate bounds what a peer can put into a reply.
func (p Reply) Validate() error {
	if len(p.Spawns) > MaxSpawns {
		return fmt.Errorf("%d spawns: %w", len(p.Spawns), ErrTooLarge)
	}
	if p.Offset < 0 || p.Offset > MaxOffset {
		return fmt.Errorf("offset %d is impossible", p.Offset)
	}
	if p.Policy != nil && !validHash(p.Policy.Hash) {
		return fmt.Errorf("policy hash %q is no SHA-256", clip(p.Policy.Hash))
	}
	if p.Exit != nil && !validSignal(p.Exit.Signal) {
		return fmt.Errorf("%q is no signal", clip(p.Exit.Signal))
	}
	if p.Error != nil && (len(p.Error.Text) > 2*MaxText || len(p.Error.Code) > 64) {
		return fmt.Errorf("error text: %w", ErrTooLarge)
	}
	if len(p.Ports) > MaxPorts {
		return fmt.Errorf("%d ports: %w", len(p.Ports), ErrTooLarge)
	}
	for _, o := range p.Ports {
		if o.Port == 0 || len(o.Process) > MaxProcess {
			return fmt.Errorf("port %d of a program with a name of %d bytes is impossible", o.Port, len(o.Process))
		}
	}
	infos := p.Spawns
	if p.Info != nil {
		infos = append(slices.Clip(infos), *p.Info)
	}
	for _, i := range infos {
		if err := i.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (i Info) validate() error {
	if !ValidID(i.ID) {
		return fmt.Errorf("spawn id %q is not a name", clip(i.ID))
	}
	for _, at := range [][2]int64{{i.OutBase, i.OutEnd}, {i.ErrBase, i.ErrEnd}} {
		if at[0] < 0 || at[1] < at[0] || at[1] > MaxOffset {
			return fmt.Errorf("spawn %s has impossible offsets", i.ID)
		}
	}
	if i.Exit != nil && !validSignal(i.Exit.Signal) {
		return fmt.Errorf("%q is no signal", clip(i.Exit.Signal))
	}
	return nil
}

// validSignal takes the characters of signal names (SIGRTMIN+3), and the empty name.
func validSignal(s string) bool {
	return len(s) <= 32 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") == ""
}

// maxExitRecord bounds the sidecar file: its fields are a few hundred bytes.
const maxExitRecord = 4096

// Encode is the content of the sidecar.
func (r ExitRecord) Encode() ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode exit record: %w", err)
	}
	return append(b, '\n'), nil
}

// ParseExitRecord reads a sidecar written for spawn id.
func ParseExitRecord(id string, data []byte) (ExitRecord, error) {
	if len(data) > maxExitRecord {
		return ExitRecord{}, fmt.Errorf("exit record of %d bytes: %w", len(data), ErrTooLarge)
	}
	var r ExitRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return ExitRecord{}, fmt.Errorf("decode exit record: %w", err)
	}
	if r.ID != id || r.OutEnd < 0 || r.ErrEnd < 0 || !validSignal(r.Exit.Signal) {
		return ExitRecord{}, fmt.Errorf("exit record is not of spawn %s", clip(id))
	}
	return r, nil
}

// clip cuts s to MaxText bytes of valid UTF-8.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText], "") + "…"
}
