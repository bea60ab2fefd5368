package vt

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// event is output, or a resize when cols is not 0.
type event struct {
	data       []byte
	cols, rows int
}

// generator makes streams with everything that a terminal knows, in sizes and at places
// where features interact.
type generator struct {
	*rand.Rand
	cols, rows int
	irregular  bool // sequences that leave half of a wide character
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 4))}
	g.cols, g.rows = 2+g.IntN(30), 1+g.IntN(12)
	if g.IntN(4) == 0 {
		g.cols, g.rows = 80, 24
	}
	g.irregular = g.IntN(4) == 0
	return g
}

// stream makes n events.
func (g *generator) stream(n int) []event {
	var events []event
	for range n {
		var b strings.Builder
		for range 1 + g.IntN(12) {
			b.WriteString(g.token())
		}
		data := []byte(b.String())
		if g.IntN(10) == 0 {
			data = g.soup()
		}
		for len(data) > 0 && g.IntN(3) == 0 { // cuts the data anywhere
			k := 1 + g.IntN(len(data))
			events = append(events, event{data: data[:k]})
			data = data[k:]
		}
		if len(data) > 0 {
			events = append(events, event{data: data})
		}
		if g.IntN(8) == 0 {
			g.cols, g.rows = max(2, g.cols+g.IntN(21)-10), max(1, g.rows+g.IntN(9)-4)
			g.cols, g.rows = min(g.cols, 100), min(g.rows, 40)
			events = append(events, event{cols: g.cols, rows: g.rows})
		}
	}
	return events
}

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

// soup returns bytes that may or may not form sequences. Long numbers are left out,
// because xterm.js would repeat that often.
func (g *generator) soup() []byte {
	const common = "\x1b\x1b\x1b[[[]P_^X\\(?>!$ ;;:0123456789\x07\x18\x1a\n\r\b\t\x0e\x0f\x7f"
	out := make([]byte, 1+g.IntN(60))
	digits := 0
	for i := range out {
		switch g.IntN(4) {
		case 0:
			out[i] = byte(g.IntN(256))
		case 1:
			out[i] = byte(0x40 + g.IntN(0x3f))
		default:
			out[i] = common[g.IntN(len(common))]
		}
		if out[i] >= '0' && out[i] <= '9' {
			if digits++; digits > 2 {
				out[i] = ';'
			}
		} else {
			digits = 0
		}
	}
	return out
}

func (g *generator) word() string {
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteByte("abcdefghijklmnopqrstuvwxyz#@[]{}|~ "[g.IntN(35)])
	}
	return b.String()
}

