package gate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

// Bounds of what a supervisor says, within wire.MaxDetail. They are those of the
// supervisor itself, with room to spare.
const (
	maxTarget    = 32 << 10
	maxPath      = 8 << 10
	maxMessage   = 2 << 10
	maxProcesses = 64
	maxDetails   = 32
)

var (
	kinds = []string{wire.KindFile, wire.KindExec, wire.KindConnect}
	// operations on files that a supervisor holds; it never sees the others.
	operations = []policy.Operation{
		policy.Read, policy.Write, policy.Create, policy.Delete, policy.Chmod, policy.Chown, policy.Link,
	}
	categories = []policy.Category{
		policy.Ordinary, policy.Startup, policy.Credential, policy.Socket, policy.Escape, policy.GateOwn,
	}
	// onceOnly are never remembered when they are allowed.
	onceOnly = []policy.Category{policy.Credential, policy.Socket, policy.Escape, policy.GateOwn}
)

// decode reads what a supervisor says of a held call. The bytes are hostile: what is
// not exactly of the known form is an error, and denied.
func decode(c core.HeldCall) (wire.Approval, error) {
	var a wire.Approval
	if len(c.Detail) > wire.MaxDetail {
		return a, fmt.Errorf("detail of %d bytes", len(c.Detail))
	}
	if !slices.Contains(kinds, c.Kind) {
		return a, fmt.Errorf("unknown kind %q", core.Shortened(c.Kind, 40))
	}
	if err := json.Unmarshal(c.Detail, &a, json.RejectUnknownMembers(true)); err != nil {
		return a, fmt.Errorf("decode detail: %w", err)
	}
	if a.Kind != c.Kind {
		return a, errors.New("kind of the detail is another")
	}
	switch a.Kind {
	case wire.KindExec:
		a.Operation = "run"
	case wire.KindConnect:
		a.Operation = "connect"
	}
	return a, check(a)
}

func check(a wire.Approval) error {
	switch {
	case strings.TrimSpace(a.Target) == "":
		return errors.New("call without an object")
	case len(a.Target) > maxTarget, len(a.AskedAs) > maxPath, len(a.From) > maxPath, len(a.Message) > maxMessage,
		len(a.Call) > 64, len(a.Rule) > 256, len(a.Identity) > 128, len(a.CacheKey) > maxTarget,
		len(a.Processes) > maxProcesses, len(a.Details) > maxDetails:
		return errors.New("field too long")
	case a.Kind == wire.KindFile && (!strings.HasPrefix(a.Target, "/") || !slices.Contains(operations, policy.Operation(a.Operation))):
		return errors.New("no operation on a file")
	case a.Kind == wire.KindConnect && !strings.HasPrefix(a.Target, "/") && !strings.HasPrefix(a.Target, "@"):
		return errors.New("no address of a socket")
	case !slices.Contains(categories, policy.Category(a.Category)):
		return errors.New("unknown category")
	case a.Act != "" && (len(a.Act) != 64 || strings.Trim(a.Act, "0123456789abcdef") != ""):
		return errors.New("impossible hash of an act")
	case a.Policy < 0:
		return errors.New("impossible version of a policy")
	}
	for name, text := range a.Details {
		if !detailName.MatchString(name) || len(text) > maxPath {
			return errors.New("impossible detail")
		}
	}
	return errors.Join(checkContent(a.Before), checkContent(a.After))
}

var detailName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _-]{0,39}$`)

// details are the facts that a supervisor adds, in the order of their names.
func details(a wire.Approval) (out []core.ApprovalDetail) {
	for _, name := range slices.Sorted(maps.Keys(a.Details)) {
		if text := a.Details[name]; text != "" {
			label := strings.ReplaceAll(name, "_", " ")
			out = append(out, core.ApprovalDetail{Label: strings.ToUpper(label[:1]) + label[1:], Text: text})
		}
	}
	if strings.ContainsRune(a.Target+a.From, utf8.RuneError) {
		out = append(out, core.ApprovalDetail{Label: "Answers",
			Text: "reach no further than this run: the name has bytes that are not text, so no rule can name it"})
	}
	return out
}

// checkContent: a text that is all of a file must be the one that its hash names.
func checkContent(c *wire.Content) error {
	if c == nil {
		return nil
	}
	sum := sha256.Sum256(c.Text)
	switch {
	case len(c.Text) > wire.MaxContent, c.Size < int64(len(c.Text)):
		return errors.New("impossible size of a content")
	case c.SHA256 != "" && (len(c.SHA256) != 64 || strings.Trim(c.SHA256, "0123456789abcdef") != ""):
		return errors.New("impossible hash of a content")
	case !c.Cut && c.SHA256 != "" && (c.Size != int64(len(c.Text)) || c.SHA256 != hex.EncodeToString(sum[:])):
		return errors.New("content is not what its hash names")
	}
	return nil
}

// never says that an act is not allowed for longer than once.
func never(a wire.Approval) bool { return slices.Contains(onceOnly, policy.Category(a.Category)) }

// sameCall names the facts by which two calls are one: who, what, on which object,
// and with which content. A repeat that follows the first has another content before
// it, so that does not count here.
// Act stands for everything else that it does; without one, no other call is it.
func sameCall(o origin, a wire.Approval) string {
	if a.Act == "" {
		return core.NewID()
	}
	content := []string{a.Identity, a.From}
	if a.After != nil && a.After.SHA256 != "" && !a.InPlace && writes(a) {
		// Only these bytes get there, from whatever file: a CLI that tries again makes
		// another temporary file.
		content = []string{a.After.SHA256}
	}
	return hashed(append([]string{
		string(o.container), o.source, a.Kind, a.Operation, objectOf(a), fmt.Sprint(a.Policy, a.Append, a.InPlace), a.Category, a.Rule, a.Act,
	}, content...)...)
}

// objectOf is what an answer is about: of a page, the site that it belongs to.
func objectOf(a wire.Approval) string {
	if a.Kind == kindNavigate {
		return a.Identity
	}
	return a.Target
}

// sameQuestion names the facts by which two calls that wait are one question.
func sameQuestion(o origin, a wire.Approval) string {
	before := ""
	if a.Before != nil {
		before = a.Before.SHA256 + fmt.Sprint(a.Before.Size)
	}
	return hashed(sameCall(o, a), before)
}

// hashed is the SHA-256 of the parts, in which none can pass for two.
func hashed(parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// isText refuses what no page can show, such as the escapes of terminals.
func isText(b []byte) bool {
	return utf8.Valid(b) && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f })
}
