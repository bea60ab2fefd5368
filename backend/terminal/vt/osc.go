package vt

import (
	"maps"
	"math"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"loop/backend/core"
)

func (t *Terminal) oscPut(r rune) {
	if len(t.osc) >= maxOSC {
		t.oscLong = true
		return
	}
	t.osc = utf8.AppendRune(t.osc, r)
}

// oscEnd runs an operating system command.
func (t *Terminal) oscEnd() {
	num, data, _ := strings.Cut(string(t.osc), ";")
	n, err := strconv.ParseUint(num, 10, 16) // there are none beyond
	if err != nil || t.oscLong {
		return
	}
	switch id := int(n); id {
	case 0, 2:
		if t.o.Title != nil {
			t.o.Title(core.CleanTitle(data))
		}
	case 4:
		t.setColors(data)
	case 7:
		t.dirURL(data)
	case 8:
		t.hyperlink(data)
	case 10, 11, 12:
		t.specialColors(data, palFg+id-10)
	case 104:
		t.restoreColors(data)
	case 110, 111, 112:
		delete(t.palette, palFg+id-110)
	case 133:
		t.mark(data)
	case 633:
		if dir, ok := strings.CutPrefix(data, "P;Cwd="); ok {
			t.dir(unescape633(dir))
			return
		}
		t.mark(data)
	case 1337:
		if dir, ok := strings.CutPrefix(data, "CurrentDir="); ok {
			t.dir(dir)
		}
	}
}

// dirURL takes the directory out of a file URL. Its host is not looked at: it is
// a container's or this computer's name.
func (t *Terminal) dirURL(s string) {
	rest, ok := strings.CutPrefix(s, "file://")
	if !ok {
		return
	}
	_, p, ok := strings.Cut(rest, "/")
	if !ok {
		return
	}
	if p, err := url.PathUnescape("/" + p); err == nil {
		t.dir(p)
	}
}

func (t *Terminal) dir(p string) {
	if t.o.Dir == nil || len(p) > maxDir || !path.IsAbs(p) && !windowsAbs(p) || !clean(p) {
		return
	}
	t.o.Dir(p)
}

// windowsAbs says whether p looks like C:\dir.
func windowsAbs(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// clean says whether s is text without control characters.
func clean(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
}

var hexByte = regexp.MustCompile(`\\(\\|x[0-9a-fA-F]{2})`)

// unescape633 undoes the escapes of OSC 633: \\ and \xHH.
func unescape633(s string) string {
	return hexByte.ReplaceAllStringFunc(s, func(m string) string {
		if m == `\\` {
			return `\`
		}
		v, _ := strconv.ParseUint(m[2:], 16, 8)
		return string([]byte{byte(v)})
	})
}

// hyperlink is OSC 8: parameters, and an address that may hold semicolons.
func (t *Terminal) hyperlink(data string) {
	attrs, uri, ok := strings.Cut(data, ";")
	if !ok {
		return
	}
	if uri == "" {
		if strings.TrimSpace(attrs) == "" {
			t.setLink(nil)
		}
		return
	}
	_, id, _ := strings.Cut(":"+strings.TrimSpace(attrs), ":id=")
	id, _, _ = strings.Cut(id, ":")
	t.setLink(t.exts.open(id, uri))
}

func (t *Terminal) setLink(l *link) {
	t.pen.link = l
	t.pen.update()
	t.penChanged()
}

func (t *Terminal) setColors(data string) {
	slots := strings.Split(data, ";")
	for ; len(slots) > 1; slots = slots[2:] {
		if i, ok := colorIndex(slots[0]); ok {
			if c, ok := parseColor(slots[1]); ok {
				t.palette[i] = c
			}
		}
	}
}

func (t *Terminal) restoreColors(data string) {
	if data == "" {
		maps.DeleteFunc(t.palette, func(i int, _ [3]uint8) bool { return i < 256 })
	}
	for s := range strings.SplitSeq(data, ";") {
		if i, ok := colorIndex(s); ok {
			delete(t.palette, i)
		}
	}
}

func colorIndex(s string) (int, bool) {
	i, err := strconv.ParseUint(s, 10, 8)
	return int(i), err == nil
}

// specialColors sets or reports foreground, background and cursor, from the one
// the command is named after on.
func (t *Terminal) specialColors(data string, i int) {
	for s := range strings.SplitSeq(data, ";") {
		if i > palCursor {
			return
		}
		if s == "?" {
			t.reportTheme(i)
		} else if c, ok := parseColor(s); ok {
			t.palette[i] = c
		}
		i++
	}
}

// parseColor reads rgb:r/g/b and #rgb with 1 to 4 digits each.
func parseColor(s string) (c [3]uint8, ok bool) {
	s = strings.ToLower(s)
	var parts []string
	hash := false
	if rest, found := strings.CutPrefix(s, "rgb:"); found {
		parts = strings.Split(rest, "/")
	} else if rest, found := strings.CutPrefix(s, "#"); found && len(rest)%3 == 0 {
		n := len(rest) / 3
		parts = []string{rest[:n], rest[n : 2*n], rest[2*n:]}
		hash = true
	}
	if len(parts) != 3 {
		return c, false
	}
	for i, p := range parts {
		n := len(p)
		if n < 1 || n > 4 || n != len(parts[0]) {
			return c, false
		}
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return c, false
		}
		switch {
		case !hash:
			c[i] = uint8(math.Round(float64(v) / float64(uint(1)<<(4*n)-1) * 255))
		case n == 1:
			c[i] = uint8(v << 4)
		default:
			c[i] = uint8(v >> (4 * (n - 2)))
		}
	}
	return c, true
}
