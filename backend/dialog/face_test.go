package dialog

import (
	"strings"
	"testing"
)

func TestAFaceThatFitsLeavesNothingOut(t *testing.T) {
	f := faceOf(Request{Title: "git wants to write", Target: "/a", Facts: []Fact{{Label: "Who", Text: "git <b>"}}, Note: "Denied at 14:09."})
	if f.full != "" || f.noAllow || f.target != "/a" || f.facts[0] != (Fact{Label: "Who", Text: "git <b>"}) || f.note != "Denied at 14:09." {
		t.Errorf("%+v", f)
	}
}

// The end of a path says what it is; all of it is in the full view.
func TestALongTargetKeepsItsEndAndIsShownInFull(t *testing.T) {
	long := "/home" + strings.Repeat("/padding", 200) + "/.ssh/authorized_keys"
	f := faceOf(Request{Target: long, Facts: []Fact{{Label: "Who", Text: "sh"}}})
	if !strings.HasPrefix(f.target, "/home/padding") || !strings.HasSuffix(f.target, "/.ssh/authorized_keys") || len(f.target) > 300 {
		t.Errorf("target %q", f.target)
	}
	if !strings.Contains(f.full, long) || strings.Contains(f.full, "Who") || f.noAllow {
		t.Errorf("full %q, noAllow %v", f.full, f.noAllow)
	}
}

func TestWhatAFactStandsForIsShownInFull(t *testing.T) {
	f := faceOf(Request{Target: "/a", Facts: []Fact{{"Who", "claude → make", "/bin/sh -c eval \u202e'make'"}}})
	if f.facts[0].Text != "claude → make" || f.full != "Who\n/bin/sh -c eval ‹U+202E›'make'" || f.noAllow {
		t.Errorf("%+v", f)
	}
	f = faceOf(Request{Target: "/a", Facts: []Fact{{"Who", strings.Repeat("x", mostOfText+1), "short"}}})
	if !f.noAllow {
		t.Error("what is shown is not all of it, and can be allowed")
	}
}

// What the dialog does not show, it does not allow.
func TestWhatIsNotShownCannotBeAllowed(t *testing.T) {
	many := make([]Fact, mostFacts+1)
	for name, r := range map[string]Request{
		"a target of a megabyte": {Target: strings.Repeat("x", 1<<20)},
		"a long command":         {Target: "/a", Facts: []Fact{{Label: "Who", Text: strings.Repeat("x", mostOfText+1)}}},
		"a long title":           {Title: strings.Repeat("x", mostOfText+1), Target: "/a"},
		"many long facts":        {Target: "/a", Facts: []Fact{long("a"), long("b"), long("c"), long("d"), long("e")}},
		"too many facts":         {Target: "/a", Facts: many},
		"no target":              {Target: " "},
		"it was told so":         {Target: "/a", ReviewOnly: true},
	} {
		f := faceOf(r)
		if !f.noAllow || !strings.Contains(f.note, "only in Loop") {
			t.Errorf("%s: %+v", name, f)
		}
		if len(f.full) > 2*mostFull || len(f.facts) > mostFacts+1 {
			t.Errorf("%s: full has %d bytes, %d facts", name, len(f.full), len(f.facts))
		}
	}
}

func long(label string) Fact { return Fact{Label: label, Text: strings.Repeat("x", mostOfText)} }

// Names take more bytes than what they name; they count against the bound.
func TestNamesAreBounded(t *testing.T) {
	f := faceOf(Request{Target: strings.Repeat("\x01", mostOfText), Facts: []Fact{{Label: "Who", Text: strings.Repeat("\u202e", mostOfText)}}})
	if !f.noAllow || len(f.full) > 4*mostFull {
		t.Errorf("noAllow %v, full %d bytes", f.noAllow, len(f.full))
	}
}
