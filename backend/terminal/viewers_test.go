package terminal

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loop/backend/core"
	"loop/backend/soaktest"
	"loop/backend/terminal/vt"
)

// mirror is a viewer's terminal. It handles frames as the page does.
type mirror struct {
	v     core.TerminalViewer
	rand  *rand.Rand
	term  *vt.Terminal
	at    int64
	given int64
	snaps int
}

func (m *mirror) take(f core.TerminalFrame) error {
	switch f.Kind {
	case core.FrameSnapshot:
		m.snaps++
		m.term = vt.New(int(f.Cols), int(f.Rows), vt.Options{})
		m.at = f.Offset
	case core.FrameResized:
		if f.Offset != m.at {
			return fmt.Errorf("a size for %d at %d", f.Offset, m.at)
		}
		m.term.Resize(int(f.Cols), int(f.Rows))
	case core.FrameOutput:
		if f.Offset != m.at {
			return fmt.Errorf("bytes of %d at %d", f.Offset, m.at)
		}
		m.at += int64(len(f.Data))
	}
	_, _ = m.term.Write(f.Data)
	m.given += int64(len(f.Data))
	return nil
}

// run follows the stream to its end. Now and then it is slow, stalls, hides, or asks
// for a new snapshot.
func (m *mirror) run(t *testing.T) error {
	for {
		f, err := m.v.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = m.take(f)
		}
		if err != nil {
			return err
		}
		switch m.rand.IntN(60) {
		case 0:
			m.v.Resync()
		case 1:
			m.v.Show(false)
			<-time.After(time.Duration(m.rand.IntN(3000)) * time.Millisecond)
			m.v.Show(true)
		case 2:
			<-time.After(time.Duration(m.rand.IntN(12)) * time.Second)
		case 3, 4, 5:
			<-time.After(time.Duration(m.rand.IntN(50)) * time.Millisecond)
			continue // acknowledged later
		}
		m.v.Ack(m.given)
	}
}

// scribble makes output that may end anywhere, with sequences that change the whole
// screen.
func scribble(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(200) {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "\x1b[%d;%dH", 1+r.IntN(40), 1+r.IntN(120))
		case 1:
			fmt.Fprintf(&b, "\x1b[%d;38;5;%dm", r.IntN(9), r.IntN(256))
		case 2:
			b.WriteString([]string{"\x1b[2J", "\x1b[K", "\x1b[3;9r", "\x1b[r", "\x1b[L", "\x1b[M", "\x1b]133;A\a", "\x1b]2;t\a"}[r.IntN(8)])
		case 3:
			b.WriteString([]string{"é", "—", "│"}[r.IntN(3)])
		case 4:
			b.WriteString(strings.Repeat("wide ", r.IntN(60)))
		default:
			b.WriteString("line of text\r\n")
		}
	}
	s := b.String()
	return s[:r.IntN(len(s)+1)]
}

// TestViewersSeeTheSame: whatever viewers do and whenever they come, in the end they
// show the session's own screen, in its size.
func TestViewersSeeTheSame(t *testing.T) {
	for seed := range uint64(soaktest.Of(10)) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s, f, _ := rig(t, Options{})
			info := create(t, s, core.TerminalSpec{})
			var wg sync.WaitGroup
			var all []*mirror
			join := func() {
				m := &mirror{v: attach(t, s, info.ID, r.IntN(4) > 0), rand: rand.New(rand.NewPCG(seed, uint64(len(all)+2)))}
				all = append(all, m)
				wg.Go(func() {
					if err := m.run(t); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				})
			}
			join()
			for range 80 {
				f.print(scribble(r))
				switch r.IntN(12) {
				case 0:
					if err := s.Resize(t.Context(), info.ID, uint16(20+r.IntN(100)), uint16(5+r.IntN(40))); err != nil {
						t.Fatal(err)
					}
				case 1:
					if len(all) < 6 {
						join()
					}
				case 2:
					f.print(strings.Repeat("y\r\n", r.IntN(250<<10)))
				case 3:
					if err := s.Input(t.Context(), info.ID, []byte("k")); err != nil {
						t.Fatal(err)
					}
				case 4:
					<-time.After(time.Duration(r.IntN(200)) * time.Millisecond)
				}
			}
			f.exit()
			wg.Wait()
			synctest.Wait()
			tt, err := s.session(info.ID)
			if err != nil {
				t.Fatal(err)
			}
			want := string(tt.screen.Snapshot())
			for i, m := range all {
				if got := string(m.term.Snapshot()); got != want && m.at == tt.ring.end {
					t.Errorf("seed %d, viewer %d of %d (%d snapshots): %s", seed, i, len(all), m.snaps, firstDifference(got, want))
				} else if m.at != tt.ring.end {
					t.Errorf("seed %d, viewer %d ended at %d of %d", seed, i, m.at, tt.ring.end)
				}
			}
		})
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\r"), strings.Split(want, "\r")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n%.200q\nwant\n%.200q", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
