//go:build chrome

package chrome

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"loop/backend/core"
)

// oddAnswers are what serveOdd has below /odd/: content type and body.
var oddAnswers = map[string][2]string{
	"page":  {"text/html", `<title>Odd</title><a href="never">Never</a><p>odd page`},
	"image": {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>`},
	"xml":   {"application/xml", `<a><b>words of xml</b></a>`},
	"json":  {"application/json", `{"words":"of json"}`},
	"pdf": {"application/pdf", "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj " +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]>>endobj\ntrailer<</Root 1 0 R>>"},
	"png":      {"image/png", "\x89PNG\r\n\x1a\n"},
	"unknown":  {"application/x-odd", "odd"},
	"frameset": {"text/html", `<title>Set</title><frameset cols="50%,50%"><frame src="/inner.html?l"><frame src="/inner.html?r"></frameset>`},
	"closer":   {"text/html", `<title>Closer</title><button onclick="opener.document.title = 'came back'; window.close()">Finish</button>`},
	"empty":    {"text/html", ""},
	"sw.js": {"text/javascript", `addEventListener("install", () => skipWaiting()); addEventListener("activate", e => e.waitUntil(clients.claim()));
addEventListener("fetch", e => { if (e.request.url.endsWith("/made")) e.respondWith(new Response("<title>Made</title>made by a worker", {headers: {"Content-Type": "text/html"}})) })`},
}

// serveOdd answers below /odd/.
func serveOdd(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/odd/")
	if a, ok := oddAnswers[name]; ok {
		w.Header().Set("Content-Type", a[0])
		_, _ = w.Write([]byte(a[1]))
		return
	}
	raw := func(s string) {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_, _ = c.Write([]byte(s))
			_ = c.Close()
		}
	}
	switch name {
	case "204":
		w.WriteHeader(http.StatusNoContent)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "late":
		select {
		case <-time.After(700 * time.Millisecond):
		case <-r.Context().Done():
		}
	case "redirect":
		http.Redirect(w, r, "/inner.html?redirected", http.StatusFound)
	case "around":
		http.Redirect(w, r, "/odd/around", http.StatusFound)
	case "login":
		w.Header().Set("WWW-Authenticate", `Basic realm="odd"`)
		if name, word, ok := r.BasicAuth(); !ok || name != "ada" || word != "lace" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("let in"))
	case "reset":
		raw("")
	case "garbage":
		raw("SSH-2.0-OpenSSH\r\n")
	case "never":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>Never</title><button onclick="document.title = 'pressed'">Press</button>` + strings.Repeat(" ", 2000)))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		http.NotFound(w, r)
	}
}

// TestEveryKindOfAnswer goes where servers answer with something else than a page.
func TestEveryKindOfAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Downloads: newShelf(t)})
	for _, c := range []struct{ path, says, text, read string }{
		{"204", "broken off: it was stopped, is a download, or gave no page (204)", "", ""},
		{"500", "answered with an HTTP error and an empty page. read_network_requests has its number", "HTTP ERROR 500", ""},
		{"redirect", "/inner.html?redirected (“Inner”); HTTP 200", "inside", "Press redirected"},
		{"around", "redirects without end. Look at the server's redirects.", "", ""},
		{"login", "wants a name and a password (HTTP 401). Put them into the address", "", ""},
		{"reset", "closed the connection without an answer", "", ""},
		{"garbage", "something that is not HTTP. Check the port.", "", ""},
		{"image", "HTTP 200", "The page has no text. It is image/svg+xml: screenshot", "Nothing else is there to read. It is image/svg+xml"},
		{"png", "HTTP 200", "It is image/png: screenshot", "png"},
		{"xml", "HTTP 200", "words of xml", "words of xml"},
		{"json", "HTTP 200", `{"words":"of json"}`, "of json"},
		{"pdf", "HTTP 200", "It is application/pdf: screenshot shows it, and a command can fetch the file", "It is application/pdf"},
		{"unknown", "Downloaded “unknown", "", ""},
		{"frameset", "“Set”", "--- frame ---\ninside", "Press r"},
		{"empty", "HTTP 200", "The page has no text.", "Nothing else is there to read."},
	} {
		res := r.do("navigate", obj{"url": r.url + "/odd/" + c.path})
		r.has(res.Result+res.Error, c.says)
		if c.text != "" {
			r.has(r.must("get_page_text", nil).Result, c.text)
		}
		if c.read != "" {
			r.has(r.must("read_page", nil).Result, c.read)
		}
	}
	r.must("navigate", obj{"url": strings.Replace(r.url, "//", "//ada:lace@", 1) + "/odd/login"})
	r.has(r.must("get_page_text", nil).Result, "let in")
	r.fails("does not speak TLS", "navigate", obj{"url": strings.Replace(r.url, "http:", "https:", 1)})
	r.fails("There is no port 99999.", "navigate", obj{"url": "http://localhost:99999/"})
	r.fails("names no host", "navigate", obj{"url": "http://"})
	// A page that never comes to its end can be used, at the pace of any other.
	r.has(r.must("navigate", obj{"url": r.url + "/odd/never"}).Result, "It still loads after 15 seconds")
	begun := time.Now()
	r.click("Press")
	r.has(r.must("page_info", nil).Result, "“pressed”")
	r.must("computer", obj{"action": "hover", "x": 5, "y": 5})
	r.must("computer", obj{"action": "key", "text": "Tab"})
	if d := time.Since(begun); d > 4*time.Second {
		t.Errorf("three acts took %v", d)
	}
	r.has(r.must("go_back", nil).Result, "Went back to")
}

