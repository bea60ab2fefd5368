package chrome

import (
	"fmt"
	"math"
	"testing"
	"time"

	"loop/backend/core"
)

func TestDownloadBounds(t *testing.T) {
	var l downloadList
	one := func(state string, bytes, total int64) (*download, string) {
		d := &download{frame: "f", BrowserDownload: core.BrowserDownload{ID: fmt.Sprint("id-", l.begun), State: core.DownloadRunning, Bytes: bytes, Total: total}}
		why, _ := l.add(d)
		if why == "" && state != core.DownloadRunning {
			l.end(d, state, "", "")
		}
		return d, why
	}
	if _, why := one(core.DownloadDone, maxDownload, maxDownload); why != "" {
		t.Errorf("one as large as may be: %s", why)
	}
	if d, why := one("", 0, maxDownload+1); why == "" {
		t.Error("its total is too large")
	} else {
		l.end(d, core.DownloadRefused, "", why)
	}
	if d, why := one("", maxDownload+1, 0); why == "" {
		t.Error("it is too large already")
	} else {
		l.end(d, core.DownloadRefused, "", why)
	}
	l.ended = 0
	for range maxDownloading {
		if _, why := one(core.DownloadRunning, 0, 0); why != "" {
			t.Errorf("refused: %s", why)
		}
	}
	if d, why := one("", 0, 0); why == "" {
		t.Error("five run")
	} else {
		l.end(d, core.DownloadRefused, "", why)
	}
	// A flood of refused ones pushes out no one that runs.
	first := l.of("f", 3)
	for range 100 {
		d, why := one("", 0, 0)
		l.end(d, core.DownloadRefused, "", why)
	}
	running := 0
	for _, d := range l.all {
		if d.State == core.DownloadRunning {
			running++
		}
	}
	if running != maxDownloading || len(l.all) != maxListed || first == nil || !l.running(0) || l.running(l.begun) {
		t.Errorf("%d run of %d", running, len(l.all))
	}
	if l.byID(l.all[0].ID) != l.all[0] || l.byID("x") != nil || l.of("other", 0) != nil || l.of("f", l.begun) != nil {
		t.Error("not found by what it is")
	}
	// All that run count together with what has ended.
	for _, d := range l.all {
		d.Bytes = maxDownload
	}
	if l.tooMuch(l.all[0]) == "" {
		t.Error("four of 256 MiB are 1 GiB")
	}
}

// TestStalledDownloads: what a server holds up for a minute takes no place.
func TestStalledDownloads(t *testing.T) {
	var l downloadList
	now := time.Now()
	for i := range maxDownloading {
		d := &download{moved: now.Add(-stallTime - time.Second), whole: i == 1, BrowserDownload: core.BrowserDownload{State: core.DownloadRunning}}
		if i == 0 {
			d.moved = now.Add(-stallTime + time.Second)
		}
		l.all = append(l.all, d)
	}
	why, stalled := l.add(&download{moved: now, BrowserDownload: core.BrowserDownload{State: core.DownloadRunning}})
	if why != "" || len(stalled) != 2 || stalled[0] != l.all[2] || stalled[1] != l.all[3] {
		t.Errorf("%q, %d stalled", why, len(stalled))
	}
}

func TestByteCounts(t *testing.T) {
	for n, want := range map[float64]int64{-1: 0, 0: 0, 12: 12, 1e300: 1 << 50, math.Inf(1): 1 << 50, math.Inf(-1): 0} {
		if got := byteCount(n); got != want {
			t.Errorf("%v: %d", n, got)
		}
	}
	if byteCount(math.NaN()) != 0 {
		t.Error("NaN counts")
	}
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 12_345: "12 KB", 999_999: "1000 KB", 3_400_000: "3.4 MB"} {
		if got := byteText(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
