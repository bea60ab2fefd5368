package store

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestTimelinePagesAreBounded reads a timeline of large events backwards. Every page
// keeps within its bytes, and together the pages are complete.
func TestTimelinePagesAreBounded(t *testing.T) {
	s := open(t)
	addChannel(t, s, "c")
	ctx := context.Background()
	const n = 150
	for i := range n {
		text := fmt.Sprint(i)
		switch {
		case i == 40: // larger than a whole page
			text += strings.Repeat("x", maxPageBytes)
		case i%3 == 0:
			text += strings.Repeat("y", 1<<20)
		}
		if _, err := s.AddEvents(ctx, core.NewEvent(core.EventNotice, "c", "", epoch, core.Notice{Text: text})); err != nil {
			t.Fatal(err)
		}
	}
	var all []core.Event
	pages := 0
	for before, more := int64(0), true; more; pages++ {
		var page []core.Event
		var err error
		if page, more, err = s.Timeline(ctx, "c", before, 100); err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, e := range page {
			size += len(e.Data)
		}
		if len(page) == 0 || len(page) > 100 || size > maxPageBytes && len(page) > 1 {
			t.Fatalf("a page of %d events and %d bytes", len(page), size)
		}
		before = page[0].ID
		all = append(page, all...)
	}
	if len(all) != n || pages < 7 {
		t.Fatalf("%d events in %d pages", len(all), pages)
	}
	for i, e := range all {
		if i > 0 && e.ID <= all[i-1].ID || !strings.Contains(string(e.Data[:min(len(e.Data), 40)]), fmt.Sprintf(`"text":"%d`, i)) {
			t.Fatalf("event %d is %.60s", i, e.Data)
		}
	}
}
