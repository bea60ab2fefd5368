package engine

import (
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestWordsOfAStartThatFailed(t *testing.T) {
	spec := core.ExecSpec{Argv: []string{"nosh"}, Dir: "/nope"}
	const oci = "OCI runtime exec failed: exec failed: unable to start container process: "
	for words, want := range map[string]core.Code{
		oci + `exec: "nosh": executable file not found in $PATH: unknown`:                            core.CodeNotFound,
		oci + `exec: "/bin/nosh": stat /bin/nosh: no such file or directory: unknown`:                core.CodeNotFound,
		oci + `chdir to cwd ("/nope") set in config.json failed: no such file or directory: unknown`: core.CodeDir,
		oci + `exec: "/etc/passwd": permission denied: unknown`:                                      core.CodeInvalid,
		`unable to find user x: no matching entries in passwd file`:                                  core.CodeInvalid,
		"": core.CodeInternal,
	} {
		f := core.AsFailure(startFailure(spec, words))
		if f.Code != want || f.Cause == "" || f.Remedy == "" {
			t.Errorf("%s: %+v", words, f)
		}
	}
}

func TestSweptLinesAreHostile(t *testing.T) {
	s := sweeper{sids: []string{"9"}}
	left := s.parse("12 12 sh\n13 0 a b\n14 1 init\n-1 12 x\n15 9 y\x1b]0;z\x07\n1\n\n99999999999 1 x\nswept\n")
	if want := []string{"sh (12)", "a b (13)", "init (14)", "y]0;z (15)"}; !slices.Equal(left, want) {
		t.Errorf("%q", left)
	}
	if want := []string{"9", "12"}; !slices.Equal(s.sids, want) {
		t.Errorf("%q", s.sids)
	}
	var many strings.Builder
	for i := range 1000 {
		many.WriteString("7 " + strings.Repeat("1", 1+i%9) + string(rune('0'+i/9%10)) + " x\n")
	}
	if s.parse(many.String()); len(s.sids) > 64 {
		t.Error(len(s.sids))
	}
}

func FuzzSwept(f *testing.F) {
	f.Add("12 12 sh\nswept\n")
	f.Add("0 0 \n \n")
	f.Fuzz(func(t *testing.T, out string) {
		s := sweeper{}
		for _, l := range s.parse(out) {
			if strings.ContainsAny(l, "\x1b\n\x00") {
				t.Fatalf("%q", l)
			}
		}
		for _, sid := range s.sids {
			if !number(sid) {
				t.Fatalf("%q", sid)
			}
		}
	})
}
