package dialog

import "strings"

// How much of a text is read, in bytes, and how much of it stands in the dialog at once,
// in characters. GTK lays out the 32 KiB below in some tens of milliseconds on its one
// thread; a megabyte would hold the window for seconds.
const (
	mostOfText = 8 << 10
	mostFull   = 32 << 10
	mostFacts  = 12
	mostTitle  = 160
	mostTarget = 240
	mostFact   = 180
)

// face is a request as it is drawn: every character seen, every text bounded.
type face struct {
	title, target, note string
	facts               []Fact
	full                string // everything that target and facts leave out; empty: nothing is left out
	noAllow             bool
}

func faceOf(r Request) face {
	f := face{noAllow: r.ReviewOnly || strings.TrimSpace(r.Target) == ""}
	var full []string
	left := mostFull
	// part adds a text with the length that it may have, and the whole of it to full.
	name := func(text string) (string, bool) {
		all, whole := named(text, min(mostOfText, left))
		left = max(left-len(all), 0)
		return all, whole
	}
	part := func(label, text, more string, most int) string {
		all, whole := name(text)
		short, cut := elided(all, most/2, most/2)
		if more != "" {
			var wholly bool
			all, wholly = name(more)
			whole, cut = whole && wholly, true
		}
		if !whole {
			all += " ‹the rest is not shown here›"
			f.noAllow = true
		}
		if cut || !whole {
			full = append(full, label+"\n"+all)
		}
		return short
	}
	f.target = part("What", r.Target, "", mostTarget)
	f.title = part("Title", r.Title, "", mostTitle)
	for i, fact := range r.Facts {
		if i == mostFacts {
			f.noAllow = true
			f.facts = append(f.facts, Fact{Label: "More", Text: "The rest is in Loop."})
			break
		}
		f.facts = append(f.facts, Fact{Label: fact.Label, Text: part(fact.Label, fact.Text, fact.Whole, mostFact)})
	}
	f.full = strings.Join(full, "\n\n")
	f.note, _ = named(r.Note, mostFact)
	if f.noAllow {
		f.note = strings.TrimSpace("It can be allowed only in Loop, which shows all of it. " + f.note)
	}
	return f
}