// TestTextOfEverythingThatAPageShows reads what is in shadow roots and frames.
func TestTextOfEverythingThatAPageShows(t *testing.T) {
	t.Parallel()
	r := start(t, Options{})
	r.open("shady.html")
	const want = "Light text\nOpen text\nSlotted head\nSlotted restOpen field Open button\nInner text\nInner button\nClosed text\nClosed field Closed button\n*****Send"
	if got := r.must("get_page_text", nil).Result; got != want {
		t.Errorf("text %q", got)
	}
	at := r.refs()
	for name, title := range map[string]string{"Open button": "open", "Inner button": "inner", "Closed button": "closed"} {
		r.must("computer", obj{"action": "click", "ref": at[name]})
		r.comes(`document.title`, title)
	}
	r.must("form_input", obj{"ref": at["Closed field"], "value": "v"})
	r.comes(`document.title`, "closed v")
	r.must("computer", obj{"action": "click", "ref": at["Stars"]})
	r.must("computer", obj{"action": "key", "text": "Right"})
	r.must("computer", obj{"action": "click", "ref": at["Send"]})
	r.comes(`document.title`, `{"stars":"2"}`)
	r.open("nest.html")
	r.comes(`loaded`, "3")
	got := r.must("get_page_text", nil).Result
	for _, part := range []string{"level 0", "level 1", "level 2", "srcdoc", "sandbox"} {
		r.has(got, "Text of "+part)
	}
}

// TestWindowsAndWhatPagesAskFor has a page open windows, ask for files and for what nobody
// is there to allow.
func TestWindowsAndWhatPagesAskFor(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Downloads: newShelf(t), PutFile: func(context.Context, string) (string, error) { return "/etc/hostname", nil }})
	r.open("world.html")
	first := r.Tabs()[0].ID
	r.must("new_tab", obj{"url": r.url + "/form.html"})
	r.must("switch_tab", obj{"target_id": first})
	res := r.click("Closing window").Result
	r.has(res, "The new tab shows "+r.url+"/odd/closer.")
	r.has(res, "switch_tab goes back")
	r.has(r.must("list_tabs", nil).Result, "“Closer”")
	res = r.click("Finish").Result
	if res += r.must("page_info", nil).Result; !strings.Contains(res, "The tab “Closer” has closed; “World” (") || !strings.Contains(res, "world.html “came back”") {
		t.Errorf("after a window has closed itself: %q", res)
	}
	for name, want := range map[string]string{"Notify": "notify denied", "Where": "geo 1", "Clip": "clip NotAllowedError", "Picker": "pick AbortError"} {
		r.click(name)
		r.comes(`document.title`, want)
	}
	for _, name := range []string{"Print", "Full", "Lock", "Mail"} { // and the page goes on
		r.click(name)
		r.has(r.eval(`1 + 1`), "2")
	}
	// A file input that nobody sees is named by the page's asking.
	var n int
	res = r.click("Hidden upload").Result
	_, after, _ := strings.Cut(res, "form_input: ref ")
	after, _, _ = strings.Cut(after, ",")
	decodeJSON(t, after, &n)
	r.must("form_input", obj{"ref": n, "value": "x"})
	r.comes(`document.title`, "hid hostname")
	r.click("Socket")
	r.comes(`document.title`, "ws failed")
	r.has(r.must("read_network_requests", obj{"pattern": "websocket"}).Result, "failed: Error during WebSocket handshake")
	// What a page shows after it has asked for it is there when the act is over.
	r.click("Late view")
	r.has(r.must("page_info", nil).Result, "/world.html?view “Late view”")
	begun := time.Now()
	r.click("Never answered")
	if d := time.Since(begun); d > 4*time.Second {
		t.Errorf("an act waits %v for what does not come", d)
	}
	// A frame of another site asks, downloads, and keeps the page from being left.
	r.comes(`asker`, "true")
	r.has(r.click("Frame alert").Result, "alert: “from frame”")
	r.fails("shows a dialog", "get_page_text", nil)
	r.must("computer", obj{"action": "key", "text": "Enter"})
	r.click("Frame download")
	r.waitFor("a frame's download", func() bool {
		d := r.Downloads()
		return len(d) == 1 && d[0].State == core.DownloadDone && d[0].Name == "plain.txt"
	})
	r.click("Frame guard")
	r.has(r.click("Leave").Result, "beforeunload")
	r.must("computer", obj{"action": "key", "text": "Escape"})
	r.has(r.must("page_info", nil).Result, "world.html")
	r.click("Leave")
	r.must("computer", obj{"action": "key", "text": "Enter"})
	r.has(r.must("page_info", nil).Result, "inner.html?after")
	// Scrolling says when there is no more.
	r.open("places.html")
	box := r.refs()["Box"]
	r.must("computer", obj{"action": "scroll", "ref": box, "delta_y": 500})
	r.comes(`scroller.scrollTop > 400`, "true")
	r.has(r.must("computer", obj{"action": "scroll", "delta_x": 500}).Result, "Nothing moved")
	if s := r.must("computer", obj{"action": "scroll", "delta_y": 500}).Result; strings.Contains(s, "Nothing moved") {
		t.Error(s)
	}
}