func (g *generator) text() string {
	switch g.IntN(14) {
	case 0:
		return g.pick("中文", "界", "한글", "😀", "👩‍💻", "日本語テキスト")
	case 1:
		return g.pick("e\u0301", "n\u0303\u0323", "\u0301", "क्षि", "❤\ufe0f", "a\u200b", "\u00adx", "中\u0301")
	case 2:
		return g.pick("é", "ü—", "…", "│─┐", "\u0080", "\u0085", "\u0088", "\u009b3A", "\u0084", "\ufeff", "\u07ff\uffff")
	case 3:
		return g.pick("\xff", "\xe4\xb8", "\xc3", "\xf0\x9f\x98", "\x80", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", "\xf8\x88\x80\x80\x80")
	case 4:
		return strings.Repeat(g.pick("x", "中", "ab "), g.IntN(2*g.cols))
	default:
		return g.word()
	}
}

func (g *generator) num() string {
	switch g.IntN(10) {
	case 0:
		return ""
	case 1:
		return "0"
	case 2:
		return fmt.Sprint(g.IntN(200))
	case 3:
		return g.pick("99999999999", "2147483647", "1000")
	default:
		return fmt.Sprint(1 + g.IntN(max(g.cols, g.rows)))
	}
}

// count returns a number for sequences that xterm.js does one by one.
func (g *generator) count() string {
	if g.IntN(4) == 0 {
		return ""
	}
	return fmt.Sprint(g.IntN(8))
}

func (g *generator) token() string {
	switch g.IntN(30) {
	case 0, 1, 2, 3, 4, 5, 6:
		return g.text()
	case 7, 8, 9:
		return g.pick("\r\n", "\r\n", "\n", "\r", "\b", "\t", "\x0b", "\x0c")
	case 10, 11, 12:
		return "\x1b[" + g.sgr() + "m"
	case 13, 14:
		return "\x1b[" + g.num() + ";" + g.num() + g.pick("H", "f")
	case 15, 16:
		return "\x1b[" + g.num() + g.pick("A", "B", "C", "D", "E", "F", "G", "`", "a", "d", "e")
	case 17:
		return "\x1b[" + g.pick("", "0", "1", "2", "?0", "?1", "?2", "?") + g.pick("K", "J", "K")
	case 18:
		if g.IntN(6) == 0 {
			return g.pick("x", "中", "e\u0301\u0302") + "\x1b[" + g.num() + "b"
		}
		return "\x1b[" + g.count() + g.pick("L", "M", "S", "T", "b", "X", "I", "Z")
	case 19:
		if !g.irregular {
			return "\x1b[" + g.count() + g.pick("X", "P")
		}
		return "\x1b[" + g.count() + g.pick("@", "P", " @", " A", "'}", "'~")
	case 20:
		return g.mode()
	case 21:
		top := 1 + g.IntN(g.rows)
		return fmt.Sprintf("\x1b[%d;%dr", top, top+g.IntN(g.rows-top+2))
	case 22:
		return g.pick("\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1b=", "\x1b>", "\x1b#8", "\x1b\\")
	case 23:
		return g.pick("\x0e", "\x0f", "\x1bn", "\x1bo", "\x1b|", "\x1b}", "\x1b~", "\x1b%G",
			"\x1b"+g.pick("(", ")", "*", "+", "-", ".", "/")+g.pick("0", "A", "B", "4", "C", "R", "Q", "K", "Y", "E", "Z", "H", "=", "<"))
	case 24:
		return g.osc()
	case 25:
		return g.pick("\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[5n", "\x1b[?6n", "\x1b[?25$p", "\x1b[4$p", "\x1b[?1049$p", "\x1b[?7$p", "\x1b[18t", "\x1b[>q")
	case 26:
		return g.pick("\x1b[g", "\x1b[3g", "\x1b[0g", "\x1bH", "\x1b["+g.num()+" q", "\x1b[1\"q", "\x1b[0\"q", "\x1b[2\"q")
	case 27:
		return g.pick("\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l", "\x1b[?1048h", "\x1b[?1048l")
	case 28:
		return g.broken()
	default:
		return g.pick("\x1b[3J", "\x1b[!p", "\x1bc", "\x1b[2J", "\x1b[H", "\x1b[J", "\x1b[1J\x1b[H")
	}
}

func (g *generator) sgr() string {
	var parts []string
	for range 1 + g.IntN(3) {
		parts = append(parts, g.pick("", "0", "1", "2", "3", "4", "5", "7", "8", "9", "21", "22", "23", "24", "25", "27", "28", "29",
			"31", "32", "37", "39", "41", "44", "47", "49", "53", "55", "58;5;9", "58:2::1:2:3", "59", "4:3", "4:0", "4:5", "4:9", "4:",
			"91", "97", "100", "107", "38;5;200", "48;5;17", "38;2;1;2;3", "48;2;250;128;3", "38:2:9:8:7", "48:5:99", "38:2::9:8:7", "38", "38;5", "38;2;1", "48:2", "58;2;255;0;1", "999"))
	}
	return strings.Join(parts, ";")
}

func (g *generator) mode() string {
	if g.IntN(4) == 0 {
		m := g.pick("4", "20")
		if m == "4" && !g.irregular {
			m = "12"
		}
		return "\x1b[" + m + g.pick("h", "l")
	}
	return "\x1b[?" + g.pick("1", "2", "6", "7", "12", "25", "45", "66", "9", "1000", "1002", "1003", "1004", "1006", "1016", "2004", "2026", "1;25", "6") + g.pick("h", "l")
}

func (g *generator) osc() string {
	end := g.pick("\x07", "\x1b\\", "\u009c", "\x18", "\x1b[1m")
	return "\x1b]" + g.pick("0;title", "2;t\u00e9", "8;;http://a", "8;;http://a", "8;;", "8;;", "8;id=1;http://b;c", "8;id=1;http://b;c", "8;x=1:id=2;u", "8; ;", "8;a;",
		"4;1;#123456", "4;1;rgb:1/2/3;300;#fff;2;#abc", "104", "104;1", "10;#010203", "11;rgb:ff/00/80;#111111", "12;#abcabcabc", "110", "111", "112",
		"7;file://h/tmp", "133;A", "133;A", "133;C", "133;D;1", "633;E;ls \\x3b", "633;P;Cwd=/x", "1337;CurrentDir=/y", "52;c;?", ";", "x;y", "0", "4;1;?", "10;?") + end
}

// broken returns sequences that end in an error, are too long or contain controls.
func (g *generator) broken() string {
	return g.pick("\x1b[1\n2H", "\x1b[1;\r3H", "\x1b[?", "\x1b[1;2", "\x1b", "\x1b(", "\x1b]0;ab", "\x1bP1$q", "\x1bPq#0;2\x1b\\", "\x1b_apc", "\x1b^pm\x1b\\",
		"\x1bX sos \x1b\\", "\x1b[<1;2M", "\x1b[1:2:3H", "\x1b[;;;;5H", "\x1b[é", "\x1b_é", "\x1bP\x1b[2A", "\x1b[?1;?2h", "\x1b[   q", "\x1b[1$$p", "\x1b[\x7f3C",
		"\x1b["+strings.Repeat("1;", 40)+"7m", "\x1b["+strings.Repeat("4:3", 40)+"m", "\x1b[38;2;1;2;3;4;5;6;7;8;9m", "\x1b[3\x1b[4D", "\x18", "\x1a", "\x1b[1;1\x18H", "\u0090+q\u009c", "\u009d0;c1\u009c")
}
