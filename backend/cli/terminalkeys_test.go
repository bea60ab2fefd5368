package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestLeaveKeys(t *testing.T) {
	for _, tc := range []struct {
		key, escape string
		typed       []string // one element per read
		pass        string
		leave       bool
	}{
		{"ctrl-]", "~", []string{"ls\r"}, "ls\r", false},
		{"ctrl-]", "~", []string{"ab\x1dcd"}, "ab", true},
		{"ctrl-]", "~", []string{"~."}, "", true},
		{"ctrl-]", "~", []string{"ls\r", "~", "."}, "ls\r", true},
		{"ctrl-]", "~", []string{"ls\n~."}, "ls\n", true},
		{"ctrl-]", "~", []string{"cd ~.\r"}, "cd ~.\r", false},
		{"ctrl-]", "~", []string{"~", "~", "."}, "~.", false},
		{"ctrl-]", "~", []string{"~", "/x"}, "~/x", false},
		{"ctrl-]", "~", []string{"~", "\r~."}, "~\r", true},
		{"ctrl-]", "~", []string{"\x1b[200~\r~.\x1d\x1b[201~x"}, "\x1b[200~\r~.\x1d\x1b[201~x", false},
		{"ctrl-]", "~", []string{"\x1b[20", "0~\r~.", "\x1b[201~\r~."}, "\x1b[200~\r~.\x1b[201~\r", true},
		{"ctrl-]", "~", []string{"\x1b[93;5u"}, "", true},
		{"ctrl-]", "~", []string{"\x1b[27;5;93~"}, "", true},
		{"ctrl-q", "none", []string{"\x1b[113;5u"}, "", true},
		{"ctrl-q", "none", []string{"~.\x1d", "\x11"}, "~.\x1d", true},
		{"none", "!", []string{"\x1d!."}, "\x1d!.", false},
		{"none", "!", []string{"!."}, "", true},
	} {
		k, err := newLeaveKeys(tc.key, tc.escape)
		if err != nil {
			t.Fatal(err)
		}
		var pass []byte
		leave := false
		for _, p := range tc.typed {
			var more []byte
			more, leave = k.take([]byte(p))
			pass = append(pass, more...)
			if leave {
				break
			}
		}
		if string(pass) != tc.pass || leave != tc.leave {
			t.Errorf("%q: %q %v, want %q %v", tc.typed, pass, leave, tc.pass, tc.leave)
		}
		if k.say() == "" {
			t.Error("no way out is named")
		}
	}
	for _, bad := range [][2]string{{"none", "none"}, {"ctrl-m", "~"}, {"ctrl-[", "~"}, {"ctrl-@", "~"}, {"x", "~"}, {"ctrl-ü", "~"}, {"ctrl-]", "ab"}, {"ctrl-]", "\x1b"}} {
		var usage usageError
		if _, err := newLeaveKeys(bad[0], bad[1]); !errors.As(err, &usage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestScreenFilter(t *testing.T) {
	for _, tc := range []struct{ in, out string }{
		{"plain ÄÖ 界 😀\r\n\t\a\b", "plain ÄÖ 界 😀\r\n\t\a\b"},
		{"\x1b[1;31mred\x1b[m\x1b[2J\x1b[H\x1b[?1049h\x1b[?2004h\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[=1;1u", "\x1b[1;31mred\x1b[m\x1b[2J\x1b[H\x1b[?1049h\x1b[?2004h\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[=1;1u"},
		{"\x1b(B\x1b7\x1b8\x1bM\x1b=\x1b>\x1b#8\x1bc", "\x1b(B\x1b7\x1b8\x1bM\x1b=\x1b>\x1b#8\x1bc"},
		{"a\x1b[cb\x1b[>c\x1b[=c\x1b[0c\x1b[5n\x1b[6n\x1b[?6n\x1b[?2026$p\x1b[1$p\x1b[>q\x1b[>0q\x1b[?u\x1b[?4m\x1b[x\x1bZ\x05z", "abz"},
		{"\x1b[!p\x1b[2 q\x1b[61\"p\x1b[>1n", "\x1b[!p\x1b[2 q\x1b[>1n"},
		// Reports that only some terminals give.
		{"a\x1b[#|\x1b[#R\x1b[1$u\x1b[&u\x1b[1$w\x1b[1*yb", "ab"},
		// Another encoding would turn letters into controls: the second byte of Û is
		// CSI.
		{"\x1b%@Û6n\x1b%G\x1b G\x1b%/Gz", "Û6nz"},
		// These switch on a VT52 mode, a locked keyboard, local echo and a printer.
		{"\x1b[?2l\x1b[?25;02l\x1b[2h\x1b[12l\x1b[4;2h\x1b[5i\x1b[?5iz", "z"},
		{"\x1b[?25l\x1b[?2h\x1b[4h\x1b[20l\x1b[?1;1000h", "\x1b[?25l\x1b[?2h\x1b[4h\x1b[20l\x1b[?1;1000h"},
		// Bytes that are not UTF-8 are dropped, as the page drops them, in strings and
		// in text.
		{"\x1b]0;\x9c\x9b6n\a\x1bPq\x9c\x9b6n\x1b\\\x1bPq~\u009b6n\x1b\\\x1b]0;ok\a", "\x1b]0;6n\x1b\\\x1bPq6n\x1b\\\x1b]0;ok\x1b\\"},
		// OSC 9 is a message, a progress bar or a command.
		{"\x1b]9;done: 7\a\x1b]9;4;1;50\a\x1b]9;7;\"cmd\"\a\x1b]9;5\a", "\x1b]9;done: 7\x1b\\\x1b]9;4;1;50\x1b\\"},
		{"\x1b]52;c;?x\a\x1b]11;??\a", ""},
		{"\x1b[21t\x1b[18t\x1b[14;2t\x1b[8;50;100t\x1b[3;0;0t\x1b[22;0t\x1b[23;0t", "\x1b[22;0t\x1b[23;0t"},
		{"\x1b]0;title\a\x1b]2;t\x1b\\", "\x1b]0;title\x1b\\\x1b]2;t\x1b\\"},
		{"\x1b]11;?\a\x1b]10;?\x1b\\\x1b]4;1;?\a\x1b]4;1;red;2;?\a\x1b]52;c;?\a", ""},
		{"\x1b]11;#fff\a\x1b]52;c;aGk=\a\x1b]8;;http://x?y\alink\x1b]8;;\a", "\x1b]11;#fff\x1b\\\x1b]52;c;aGk=\x1b\\\x1b]8;;http://x?y\x1b\\link\x1b]8;;\x1b\\"},
		{"\x1b]1337;File=:aa\a\x1b]50;?\a\x1b]777;notify\a\x1b]99;x\a", ""},
		{"\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x1bPtmux;\x1b\x1b[c\x1b\\x", "x"},
		{"\x1bP0;1;0q#0;2;0;0;0~\x1b\\", "\x1bP0;1;0q#0;2;0;0;0~\x1b\\"},
		{"\x1b_Gi=1,a=q;x\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\.", "."},
		{"\u009b21t\u009b1m\u009d52;c;?\u009c\u009d0;t\u009c\u0090$qm\u009cx\u0085", "\x1b[1m\x1b]0;t\x1b\\x\x1bE"},
		{"\x9b21t\x80\xff", "21t"},
		{"\xe7\x95x\xf0\x9f", "x"},
		{"\x1b[\x1b[6n\x1b[3\x18m\x1b[6\rn", "m\r"},
		{"\x1b]0;a\x1b[6n\x1b]0;b\x07", "\x1b]0;a\x1b\\\x1b]0;b\x1b\\"},
		{"\x1b\x1b\x1b[6n", ""},
		{"\x1b]52;c;" + strings.Repeat("A", 256<<10) + "\ax", "x"},
		{"\x1b[" + strings.Repeat("1;", 200<<10) + "mx", "x"},
	} {
		for _, step := range []int{1, 3, len(tc.in)} {
			var f screenFilter
			var out []byte
			for p := []byte(tc.in); len(p) > 0; {
				n := min(step, len(p))
				out = append(out, f.filter(p[:n])...)
				p = p[n:]
			}
			if string(out) != tc.out {
				t.Errorf("%.80q in steps of %d: %.200q, want %.80q", tc.in, step, out, tc.out)
			}
		}
	}
}

// FuzzScreenFilter: the filter's output passes again unchanged, however it is cut. It
// holds no query that a terminal would answer.
func FuzzScreenFilter(f *testing.F) {
	for _, seed := range []string{"\x1b[6n", "\x1b]11;?\a", "\x1bP$qm\x1b\\", "\u009b6n", "\x9b6n", "\xc2\x9b6n", "\x1b[\x0d6n", "\xc2\x1b[c", "界\x1b[m", "\x1b]0;\x1b\\", "\x1b_G\x1b\\"} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, p []byte, at int) {
		at = min(max(at, 0), len(p))
		var one, two, again screenFilter
		out := one.filter(p)
		if split := append(two.filter(p[:at]), two.filter(p[at:])...); !bytes.Equal(out, split) {
			t.Fatalf("in two pieces %q, in one %q", split, out)
		}
		if second := again.filter(out); !bytes.Equal(out, second) {
			t.Fatalf("%q becomes %q", out, second)
		}
		for _, ask := range []string{"\x1b[c", "\x1b[6n", "\x1b[5n", "\x1b[?6n", "\x1b[>c", "\x1b[21t", "\x1b]11;?", "\x1b]52;c;?", "\x1bP$q", "\x1bZ", "\u009b", "\x05", "\x1b_"} {
			if bytes.Contains(out, []byte(ask)) {
				t.Fatalf("%q passed in %q", ask, out)
			}
		}
	})
}
