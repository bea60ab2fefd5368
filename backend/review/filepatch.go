package review

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxPatch = 2 << 20
	maxLines = 20_000
)

var (
	errPatch = errors.New("git's patch cannot be read")
	errLarge = errors.New("the patch is too large")
)

// filePatch is the difference of one file as git printed it.
type filePatch struct {
	head   string // from “diff --git” to the first hunk
	hunks  []hunk
	binary bool
	// whole is the text where it is more than one difference, as of a file that became a link.
	whole string
}

// hunk is a change, with the numbers of lines on both sides. body has the lines with their signs.
type hunk struct {
	old, oldSize, new, newSize int
	section, body              string
	id                         string
	lines                      int
}

// delta is by how many lines a file is longer for the hunk.
func (h hunk) delta() int { return h.newSize - h.oldSize }

// parsePatch reads a patch of one file. What is beyond the bounds is errLarge.
func parsePatch(text, salt string) (p filePatch, err error) {
	if len(text) > maxPatch {
		return p, errLarge
	}
	if i := strings.Index(text, "diff --"); i > 0 && strings.HasPrefix(text, "* Unmerged path ") {
		text = text[i:]
	}
	var head strings.Builder
	lines, differences := 0, 0
	rest := text
	for rest != "" {
		if lines++; lines > maxLines {
			return p, errLarge
		}
		line, after, _ := strings.Cut(rest, "\n")
		switch {
		case strings.HasPrefix(line, "diff --"):
			differences++
		case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files "):
			p.binary = true
		}
		if p.binary || !strings.HasPrefix(line, "@@ ") {
			if len(p.hunks) == 0 {
				head.WriteString(rest[:len(rest)-len(after)])
			} else if !strings.HasPrefix(line, "diff --") && differences < 2 {
				return p, errPatch
			}
			rest = after
			continue
		}
		h, left, herr := parseHunk(line, after)
		if herr != nil {
			return p, herr
		}
		if lines += h.lines; lines > maxLines {
			return p, errLarge
		}
		p.hunks, rest = append(p.hunks, h), left
	}
	if p.head = head.String(); text != "" && !strings.HasPrefix(p.head, "diff --") {
		return p, errPatch
	}
	if differences > 1 {
		p.whole = text
	}
	name(p.hunks, salt)
	return p, nil
}

// parseHunk reads the hunk of a line that begins with “@@ ”.
func parseHunk(line, text string) (h hunk, rest string, err error) {
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, "@@ "), " @@")
	before, after, spaced := strings.Cut(ranges, " ")
	if !ok || !spaced || !numbers(before, "-", &h.old, &h.oldSize) || !numbers(after, "+", &h.new, &h.newSize) {
		return h, "", errPatch
	}
	h.section = strings.TrimSpace(section)
	old, fresh := h.oldSize, h.newSize
	rest = text
	for old > 0 || fresh > 0 || strings.HasPrefix(rest, `\`) {
		one, after, ended := strings.Cut(rest, "\n")
		if !ended {
			return h, "", errPatch
		}
		switch {
		case one == "" || one[0] == ' ':
			old--
			fresh--
		case one[0] == '-':
			old--
		case one[0] == '+':
			fresh--
		case one[0] != '\\':
			return h, "", errPatch
		}
		if old < 0 || fresh < 0 {
			return h, "", errPatch
		}
		h.lines++
		rest = after
	}
	h.body = text[:len(text)-len(rest)]
	return h, rest, nil
}

// numbers reads “-12,3”; without the second number it is one line.
func numbers(s, sign string, at, size *int) bool {
	s, ok := strings.CutPrefix(s, sign)
	if !ok {
		return false
	}
	first, second, two := strings.Cut(s, ",")
	if *at, *size = number(first), 1; two {
		*size = number(second)
	}
	return *at >= 0 && *size >= 0
}

// name gives each hunk a name by its text. Equal ones are told apart by their order.
func name(hunks []hunk, salt string) {
	seen := map[string]int{}
	for i := range hunks {
		sum := sha256.Sum256([]byte(salt + "\x00" + hunks[i].body))
		id := hex.EncodeToString(sum[:8])
		hunks[i].id = id + "." + strconv.Itoa(seen[id])
		seen[id]++
	}
}

// wholeID names a change that has no lines of its own.
func wholeID(p filePatch, salt string) string {
	sum := sha256.Sum256([]byte(salt + "\x00whole\x00" + p.head + p.whole))
	return hex.EncodeToString(sum[:8])
}

// single reports whether the patch is one change, which cannot be taken apart.
func (p filePatch) single() bool { return p.whole != "" || p.binary || len(p.hunks) == 0 }

// with is a patch of some of the hunks, with the numbers that the lines have once the others
// are not in it: on the side that it is applied to if it is applied forward, or back.
func (p filePatch) with(chosen []hunk, back bool) string {
	if p.single() {
		if p.whole != "" {
			return p.whole
		}
		return p.head
	}
	var b strings.Builder
	b.WriteString(p.headOf(len(chosen) == len(p.hunks)))
	moved := 0
	for _, h := range chosen {
		old, fresh := h.old, h.new
		if back {
			old = max(0, before(fresh, h.newSize, h.oldSize)-moved)
		} else {
			fresh = max(0, before(old, h.oldSize, h.newSize)+moved)
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", old, h.oldSize, fresh, h.newSize)
		b.WriteString(h.body)
		moved += h.delta()
	}
	return b.String()
}

// before is the number of the other side's first line: a side without lines is said by the line before.
func before(at, size, other int) int {
	if size == 0 {
		at++
	}
	if other == 0 {
		at--
	}
	return max(0, at)
}

// headOf is the head, without a change of the mode unless all of the file is taken.
func (p filePatch) headOf(all bool) string {
	if all {
		return p.head
	}
	var b strings.Builder
	for line := range strings.Lines(p.head) {
		if !strings.HasPrefix(line, "old mode ") && !strings.HasPrefix(line, "new mode ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// says is what changed where there are no lines.
func (p filePatch) says() string {
	var modes []string
	for line := range strings.Lines(p.head) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case p.binary:
			return "binary file"
		case strings.HasPrefix(line, "new file"):
			return "new, empty file"
		case strings.HasPrefix(line, "deleted file"):
			return "empty file, removed"
		case strings.HasPrefix(line, "old mode "), strings.HasPrefix(line, "new mode "):
			modes = append(modes, line)
		}
	}
	return strings.Join(modes, ", ")
}
