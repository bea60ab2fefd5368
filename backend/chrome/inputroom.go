package chrome

import "time"

// answerPatience is how long a page may answer nothing of a person's input while it has
// maxUnanswered of it; then it hangs.
const answerPatience = 5 * time.Second

// hand is what a tab has of a person's input. Fields are guarded by the lane's mu.
type hand struct {
	unanswered int
	hangs      bool // it gets no more until it answers
}

// room waits until a tab may be sent one more command, and counts it as unanswered. It
// reports false for a tab that hangs or is not the active one any more.
func (l *inputLane) room(t *tab) bool {
	late := time.NewTimer(answerPatience)
	defer late.Stop()
	for {
		l.b.mu.Lock()
		active, moved := l.b.active == t, l.b.moved
		l.b.mu.Unlock()
		l.mu.Lock()
		if t.hand.unanswered < maxUnanswered {
			t.hand.unanswered++
			l.unanswered++
			l.mu.Unlock()
			return true
		}
		if t.hand.hangs || !active {
			l.mu.Unlock()
			return false
		}
		if l.answer == nil {
			l.answer = make(chan struct{})
		}
		answer := l.answer
		l.mu.Unlock()
		select {
		case <-answer:
			late.Reset(answerPatience)
		case <-moved:
		case <-late.C:
			l.mu.Lock()
			t.hand.hangs = t.hand.unanswered >= maxUnanswered
			l.mu.Unlock()
		case <-l.b.conn.ended:
			return false
		}
	}
}

// heard counts an answer of a tab. The caller holds mu.
func (l *inputLane) heard(t *tab) {
	t.hand.unanswered--
	t.hand.hangs = false
	if l.answer != nil {
		close(l.answer)
		l.answer = nil
	}
	l.unanswered--
	if l.unanswered == 0 && l.calm != nil {
		close(l.calm)
		l.calm = nil
	}
}
