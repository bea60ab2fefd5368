package checkpoints

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loop/backend/atomicfile"
)

// Bounds of one checkpoint.
const (
	MaxFiles = 200_000
	MaxBytes = 2 << 30
	MaxFile  = 10 << 20
	// maxTree bounds a tree's bytes.
	maxTree = 256 << 20
	// maxChain is how many trees may be told by what differs from the one before.
	maxChain = 16
)

const (
	blobsDir = "blobs"
	treesDir = "trees"
	// How a file of the store is written, by its first byte.
	plain   = 'p'
	squeeze = 'z' // flate
	differs = 'd' // a tree: the hash of another, then what differs, squeezed
)

// Store is the checkpoints of one folder. It has no state but its files; who uses it lets one
// at a time in.
type Store struct{ dir string }

// In is the store in a folder, which need not be there.
func In(dir string) Store { return Store{dir} }

func (s Store) name(kind string, h Hash) string {
	x := hex.EncodeToString(h[:])
	return filepath.Join(s.dir, kind, x[:2], x[2:])
}

// ParseHash reads what Hash.String wrote.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, errDamaged
	}
	return Hash(b), nil
}

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// replace puts a file in its place. It is not synced: after a power cut it may be damaged, which
// reading notices.
func replace(name string, parts ...[]byte) error {
	err := atomicfile.Replace(name, parts...)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = atomicfile.Replace(name, parts...)
		}
	}
	return err
}

// put keeps a content.
func (s Store) put(data []byte) (Hash, error) {
	h := Hash(sha256.Sum256(data))
	name := s.name(blobsDir, h)
	if info, err := os.Lstat(name); err == nil && info.Size() > 0 {
		return h, nil
	}
	form := []byte{plain}
	if small := squeezed(data); len(small) < len(data)*15/16 {
		form[0], data = squeeze, small
	}
	if err := replace(name, form, data); err != nil {
		return h, fmt.Errorf("keep a file: %w", err)
	}
	return h, nil
}

// errEmpty is what reading says of a file that a power cut has left without its content.
var errEmpty = errors.New("it is empty")

// read reads a file of the store. Only one that is not there is fs.ErrNotExist.
func read(name string, most int64) ([]byte, error) {
	data, _, err := atomicfile.Read(name, most)
	if err == nil && len(data) == 0 {
		err = errEmpty
	}
	return data, err
}

// Content is what a file had, checked against its hash.
func (s Store) Content(h Hash) ([]byte, error) {
	data, err := read(s.name(blobsDir, h), MaxFile+1)
	if err != nil {
		return nil, damaged("a file", err)
	}
	switch form := data[0]; form {
	case plain:
		data = data[1:]
	case squeeze:
		if data, err = stretched(data[1:], MaxFile); err != nil {
			return nil, damaged("a file", err)
		}
	default:
		return nil, errDamaged
	}
	if Hash(sha256.Sum256(data)) != h {
		return nil, errDamaged
	}
	return data, nil
}

func squeezed(data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil { // memory alone: it cannot fail
		return data
	}
	return b.Bytes()
}

func stretched(data []byte, most int64) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(data))
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err = errors.Join(err, r.Close()); err == nil && int64(len(out)) > most {
		err = atomicfile.ErrTooLarge
	}
	return out, err
}

// PutTree keeps a tree. Where it is much like another one that is kept, its file has only what
// differs.
func (s Store) PutTree(t *Tree, base *Tree, baseHash Hash) (Hash, error) {
	full := encode(t.Entries)
	h := Hash(sha256.Sum256(full))
	name := s.name(treesDir, h)
	if base != nil && baseHash == h {
		return h, nil
	}
	if _, ok := s.chain(h); ok {
		return h, nil
	}
	if _, err := os.Lstat(name); base != nil && errors.Is(err, fs.ErrNotExist) {
		if n, ok := s.chain(baseHash); ok && n < maxChain {
			if d := difference(base, t); len(d) <= len(t.Entries)/8 {
				return h, replace(name, []byte{differs}, baseHash[:], squeezed(encode(d)))
			}
		}
	}
	// A file in its place leans on one that is gone. The new one stands alone, because the chains
	// of those that lean on it must not become longer.
	return h, replace(name, []byte{squeeze}, squeezed(full))
}

// gone marks, in a difference, a path that the tree has not.
const gone = "\x00"

// difference are the entries that base has not, or others in their place.
func difference(base, t *Tree) []Entry {
	var out []Entry
	for i := range t.Entries {
		if e := &t.Entries[i]; base.Entry(e.Path) == nil || *base.Entry(e.Path) != *e {
			out = append(out, *e)
		}
	}
	for i := range base.Entries {
		if p := base.Entries[i].Path; t.Entry(p) == nil {
			out = append(out, Entry{Path: p, Kind: Link, Link: gone})
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func applied(base []Entry, diff []Entry) []Entry {
	out := make([]Entry, 0, len(base)+len(diff))
	i := 0
	for _, d := range diff {
		for ; i < len(base) && base[i].Path < d.Path; i++ {
			out = append(out, base[i])
		}
		if i < len(base) && base[i].Path == d.Path {
			i++
		}
		if d.Kind != Link || d.Link != gone {
			out = append(out, d)
		}
	}
	return append(out, base[i:]...)
}

// base is the tree that another one is told by; ok is false where it stands alone.
func (s Store) base(h Hash) (base Hash, ok bool, err error) {
	f, err := os.Open(s.name(treesDir, h))
	if err != nil {
		return base, false, err
	}
	defer f.Close()
	var head [1 + len(base)]byte
	n, err := io.ReadFull(f, head[:])
	if n > 0 && head[0] == squeeze {
		return base, false, nil
	}
	return Hash(head[1:]), err == nil, err
}

// chain is how many trees a tree's file leans on; ok is false where one of them is not there.
func (s Store) chain(h Hash) (n int, ok bool) {
	for ; n <= maxChain; n++ {
		base, leans, err := s.base(h)
		if err != nil || !leans {
			return n, err == nil
		}
		h = base
	}
	return n, false
}

// Tree reads a tree, checked against its hash.
func (s Store) Tree(h Hash) (*Tree, error) {
	entries, err := s.entries(h, 0)
	if err != nil {
		return nil, err
	}
	if Hash(sha256.Sum256(encode(entries))) != h {
		return nil, errDamaged
	}
	return newTree(entries), nil
}

func (s Store) entries(h Hash, depth int) ([]Entry, error) {
	if depth > maxChain+1 {
		return nil, errDamaged
	}
	out, base, leans, err := s.own(h)
	if err != nil || !leans {
		return out, err
	}
	under, err := s.entries(base, depth+1)
	if err != nil {
		return nil, err
	}
	return applied(under, out), nil
}

// own reads a tree's own file: its entries, or what differs from base where it leans on it.
func (s Store) own(h Hash) (out []Entry, base Hash, leans bool, err error) {
	data, err := read(s.name(treesDir, h), maxTree)
	if err != nil {
		return nil, base, false, damaged("a tree", err)
	}
	form, data := data[0], data[1:]
	if form == differs && len(data) >= len(base) {
		base, data, leans = Hash(data[:len(base)]), data[len(base):], true
	} else if form != squeeze {
		return nil, base, false, errDamaged
	}
	if data, err = stretched(data, maxTree); err != nil {
		return nil, base, leans, damaged("a tree", err)
	}
	out, err = decode(data)
	return out, base, leans, err
}
