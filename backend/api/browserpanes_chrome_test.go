//go:build chrome

package api

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"testing"
	"time"

	"github.com/coder/websocket"

	"loop/backend/chrome/chrometest"
	"loop/backend/core"
)

// TestFivePanesOnOnePage has five panes on a page that moves: one takes nothing, one never
// says that it has painted, one goes in mid-frame, and the others see it move all the same.
func TestFivePanesOnOnePage(t *testing.T) {
	url := chrometest.Pages(t, "testdata/browser", nil)
	stage := newBrowserStage(t)
	_, dial := serveBrowsers(t, stage)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	say := func(conn *websocket.Conn, m core.BrowserCommand) {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Write(ctx, websocket.MessageText, raw); err != nil {
			t.Fatal(err)
		}
	}
	frame := func(conn *websocket.Conn) uint32 {
		for {
			kind, data, err := conn.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if kind == websocket.MessageBinary {
				return binary.BigEndian.Uint32(data)
			}
		}
	}
	var panes []*websocket.Conn
	for range 5 {
		conn := dial(ctx)
		say(conn, core.BrowserCommand{Type: "start", ChannelID: "c", View: &core.BrowserView{Width: 1280, Height: 800, Scale: 1}})
		panes = append(panes, conn)
	}
	frame(panes[2])
	if res, err := stage.Agent(ctx, core.Caller{ChannelID: "c"}, core.BrowserAction{Action: "navigate", Params: []byte(`{"url":"` + url + `/clock.html?animation"}`)}); err != nil || res.Error != "" {
		t.Fatal(err, res.Error)
	}
	frame(panes[1]) // which it never says to have painted; panes[0] does not even read
	frame(panes[2])
	panes[2].CloseNow()
	for range 5 {
		for _, p := range panes[3:] {
			say(p, core.BrowserCommand{Type: "painted", ID: frame(p)})
		}
	}
	if res, err := stage.Agent(ctx, core.Caller{ChannelID: "c"}, core.BrowserAction{Action: "page_info"}); err != nil || res.Error != "" {
		t.Error(err, res.Error)
	}
}
