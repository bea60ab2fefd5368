//go:build linux

package initd

import (
	"strings"
	"testing"
)

// TestMisplaced: what the host wants mounted is there, and in nothing that the image brought.
func TestMisplaced(t *testing.T) {
	line := func(at string) string { return "36 35 98:0 / " + at + " rw,noatime - ext3 /dev/root rw\n" }
	all := line("/") + line("/proc") + line("/run") + line("/opt/loop/bin") + line(`/home/ana/a\040b`) + line("/home/ana/a\\040b/.loop")
	places := "/opt/loop/bin\n/run\n/home/ana/a b\n~/home/ana/a b/.loop\n"
	if why := misplaced(all, places); why != "" {
		t.Errorf("as it is to be: %s", why)
	}
	if why := misplaced(all, ""); why != "" {
		t.Errorf("a host that says nothing: %s", why)
	}
	for want, mounts := range map[string]string{
		"a link on the way to /opt/loop/bin":         strings.Replace(all, "/opt/loop/bin", "/tmp/x/bin", 1),
		"a link on the way to /run":                  strings.Replace(all, " /run ", " /home/x ", 1),
		"a link on the way to /home/ana/a b":         strings.Replace(all, `/home/ana/a\040b `, `/tmp/ana/a\040b `, 1),
		"a volume at /opt, above /opt/loop/bin":      all + line("/opt"),
		"a volume at /home/ana, above /home/ana/a b": all + line("/home/ana"),
	} {
		if why := misplaced(mounts, places); !strings.Contains(why, want) {
			t.Errorf("%q is not in %q", want, why)
		}
	}
}

func FuzzMisplaced(f *testing.F) {
	f.Add("36 35 98:0 / /a\\04 rw - ext3 x rw\n", "/a\n~/b\n\n")
	f.Fuzz(func(_ *testing.T, info, places string) { misplaced(info, places) })
}
