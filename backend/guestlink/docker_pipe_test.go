//go:build docker

package guestlink_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/guestlink"
)

// TestPipesOverTheLink talks to a program at its descriptors 3 and 4, as one drives a
// browser. Links come and go, and the container is one as Loop makes them.
func TestPipesOverTheLink(t *testing.T) {
	eachAgent(t, func(t *testing.T, agent int) {
		b := newBox(t, boxOptions{agent: agent})
		l, _ := b.link(t, guestlink.Options{})
		id := core.SpawnID(core.NewID())
		if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Argv: []string{"sh", "-c",
			`while read x; do echo "$x heard" >&4; done <&3`},
			Pipes: []core.SpawnPipe{{FD: 3}, {FD: 4, Write: true}}}); err != nil {
			t.Fatal(err)
		}
		var at int64
		for i := range 3 {
			in, err := l.Feed(t.Context(), id, 3)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(in, "word %d\n", i); err != nil {
				t.Fatal(err)
			}
			out, err := l.ReadHeld(t.Context(), id, "4", at)
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if want := fmt.Sprintf("word %d ", i); err != nil || len(line) < len(want) || line[:len(want)] != want {
				t.Fatalf("%q %v", line, err)
			}
			at += int64(len(line))
			if i == 2 {
				if err := in.Close(); err != nil {
					t.Fatal(err)
				}
				break
			}
			_ = l.Close() // the program's pipe stays open
			l, _ = b.link(t, guestlink.Options{})
		}
		if exit, err := l.Wait(t.Context(), id); err != nil || exit.Code != 0 {
			t.Fatalf("%+v %v", exit, err)
		}
	})
}

// TestPauseOverTheLink reads far more than a ring keeps, over three links. The first of
// them reads late.
func TestPauseOverTheLink(t *testing.T) {
	b := newBox(t, boxOptions{agent: 1000})
	l, _ := b.link(t, guestlink.Options{})
	id := core.SpawnID(core.NewID())
	const size = 40 << 20
	if _, err := l.Spawn(t.Context(), core.SpawnRequest{ID: id, Dir: "/", Stdio: core.StdioPipes, Keep: core.KeepPause,
		Argv: []string{"sh", "-c", fmt.Sprintf("head -c %d /dev/zero; echo bye >&2", size)}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for waits := false; !waits; {
		all, err := l.Spawns(ctx)
		if err != nil {
			t.Fatal(err)
		}
		waits = len(all) == 1 && all[0].Paused != ""
	}
	var at int64
	for _, most := range []int64{5 << 20, 9 << 20, 0} {
		r, err := l.ReadHeld(ctx, id, "out", at)
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := r.(interface{ Offset() int64 }); !ok || o.Offset() != at {
			t.Fatalf("begins elsewhere than %d", at)
		}
		from := io.Reader(r)
		if most > 0 {
			from = io.LimitReader(r, most)
		}
		n, err := io.Copy(io.Discard, from)
		if err != nil {
			t.Fatal(err)
		}
		at += n
		if most > 0 {
			_ = l.Close()
			l, _ = b.link(t, guestlink.Options{})
		}
	}
	if at != size {
		t.Fatalf("%d bytes of %d", at, size)
	}
	r, err := l.ReadHeld(ctx, id, "err", 0)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); string(text) != "bye\n" || err != nil {
		t.Fatalf("%q %v", text, err)
	}
}
