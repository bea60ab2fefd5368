package chrome

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

const keptRequests = 500 // of each tab

// networkLog keeps the newest exchanges of a tab. It is guarded by the Browser's mu.
type networkLog struct {
	list []*exchange
	byID map[string]*exchange
}

type exchange struct {
	core.BrowserRequest
	id    string
	began float64 // s, by Chromium's clock
	over  bool
}

// fetching reports whether scripts of the page wait for an answer to what they have asked
// since the one numbered after.
func (n *networkLog) fetching(after int64) bool {
	for _, x := range slices.Backward(n.list) {
		if x.Seq <= after {
			return false
		}
		if !x.over && (x.Kind == "fetch" || x.Kind == "xhr") {
			return true
		}
	}
	return false
}

func (n *networkLog) add(x *exchange) {
	if n.byID == nil {
		n.byID = map[string]*exchange{}
	}
	if len(n.list) >= keptRequests {
		old := n.list[0]
		n.list[0] = nil
		n.list = n.list[1:]
		if n.byID[old.id] == old {
			delete(n.byID, old.id)
		}
	}
	n.list = append(n.list, x)
	n.byID[x.id] = x
}

// Requests returns the kept exchanges of the active tab that began or changed after: whose
// Rev is greater. One that changed is returned again with the Seq it had.
func (b *Browser) Requests(after int64) []core.BrowserRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active == nil {
		return nil
	}
	var out []core.BrowserRequest
	for _, x := range b.active.network.list {
		if x.Rev > after {
			out = append(out, x.BrowserRequest)
		}
	}
	return out
}

// turned marks an exchange as changed. The caller holds mu.
func (b *Browser) turned(t *tab, x *exchange) {
	b.seq++
	x.Rev = b.seq
	if x.Seq == 0 {
		x.Seq = b.seq
	}
	if t == b.active {
		b.changed()
	}
}

// withExchange calls do with what is kept under an id.
func (b *Browser) withExchange(e event, id string, do func(t *tab, x *exchange)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil {
		return
	}
	if x := t.network.byID[id]; x != nil {
		do(t, x)
		b.turned(t, x)
	}
}

func (b *Browser) requestSent(e event) {
	var p struct {
		RequestID string `json:"requestId"`
		Type      string
		Timestamp float64
		WallTime  float64
		Request   struct {
			URL    string `json:"url"`
			Method string
		}
		RedirectResponse *struct{ Status int }
	}
	if !b.decode(e, &p) {
		return
	}
	if p.RedirectResponse != nil {
		b.withExchange(e, p.RequestID, func(_ *tab, x *exchange) {
			x.Status = p.RedirectResponse.Status
			x.Millis = millis(p.Timestamp - x.began)
		})
	}
	b.exchangeBegan(e, p.RequestID, p.Request.Method, p.Request.URL, strings.ToLower(p.Type), p.Timestamp, p.WallTime)
}

func (b *Browser) exchangeBegan(e event, id, method, url, kind string, began, wall float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.sessions[e.session]
	if t == nil {
		return
	}
	most := maxURL
	if strings.HasPrefix(url, "data:") {
		most = 100
	}
	x := &exchange{id: clip(id, 100), began: began}
	x.Method, x.URL, x.Kind, x.Time = clip(method, 40), clip(url, most), clip(kind, 40), int64(wall*1000)
	t.network.add(x)
	b.turned(t, x)
}

// millis makes milliseconds out of a page's seconds.
func millis(s float64) int64 { return int64(min(max(s, 0), 1e6) * 1000) }

func (b *Browser) responseReceived(e event) {
	var p struct {
		RequestID string `json:"requestId"`
		LoaderID  string `json:"loaderId"`
		FrameID   string `json:"frameId"`
		Type      string
		Response  struct{ Status int }
	}
	if !b.decode(e, &p) {
		return
	}
	b.withExchange(e, p.RequestID, func(t *tab, x *exchange) {
		x.Status = p.Response.Status
		if p.Type == "Document" && p.FrameID == t.id {
			t.status, t.statusOf = p.Response.Status, p.LoaderID
		}
	})
}

func (b *Browser) loadingFinished(e event) {
	var p struct {
		RequestID         string `json:"requestId"`
		Timestamp         float64
		EncodedDataLength float64
	}
	if !b.decode(e, &p) {
		return
	}
	b.withExchange(e, p.RequestID, func(t *tab, x *exchange) {
		b.answeredFetch(t, x)
		x.Bytes, x.Millis = int64(min(max(p.EncodedDataLength, 0), 1e15)), millis(p.Timestamp-x.began)
	})
}

func (b *Browser) loadingFailed(e event) {
	var p struct {
		RequestID     string `json:"requestId"`
		Timestamp     float64
		ErrorText     string
		BlockedReason string
		Canceled      bool
	}
	if !b.decode(e, &p) {
		return
	}
	b.withExchange(e, p.RequestID, func(t *tab, x *exchange) {
		b.answeredFetch(t, x)
		x.Error, x.Millis = clip(p.ErrorText, 200), millis(p.Timestamp-x.began)
		switch {
		case p.Canceled:
			x.Error = "cancelled"
		case p.BlockedReason != "":
			x.Error = "blocked: " + clip(p.BlockedReason, 100)
		}
	})
}

// answeredFetch notes that an exchange is over. The caller holds mu.
func (b *Browser) answeredFetch(t *tab, x *exchange) {
	if x.over = true; t.fetchWaits {
		b.advance()
	}
}

func (b *Browser) webSocketCreated(e event) {
	var p struct {
		RequestID string `json:"requestId"`
		URL       string `json:"url"`
	}
	if b.decode(e, &p) {
		b.exchangeBegan(e, p.RequestID, "GET", p.URL, "websocket", 0, float64(time.Now().UnixMilli())/1000)
	}
}

func (b *Browser) webSocketAnswered(e event) {
	var p struct {
		RequestID string `json:"requestId"`
		Response  struct{ Status int }
	}
	if b.decode(e, &p) {
		b.withExchange(e, p.RequestID, func(_ *tab, x *exchange) { x.Status = p.Response.Status })
	}
}

func (b *Browser) webSocketFailed(e event) {
	var p struct {
		RequestID    string `json:"requestId"`
		ErrorMessage string
	}
	if b.decode(e, &p) {
		b.withExchange(e, p.RequestID, func(_ *tab, x *exchange) { x.Error = clip(p.ErrorMessage, 200) })
	}
}

// readNetwork is the exchanges of a tab as text, the newest limit that fit.
func (b *Browser) readNetwork(t *tab, re *regexp.Regexp, clear bool, limit int) string {
	b.mu.Lock()
	all := make([]core.BrowserRequest, 0, len(t.network.list))
	for _, x := range t.network.list {
		all = append(all, x.BrowserRequest)
	}
	if clear {
		t.network = networkLog{}
	}
	b.mu.Unlock()
	var out []string
	for _, r := range all {
		s := fmt.Sprintf("%s %s (%s) ", r.Method, clip(r.URL, 500), r.Kind)
		switch {
		case r.Error != "":
			s += "failed: " + r.Error
		case r.Status == 0:
			s += "pending"
		default:
			s += fmt.Sprint(r.Status)
		}
		if r.Millis > 0 || r.Bytes > 0 {
			s += fmt.Sprintf(", %d bytes, %d ms", r.Bytes, r.Millis)
		}
		if re == nil || re.MatchString(s) {
			out = append(out, s)
		}
	}
	return newestThatFit(out, limit, "No such requests were seen.")
}
