package cli

import (
	"bytes"
	"fmt"
	"strings"
)

// Keys that leave a session when nothing else is said.
const (
	defaultDetachKey  = "ctrl-]"
	defaultEscapeChar = "~"
)

// leaveKeys finds in what is typed that the person wants to leave: one key, or
// as in ssh the escape character and a full stop at the beginning of a line.
// Pasted text is never looked at.
type leaveKeys struct {
	key    byte // 0: none
	escape byte // 0: none

	midLine bool // something was typed since the last Enter
	tilde   bool // the escape character is held until the next key is known
	paste   bool // inside of pasted text
	tail    []byte
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// newLeaveKeys reads the flags: ctrl-X or none, a character or none.
func newLeaveKeys(key, escape string) (*leaveKeys, error) {
	k := &leaveKeys{}
	switch name, ok := strings.CutPrefix(strings.ToLower(key), "ctrl-"); {
	case key == "none" || key == "":
	case ok && len(name) == 1 && strings.Contains("abcdefghijklmnopqrstuvwxyz[\\]^_@", name):
		k.key = name[0] & 0x1f
		if k.key == 0 || k.key == '\r' || k.key == escByte {
			return nil, usagef("--detach-key %s is a key that programs need", key)
		}
	default:
		return nil, usagef("--detach-key is ctrl- and a letter or one of ]\\^_, or none")
	}
	switch {
	case escape == "none" || escape == "":
	case len(escape) == 1 && escape[0] > 0x20 && escape[0] < delByte:
		k.escape = escape[0]
	default:
		return nil, usagef("--escape is one character, or none")
	}
	if k.key == 0 && k.escape == 0 {
		return nil, usagef("--detach-key and --escape cannot both be none: nothing would leave the session")
	}
	return k, nil
}

// take returns what of p goes to the program, and whether to leave.
func (k *leaveKeys) take(p []byte) (pass []byte, leave bool) {
	if len(p) > 1 && !k.paste && k.key != 0 && k.reported(p) {
		return nil, true
	}
	for _, b := range p {
		if k.watch(b); k.paste {
			pass = append(pass, b)
			k.midLine = true
			continue
		}
		if k.tilde {
			k.tilde = false
			switch b {
			case '.':
				return pass, true
			case k.escape: // twice is once
				pass, k.midLine = append(pass, b), true
				continue
			}
			pass = append(pass, k.escape)
			k.midLine = true
		}
		switch {
		case k.key != 0 && b == k.key:
			return pass, true
		case k.escape != 0 && b == k.escape && !k.midLine:
			k.tilde = true
			continue
		}
		k.midLine = b != '\r' && b != '\n'
		pass = append(pass, b)
	}
	return pass, false
}

// watch follows the marks around pasted text.
func (k *leaveKeys) watch(b byte) {
	if b == escByte {
		k.tail = k.tail[:0]
	}
	if len(k.tail) < len(pasteBegin) {
		k.tail = append(k.tail, b)
	}
	switch {
	case bytes.Equal(k.tail, pasteBegin):
		k.paste = true
	case bytes.Equal(k.tail, pasteEnd):
		k.paste = false
	}
}

// reported reports whether p is the key as a terminal spells it after a program asked
// it to tell all keys apart.
func (k *leaveKeys) reported(p []byte) bool {
	c := k.key | 0x60
	if k.key >= 0x1b {
		c = k.key | 0x40
	}
	return string(p) == fmt.Sprintf("\x1b[%d;5u", c) || string(p) == fmt.Sprintf("\x1b[27;5;%d~", c)
}

// say is how a person leaves, in words.
func (k *leaveKeys) say() string {
	var ways []string
	if k.key != 0 {
		c := k.key | 0x40
		ways = append(ways, "Ctrl-"+string(rune(c)))
	}
	if k.escape != 0 {
		ways = append(ways, fmt.Sprintf("%c. at the beginning of a line", k.escape))
	}
	return strings.Join(ways, " or ")
}
