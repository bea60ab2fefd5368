package checkpoints

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const (
	magic   = "loop tree 1\n"
	maxPath = 4096 // bytes of a path, and of a link
)

var errDamaged = errors.New("a tree of the checkpoints is damaged")

// encode writes entries, which are in order. Two trees with the same entries are the same bytes.
func encode(entries []Entry) []byte {
	out := make([]byte, 0, len(magic)+len(entries)*96)
	out = append(out, magic...)
	out = binary.AppendUvarint(out, uint64(len(entries)))
	before := ""
	for i := range entries {
		e := &entries[i]
		shared := 0
		for shared < min(len(before), len(e.Path)) && before[shared] == e.Path[shared] {
			shared++
		}
		before = e.Path
		out = binary.AppendUvarint(out, uint64(shared)) //nolint:gosec // lengths
		out = appendText(out, e.Path[shared:])
		out = append(out, byte(e.Kind), flags(e))
		switch e.Kind {
		case File:
			out = binary.AppendUvarint(out, uint64(e.Mode))
			out = binary.AppendVarint(out, e.Size)
			out = binary.AppendVarint(out, e.MTime)
			out = binary.AppendVarint(out, e.CTime)
			out = binary.AppendUvarint(out, e.Inode)
			out = append(out, e.Sum[:]...)
		case Link:
			out = appendText(out, e.Link)
		case Large:
			out = binary.AppendVarint(out, e.Size)
			out = binary.AppendVarint(out, e.MTime)
		}
	}
	return out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

func flags(e *Entry) byte {
	if e.Racy {
		return 1
	}
	return 0
}

// reader takes a tree apart; the first fault stays.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) uvarint(most uint64) uint64 {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || n > most {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return n
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.left)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return n
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.left) {
		r.bad = true
		return make([]byte, min(max(n, 0), len(Hash{})))
	}
	out := r.left[:n]
	r.left = r.left[n:]
	return out
}

func (r *reader) text() string { return string(r.bytes(int(r.uvarint(maxPath)))) } //nolint:gosec // bounded

// decode reads what encode wrote. It takes any bytes, and nothing that could lead out of a
// folder or name a path twice.
func decode(data []byte) ([]Entry, error) {
	left, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, errDamaged
	}
	r := &reader{left: left}
	count := int(r.uvarint(MaxFiles)) //nolint:gosec // bounded
	out := make([]Entry, 0, min(count, len(left)/4))
	before := ""
	for i := 0; i < count && !r.bad; i++ {
		shared := int(r.uvarint(uint64(len(before)))) //nolint:gosec // lengths
		e := Entry{Path: before[:shared] + r.text()}
		head := r.bytes(2)
		if r.bad {
			break
		}
		e.Kind, e.Racy = Kind(head[0]), head[1] == 1
		r.rest(&e)
		if head[1] > 1 || !validPath(e.Path) || i > 0 && e.Path <= before {
			r.bad = true
		}
		before = e.Path
		out = append(out, e)
	}
	if r.bad || len(r.left) > 0 {
		return nil, errDamaged
	}
	return out, nil
}

func (r *reader) rest(e *Entry) {
	switch e.Kind {
	case File:
		e.Mode = uint16(r.uvarint(0o777)) //nolint:gosec // bounded
		e.Size, e.MTime, e.CTime = r.varint(), r.varint(), r.varint()
		e.Inode = r.uvarint(1<<64 - 1)
		if sum := r.bytes(len(e.Sum)); !r.bad {
			e.Sum = Hash(sum)
		}
		r.bad = r.bad || e.Size < 0
	case Link:
		e.Link = r.text()
	case Large:
		e.Size, e.MTime = r.varint(), r.varint()
	case Empty, Ignored, Other:
	default:
		r.bad = true
	}
}

// validPath reports whether a path stays below its folder, and away from git's own.
func validPath(p string) bool {
	if p == "" || len(p) > maxPath || !filepath.IsLocal(filepath.FromSlash(p)) {
		return false
	}
	for name := range strings.SplitSeq(p, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return false
		}
	}
	return true
}

func damaged(what string, err error) error { return fmt.Errorf("%w: %s: %w", errDamaged, what, err) }
