//go:build linux

package supervise

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { acts["reopens"] = actReopens }

// actReopens opens one file from several threads and prints how often it got another one.
func actReopens(args []string) {
	var want unix.Stat_t
	_ = unix.Stat(args[0], &want)
	var wrong atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			runtime.LockOSThread()
			for range 5000 {
				fd, err := unix.Open(args[0], unix.O_RDONLY, 0)
				var st unix.Stat_t
				if err != nil || fd < 3 || unix.Fstat(fd, &st) != nil || st.Ino != want.Ino {
					wrong.Add(1)
				}
				if fd > 2 {
					_ = unix.Close(fd)
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(wrong.Load())
}

// A signal to the thread that gives a descriptor, as the runtime sends them to its own,
// must not make the caller's open return 0 without one.
func TestSignalsWhileDescriptorsAreGiven(t *testing.T) {
	if !keeper(t) {
		return
	}
	path := filepath.Join(os.Getenv(dirVar), "file")
	asAgent(t, func() { _ = os.WriteFile(path, []byte("text"), 0o644) })
	p := start(t, Options{}, "reopens", path)
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		// Without a pause, a busy computer does nothing else than to handle signals. A round
		// that took long is followed by a long one.
		pause := time.NewTimer(0)
		defer pause.Stop()
		for {
			select {
			case <-over:
				return
			case <-pause.C:
			}
			began := time.Now()
			tasks, _ := os.ReadDir("/proc/self/task")
			for _, task := range tasks {
				tid, _ := strconv.Atoi(task.Name())
				_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
			}
			pause.Reset(max(50*time.Microsecond, 3*time.Since(began)))
		}
	})
	got := p.wait(t)
	close(over)
	wg.Wait()
	if strings.TrimSpace(got) != "0" {
		t.Errorf("of 20000 opens %s gave another file, or none", strings.TrimSpace(got))
	}
}
