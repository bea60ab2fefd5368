package chrome

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"loop/backend/core"
)

// Bounds of downloads. A page can begin them without being asked.
const (
	maxDownload       = 256 << 20 // bytes of one
	maxDownloadsInAll = 1 << 30   // bytes of all since the browser was started
	maxDownloading    = 4         // at a time
	maxListed         = 20
	stallTime         = time.Minute // without a byte, after which a download gives its place to another
	maxLeftovers      = 1000        // files that wait to be removed; later ones go when the browser starts again
	keepTimeout       = 3 * time.Minute
)

// Downloads keeps what Chromium has downloaded. Methods may be called from any goroutine.
type Downloads interface {
	// Dir is where Chromium puts files, each under its id.
	Dir() string
	// Keep brings a complete file to where the agent finds it, and says where that is.
	Keep(ctx context.Context, id, name string, size int64) (path string, err error)
	// Drop removes files that nobody gets.
	Drop(ctx context.Context, ids []string) error
}

// downloadID are Chromium's ids, which are also names of files.
var downloadID = regexp.MustCompile(`^[0-9A-Za-z-]{8,64}$`)

type download struct {
	core.BrowserDownload
	frame  string
	number int64 // in the order they began, from 1
	moved  time.Time
	whole  bool   // and on its way to the agent
	waited bool   // an action waits for it, and says what became of it
	said   string // the note that says so otherwise
}

// downloadList has the downloads of one browser. It is guarded by the Browser's mu.
type downloadList struct {
	all       []*download // oldest first
	begun     int64
	ended     int64 // bytes of those that have ended
	leftovers []string
	sweeping  bool
}

// add takes on a download and says why it may not run; empty if it may. stalled are those
// that give up their places.
func (l *downloadList) add(d *download) (refusal string, stalled []*download) {
	running := 0
	for _, o := range l.all {
		switch {
		case o.State != core.DownloadRunning:
		case !o.whole && d.moved.Sub(o.moved) >= stallTime:
			stalled = append(stalled, o)
		default:
			running++
		}
	}
	l.begun++
	d.number = l.begun
	if l.all = append(l.all, d); len(l.all) > maxListed {
		i := slices.IndexFunc(l.all, func(o *download) bool { return o.State != core.DownloadRunning })
		l.all = slices.Delete(l.all, max(i, 0), max(i, 0)+1) // there is one: few run
	}
	if running >= maxDownloading {
		return fmt.Sprintf("%d downloads run already.", maxDownloading), stalled
	}
	return l.tooMuch(d), stalled
}

// tooMuch says why a download may not go on; empty if it may.
func (l *downloadList) tooMuch(d *download) string {
	sum := l.ended
	for _, o := range l.all {
		if o.State == core.DownloadRunning {
			sum += o.Bytes
		}
	}
	switch {
	case d.Bytes > maxDownload || d.Total > maxDownload:
		return "It is larger than 256 MiB."
	case sum >= maxDownloadsInAll:
		return "Downloads of this browser have reached 1 GiB; they begin anew when the browser is started again."
	}
	return ""
}

func (l *downloadList) byID(id string) *download {
	for _, d := range l.all {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// of is the newest download that a frame began after the one numbered after.
func (l *downloadList) of(frame string, after int64) *download {
	for _, d := range slices.Backward(l.all) {
		if d.frame == frame && d.number > after {
			return d
		}
	}
	return nil
}

// running reports whether one runs that began after the one numbered after.
func (l *downloadList) running(after int64) bool {
	return slices.ContainsFunc(l.all, func(d *download) bool { return d.number > after && d.State == core.DownloadRunning })
}

// end is what became of a download.
func (l *downloadList) end(d *download, state, path, why string) {
	d.State, d.Path, d.Why = state, path, why
	l.ended += d.Bytes
}

// Downloads are those of this browser, newest last.
func (b *Browser) Downloads() []core.BrowserDownload {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]core.BrowserDownload, 0, len(b.files.all))
	for _, d := range b.files.all {
		out = append(out, d.BrowserDownload)
	}
	return out
}

func (b *Browser) downloadBegan(e event) {
	var p struct {
		FrameID           string `json:"frameId"`
		GUID              string `json:"guid"`
		SuggestedFilename string
	}
	if !b.decode(e, &p) || !downloadID.MatchString(p.GUID) {
		return
	}
	name := p.SuggestedFilename
	now := time.Now()
	d := &download{frame: clip(p.FrameID, 100), moved: now, BrowserDownload: core.BrowserDownload{
		ID: p.GUID, Name: core.PlainFileName(name[max(0, len(name)-4096):]), State: core.DownloadRunning, At: now.UnixMilli(),
	}}
	b.mu.Lock()
	defer b.mu.Unlock()
	why, stalled := b.files.add(d)
	for _, o := range stalled {
		b.refuse(o, "Nothing of it came for a minute.")
	}
	if b.o.Downloads == nil {
		why = "Fetch the file with a command in the container instead."
	}
	if why != "" {
		b.refuse(d, why)
	}
	b.advance()
}

