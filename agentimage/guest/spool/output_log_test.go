//go:build linux

package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
	"loop/backend/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// follow reads the log from off to its end.
func follow(t *testing.T, l *Log, off int64, step int) []byte {
	t.Helper()
	var out []byte
	buf := make([]byte, step)
	for {
		n, err := l.Next(t.Context(), buf, off)
		out = append(out, buf[:n]...)
		off += int64(n)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Errorf("next at %d: %v", off, err)
			return out
		}
	}
}

func newTestFile(t *testing.T, limit int64) *Log {
	t.Helper()
	l, err := NewFile(filepath.Join(t.TempDir(), "a.out"), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestFollowersSeeEveryByte has readers at many offsets while a writer writes.
func TestFollowersSeeEveryByte(t *testing.T) {
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(rand.IntN(256))
	}
	l := newTestFile(t, 1<<30)
	r, w := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { l.Drain(t.Context(), r) })
	for range 4 {
		wg.Go(func() {
			if got := follow(t, l, 0, 1+rand.IntN(100_000)); !bytes.Equal(got, data) {
				t.Errorf("got %d bytes of %d, or others", len(got), len(data))
			}
		})
	}
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(50_000))
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	_ = w.Close()
	wg.Wait()
	if got := follow(t, l, 2<<20, 4096); !bytes.Equal(got, data[2<<20:]) {
		t.Error("a late reader saw something else")
	}
}

func TestRing(t *testing.T) {
	l := NewRing(10)
	l.Drain(t.Context(), bytes.NewReader([]byte("abc")))
	if got := follow(t, l, 0, 2); string(got) != "abc" {
		t.Fatalf("%q", got)
	}
	for size := 1; size < 64; size++ {
		l := NewRing(10)
		var all []byte
		for i := range 20 {
			piece := bytes.Repeat([]byte{byte('a' + i)}, size)
			all = append(all, piece...)
			l.appendRing(piece)
			base, end, _ := l.State()
			if end != int64(len(all)) || base != max(0, end-10) {
				t.Fatalf("size %d: %d..%d after %d", size, base, end, len(all))
			}
			buf := make([]byte, 32)
			n, err := l.Next(t.Context(), buf, base)
			if err != nil || !bytes.Equal(buf[:n], all[base:]) {
				t.Fatalf("size %d: %q, want %q (%v)", size, buf[:n], all[base:], err)
			}
			if base > 0 {
				if _, err := l.Next(t.Context(), buf, base-1); !errors.Is(err, ErrGap) {
					t.Fatalf("below the floor: %v", err)
				}
			}
		}
	}
}

func TestFullSpoolPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestFile(t, 100)
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() { l.Drain(context.Background(), r); close(done) }()
		_, _ = w.Write(make([]byte, 150))
		wrote := make(chan struct{})
		go func() { _, _ = w.Write(make([]byte, 50)); _ = w.Close(); close(wrote) }()
		synctest.Wait()
		select {
		case <-wrote:
			t.Fatal("the process was not held up")
		default:
		}
		if _, end, paused := l.State(); paused != wire.PausedSpool || end != 150 {
			t.Fatalf("end %d, paused %q", end, paused)
		}
		l.Lift() // the process has ended, and the rest of its pipe is kept
		<-wrote
		<-done
		if _, end, paused := l.State(); paused != "" || end != 200 {
			t.Fatalf("end %d, paused %q", end, paused)
		}
	})
}

func TestFullSpoolCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTestFile(t, 1)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { l.Drain(ctx, bytes.NewReader(make([]byte, wire.MaxChunk*2))); close(done) }()
		synctest.Wait()
		cancel()
		<-done
		if !ended(l) {
			t.Fatal("not ended")
		}
	})
}

// fullDisk is a file on a disk with room for n more bytes.
type fullDisk struct {
	*os.File
	mu   sync.Mutex
	room int
}

func (d *fullDisk) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(p), d.room)
	d.room -= n
	if n, err := d.File.WriteAt(p[:n], off); err != nil {
		return n, err
	}
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestFullDiskIsTriedAgain(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		disk := &fullDisk{File: f, room: 5}
		l := newFile(disk, 1<<20)
		done := make(chan struct{})
		go func() { l.Drain(context.Background(), bytes.NewReader([]byte("hello, world"))); close(done) }()
		<-time.After(10 * retryDisk) // synctest's clock, not real time
		if _, end, paused := l.State(); paused != wire.PausedDisk || end != 5 {
			t.Fatalf("end %d, paused %q", end, paused)
		}
		disk.mu.Lock()
		disk.room = 100
		disk.mu.Unlock()
		<-done
		if _, end, paused := l.State(); paused != "" || end != 12 {
			t.Fatalf("end %d, paused %q", end, paused)
		}
		if got := follow(t, l, 0, 100); string(got) != "hello, world" {
			t.Fatalf("%q", got)
		}
		_ = l.Close()
	})
}

func TestSpoolFileIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.out")
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFile(path, 1); !errors.Is(err, os.ErrExist) {
		t.Fatalf("a link in the file's place: %v", err)
	}
}

// TestCutFile has somebody on the host truncate the spool.
func TestCutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.out")
	l, err := NewFile(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	l.Drain(t.Context(), bytes.NewReader([]byte("hello")))
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(t.Context(), make([]byte, 5), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("%v", err)
	}
}

func BenchmarkSpool(b *testing.B) {
	l, err := NewFile(filepath.Join(b.TempDir(), "x"), 1<<40)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	buf := make([]byte, wire.MaxChunk)
	b.SetBytes(int64(len(buf)))
	off := int64(0)
	for b.Loop() {
		l.append(b.Context(), buf)
		n, err := l.Next(b.Context(), buf, off)
		if err != nil {
			b.Fatal(err)
		}
		off += int64(n)
		if off > 64<<20 { // do not fill the disk
			l.mu.Lock()
			l.end = 0
			l.mu.Unlock()
			off = 0
		}
	}
}

func ended(l *Log) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}
