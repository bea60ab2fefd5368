package inventory

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"loop/backend/core"
)

const (
	// pageWait bounds one try of a port, and triedAtOnce how many are under way.
	pageWait    = time.Second
	triedAtOnce = 8
	// pageBytes bounds what is read of an answer; titles stand near the beginning.
	pageBytes = 64 << 10
	// mostTries is after how many tries a port that says nothing counts as one without pages.
	mostTries = 3
)

// page is what a port answered; kind is empty while it has not answered in time.
type page struct {
	kind, title string
	tries       int
}

// pages are those of ports of one container, the one that was looked at last.
type pages struct {
	mu sync.Mutex
	id core.ContainerID
	by map[core.ListeningPort]page
}

// of are the pages that are known of ports. It forgets those of other ports and containers.
func (p *pages) of(id core.ContainerID, list []core.ListeningPort) map[core.ListeningPort]page {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[core.ListeningPort]page{}
	for _, l := range list {
		if known, ok := p.by[l]; ok && p.id == id {
			out[l] = known
		}
	}
	p.id, p.by = id, out
	return maps.Clone(out)
}

// try asks those ports for a page of which none is known, and returns all that are.
func (p *pages) try(ctx context.Context, link core.Link, id core.ContainerID, list []core.ListeningPort) map[core.ListeningPort]page {
	known := p.of(id, list)
	var all sync.WaitGroup
	places := make(chan struct{}, triedAtOnce)
	for _, l := range list {
		was := known[l]
		if was.kind != "" {
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			got := probe(ctx, link, l.Port)
			if got.kind == "" && ctx.Err() == nil {
				if got.tries = was.tries + 1; got.tries >= mostTries {
					got.kind = "tcp"
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.id == id {
				p.by[l] = got
			}
		})
	}
	all.Wait()
	return p.of(id, list)
}

// probe asks a port for a page. One that answers otherwise than a web server is “tcp”; the
// zero page is of one that cannot be reached, or did not answer in time.
func probe(ctx context.Context, link core.Link, port uint16) page {
	ctx, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	conn, err := link.Dial(ctx, port)
	if err != nil {
		return page{}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		if stop() {
			_ = conn.Close()
		}
	}()
	_, err = fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: Loop\r\n"+
		"Accept: text/html\r\nConnection: close\r\n\r\n", port)
	if err == nil {
		var res *http.Response
		if res, err = http.ReadResponse(bufio.NewReader(io.LimitReader(conn, pageBytes)), nil); err == nil {
			defer func() { _ = res.Body.Close() }()
			return page{kind: "http", title: titleOf(res)}
		}
	}
	if ctx.Err() != nil {
		return page{}
	}
	return page{kind: "tcp"}
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title`)

// titleOf is the title of an answer, or where it leads, or what it says instead of a page.
func titleOf(res *http.Response) string {
	if to := res.Header.Get("Location"); to != "" && res.StatusCode/100 == 3 {
		return short("leads to " + to)
	}
	body, _ := io.ReadAll(res.Body) // a part of it may have the title
	if m := title.FindSubmatch(body); m != nil {
		return short(html.UnescapeString(string(m[1])))
	}
	if res.StatusCode >= http.StatusBadRequest {
		return short(fmt.Sprintf("%d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return short(kind)
}

func short(text string) string { return core.CleanTitle(strings.Join(strings.Fields(text), " ")) }
