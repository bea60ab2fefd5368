package config

import (
	"slices"
	"strings"
	"testing"
)

// TestEveryFieldIsLabelled: a person finds each field under a name of its own, in one group,
// and by further words.
func TestEveryFieldIsLabelled(t *testing.T) {
	titles := map[string]string{}
	for _, f := range Leaves() {
		if f.Group == "" || f.Title == "" || strings.TrimSpace(f.Words) == "" {
			t.Errorf("%s: group %q, title %q, words %q; add it to labels.go", f.Name, f.Group, f.Title, f.Words)
		}
		at := f.Group + "/" + f.Title
		if other := titles[at]; other != "" {
			t.Errorf("%s and %s are both called %q in one group", f.Name, other, f.Title)
		}
		titles[at] = f.Name
		for _, w := range strings.Fields(f.Words) {
			if n := strings.Count(" "+f.Words+" ", " "+w+" "); n > 1 {
				t.Errorf("%s has the word %q %d times", f.Name, w, n)
			}
		}
		if strings.Contains(f.Title, f.Name) && f.Name != "theme" && len(f.Name) > 6 {
			t.Errorf("%s is called by its own name", f.Name)
		}
	}
	known := map[string]bool{}
	for _, f := range Leaves() {
		known[f.Name] = true
	}
	ids := []string{}
	for _, g := range groups {
		if g.Name == "" || slices.Contains(ids, g.ID) || len(g.labels) == 0 {
			t.Errorf("group %q: %q, %d fields", g.ID, g.Name, len(g.labels))
		}
		ids = append(ids, g.ID)
		for _, l := range g.labels {
			if !known[l.field] {
				t.Errorf("labels.go has %s (or has it twice), which is no field", l.field)
			}
			delete(known, l.field)
		}
	}
	if all := Grouped(); len(all) != len(Leaves()) || all[0].Group != groups[0].ID || !slices.IsSortedFunc(all, func(a, b Field) int {
		return slices.Index(ids, a.Group) - slices.Index(ids, b.Group)
	}) {
		t.Error("the fields are not in the order of the groups")
	}
}