// refuse ends a download. The caller holds mu.
func (b *Browser) refuse(d *download, why string) {
	b.files.end(d, core.DownloadRefused, "", why)
	b.conn.start("", "Browser.cancelDownload", obj{"guid": d.ID}, nil)
	b.tell(d)
}

// tell notes for the agent what became of a download. The caller holds mu.
func (b *Browser) tell(d *download) {
	if !d.waited {
		d.said = d.sentence()
		b.note("%s", d.said)
	}
}

// sentence says what became of a download.
func (d *download) sentence() string {
	switch d.State {
	case core.DownloadDone:
		return fmt.Sprintf("Downloaded “%s”, %s, to %s.", d.Name, byteText(d.Bytes), d.Path)
	case core.DownloadRefused:
		return fmt.Sprintf("The download of “%s” was refused. %s", d.Name, d.Why)
	}
	return fmt.Sprintf("“%s” is still being downloaded (%s so far). A later result says when it is complete.", d.Name, byteText(d.Bytes))
}

func (b *Browser) downloadProgressed(e event) {
	var p struct {
		GUID                      string `json:"guid"`
		TotalBytes, ReceivedBytes float64
		State                     string
	}
	if !b.decode(e, &p) || !downloadID.MatchString(p.GUID) || b.o.Downloads == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.files.byID(p.GUID)
	switch {
	case d == nil || d.State != core.DownloadRunning:
		if p.State == "completed" && (d == nil || d.State == core.DownloadRefused) { // it was quicker than its refusal
			b.drop(p.GUID)
		}
		return
	case d.whole:
		return
	}
	before := d.Bytes
	if d.Bytes, d.Total = byteCount(p.ReceivedBytes), byteCount(p.TotalBytes); d.Bytes != before {
		d.moved = time.Now()
	}
	why := b.files.tooMuch(d)
	switch {
	case p.State == "canceled":
		b.files.end(d, core.DownloadRefused, "", "It was broken off.")
		b.tell(d)
	case why != "":
		b.refuse(d, why)
		if p.State == "completed" {
			b.drop(d.ID)
		}
	case p.State == "completed":
		d.whole = true
		size := d.Bytes
		b.wg.Go(func() { b.keepDownload(d, size) })
	default:
		b.changed()
		return
	}
	b.advance()
}

// byteCount is a number of bytes that Chromium says.
func byteCount(n float64) int64 {
	if !(n > 0) {
		return 0
	}
	return int64(min(n, 1<<50))
}

// keepDownload brings a complete download to the agent.
func (b *Browser) keepDownload(d *download, size int64) {
	ctx, cancel := b.context(context.Background())
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, keepTimeout)
	defer stop()
	path, err := b.o.Downloads.Keep(ctx, d.ID, d.Name, size)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.files.end(d, core.DownloadRefused, "", sentence(err))
		b.drop(d.ID)
	} else {
		b.files.end(d, core.DownloadDone, path, "")
	}
	b.tell(d)
	b.advance()
}

// drop has a file removed that nobody gets. The caller holds mu.
func (b *Browser) drop(id string) {
	l := &b.files
	if len(l.leftovers) < maxLeftovers {
		l.leftovers = append(l.leftovers, id)
	}
	if l.sweeping {
		return
	}
	l.sweeping = true
	b.wg.Go(func() {
		ctx, cancel := b.context(context.Background())
		defer cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for len(l.leftovers) > 0 && ctx.Err() == nil {
			ids := l.leftovers
			l.leftovers = nil
			b.mu.Unlock()
			if err := b.o.Downloads.Drop(ctx, ids); err != nil {
				b.o.Log.Warn("remove refused downloads", "files", len(ids), "err", err)
			}
			b.mu.Lock()
		}
		l.sweeping = false
	})
}

// fetched waits for the download that a navigation to an address came to, the first of the
// tab after the one numbered after, and says what became of it.
func (b *Browser) fetched(ctx context.Context, t *tab, address string, after int64) (string, error) {
	var d *download
	err := b.until(ctx, func() bool {
		if d == nil {
			if d = b.files.of(t.id, after); d != nil {
				d.waited = true
			}
		}
		return t.gone || d != nil && d.State != core.DownloadRunning
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, errEnded):
		return "", err
	case d == nil:
		return "", core.Fail(core.CodeNotFound, err, clip(address, 300)+" is a download, which did not begin.", "Try again.")
	}
	b.notes = slices.DeleteFunc(b.notes, func(s string) bool { return d.said != "" && s == clip(d.said, maxNote) }) // said now
	if d.State == core.DownloadRefused {
		return "", core.Fail(core.CodeForbidden, nil, clip(address, 300)+" is a download.", d.sentence())
	}
	d.waited = false
	return d.sentence(), nil
}

// byteText is a size as people read it.
func byteText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
