package hostpty

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// row is a process as a table shows it.
type row struct {
	state       byte
	ppid, flags int
	size, env   int // of its memory, and where its environment ends in it
	environ     string
}

func (r row) in(t *testing.T, at table, pid int) {
	t.Helper()
	dir := filepath.Join(string(at), strconv.Itoa(pid))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%d (x) %c %d 1 1 0 -1 %d 0 0 0 0 0 0 0 0 20 0 1 0 7%d %d", pid, r.state, r.ppid, r.flags, pid, r.size)
	for field := 24; field < 51; field++ {
		line += " 1"
	}
	for name, text := range map[string]string{"stat": line + fmt.Sprintf(" %d 0", r.env), "environ": r.environ} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingIsLeftIsSaidWhenItIsSure: a process that is just becoming a program shows no
// marker, and one that has just ended may have started another that was not listed yet.
// Looks at such moments are not believed; what goes on in that way does not keep a look
// from being believed for ever.
func TestNothingIsLeftIsSaidWhenItIsSure(t *testing.T) {
	const marker = "m"
	env := "A=1\x00" + Marker + "=" + marker + "\x00B=2\x00"
	for name, c := range map[string]struct {
		row         row
		sure, later bool // at the first look, and at the second
		left        int
	}{
		"ours":            {row{'S', 1, 0, 9, 9, env}, true, true, 1},
		"another's":       {row{'S', 1, 0, 9, 9, "A=1\x00"}, true, true, 0},
		"a kernel's":      {row{'S', 2, 0x200000, 0, 0, ""}, true, true, 0},
		"no environment":  {row{'S', 1, 0, 9, 9, ""}, true, true, 0},
		"becoming":        {row{'R', 1, 0, 9, 0, ""}, false, false, 0},
		"ending":          {row{'R', 1, isEnding, 0, 0, ""}, false, true, 0},
		"ending and ours": {row{'R', 1, isEnding, 9, 9, env}, false, true, 1},
		"dead":            {row{'Z', 1, isEnding, 0, 0, ""}, false, true, 0},
	} {
		at, dead := table(t.TempDir()), map[int]string{}
		c.row.in(t, at, 1<<30)
		for look, want := range []bool{c.sure, c.later} {
			if left, sure := at.find(0, marker, nil, dead); sure != want || len(left) != c.left {
				t.Errorf("%s, look %d: sure %v, left %v", name, look+1, sure, left)
			}
		}
	}
	// What the dead one started is found by the look that its end asks for.
	at, dead := table(t.TempDir()), map[int]string{}
	row{'Z', 1, isEnding, 0, 0, ""}.in(t, at, 1<<30)
	_, first := at.find(0, marker, nil, dead)
	row{'S', 1, 0, 9, 9, env}.in(t, at, 1<<30+1)
	if left, sure := at.find(0, marker, nil, dead); first || !sure || !slices.Equal(pids(left), []int{1<<30 + 1}) {
		t.Errorf("sure %v, then %v of %v", first, sure, left)
	}
}

func pids(list []process) (out []int) {
	for _, p := range list {
		out = append(out, p.pid)
	}
	return out
}
