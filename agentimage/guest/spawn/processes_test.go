//go:build linux

package spawn

import "testing"

const statTail = " S 41 42 43 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10"

func TestParseStat(t *testing.T) {
	for name, comm := range map[string]string{
		"plain": "(sh)", "spaces": "(my prog)", "parens": "(a) S 1 (b)", "newline": "(a\nb)", "forged": "() S 1 1 1 1)",
	} {
		p, ok := parseStat(77, []byte("77 "+comm+statTail))
		if !ok || p != (process{pid: 77, ppid: 41, group: 42, session: 43, state: 'S', start: 123456}) {
			t.Errorf("%s: %+v %v", name, p, ok)
		}
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x)", "1 (x) S", "1 (x) SS 1 1", "1 (x) S x" + statTail} {
		if p, ok := parseStat(1, []byte(bad)); ok {
			t.Errorf("%q gave %+v", bad, p)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("77 (sh)" + statTail))
	f.Add([]byte("1 ()) Z 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, ok := parseStat(5, data); ok && (p.pid != 5 || p.ppid < 0) {
			t.Fatalf("%+v", p)
		}
	})
}
