package browser

import "time"

// qualities of the JPEGs of a moving page, the best first: 60 is 145 to 220 KB at 1280×720
// and reaches 58 frames a second, measured; a still is sent sharp.
var qualities = []int{60, 45, 30, 20}

const (
	// lateAfter is two frames at 30 a second: a picture that is painted later lags behind
	// the hand that moves the page.
	lateAfter = 66 * time.Millisecond
	// soonWithin is one such frame.
	soonWithin = 33 * time.Millisecond
	// lateInARow and soonInARow are the frames after which the quality changes. It falls
	// quickly and rises slowly, so that it does not swing.
	lateInARow = 8
	soonInARow = 60
	lowerEvery = time.Second
	raiseEvery = 5 * time.Second
)

// castPace chooses the quality of a cast by how old its pictures are when the quickest pane
// has painted them. It is pure: times are handed in, and its owner guards it. Chromium
// itself leaves out what panes are too slow for.
type castPace struct {
	at      int // in qualities
	late    int
	soon    int
	changed time.Time
}

func (p *castPace) quality() int { return qualities[p.at] }

// painted takes in the age of a picture, and reports whether the quality is another one now.
func (p *castPace) painted(age time.Duration, now time.Time) bool {
	switch {
	case age > lateAfter:
		p.late, p.soon = p.late+1, 0
	case age < soonWithin:
		p.late, p.soon = 0, p.soon+1
	default:
		p.late, p.soon = max(p.late-1, 0), 0
	}
	switch {
	case p.late >= lateInARow && p.at+1 < len(qualities) && now.Sub(p.changed) >= lowerEvery:
		p.at++
	case p.soon >= soonInARow && p.at > 0 && now.Sub(p.changed) >= raiseEvery:
		p.at--
	default:
		return false
	}
	p.late, p.soon, p.changed = 0, 0, now
	return true
}
