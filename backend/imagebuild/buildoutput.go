package imagebuild

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

// Of a build's output, so many bytes of its beginning and at least so many of its end are kept.
const maxHead, maxTail = 64 << 10, 128 << 10

// output is what one build said. Its methods may be called from any goroutine.
type output struct {
	ref, name string
	began     time.Time

	mu         sync.Mutex
	head, tail []byte
	cut        bool
}

func (o *output) add(line string) {
	if o == nil {
		return
	}
	if len(line) > maxHead/4 {
		line = strings.ToValidUTF8(line[:maxHead/4], "") + "…"
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.cut && len(o.tail) == 0 && len(o.head)+len(line) < maxHead {
		o.head = append(append(o.head, line...), '\n')
		return
	}
	o.tail = append(append(o.tail, line...), '\n')
	if len(o.tail) > 2*maxTail {
		_, rest, _ := bytes.Cut(o.tail[len(o.tail)-maxTail:], []byte("\n"))
		o.tail, o.cut = append(o.tail[:0], rest...), true
	}
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cut {
		return string(o.head) + "[… the middle was not kept …]\n" + string(o.tail)
	}
	return string(o.head) + string(o.tail)
}

// outputs has that of the build that began last, of whatever image.
type outputs struct {
	mu   sync.Mutex
	last *output
}

func (o *outputs) begin(ref, name string) *output {
	o.mu.Lock()
	defer o.mu.Unlock()
	one := &output{ref: ref, name: name, began: time.Now()}
	o.last = one
	return one
}

// Output is all that the latest build of this launch said, but for the middle of a long one.
func (s *Service) Output() core.BuildOutput {
	out := s.opts.out
	out.mu.Lock()
	defer out.mu.Unlock()
	if out.last == nil {
		return core.BuildOutput{}
	}
	return core.BuildOutput{Ref: out.last.ref, Name: out.last.name, BeganAt: out.last.began.UnixMilli(), Text: out.last.text()}
}
