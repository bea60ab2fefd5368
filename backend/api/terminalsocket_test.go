package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// TestTerminalMistakes sends each wrong message to a socket without a session and to
// one with a session. After each message the session still takes input.
func TestTerminalMistakes(t *testing.T) {
	args := func(n int) string { return `["x"` + strings.Repeat(`,"x"`, n-1) + `]` }
	for _, tc := range []struct {
		send           string
		free, attached core.Code
	}{
		{`{`, termInvalidJSON, termInvalidJSON},
		{``, termInvalidJSON, termInvalidJSON},
		{`[]`, termInvalidJSON, termInvalidJSON},
		{`"create"`, termInvalidJSON, termInvalidJSON},
		{"\x00\xff", termInvalidJSON, termInvalidJSON},
		{strings.Repeat("[", 20000), termInvalidJSON, termInvalidJSON},
		{`{"type":"resize","rows":"x","cols":80}`, termInvalidJSON, termInvalidJSON},
		{`{"type":"resize","rows":-1,"cols":80}`, termInvalidJSON, termInvalidJSON},
		{`{"type":7}`, termInvalidJSON, termInvalidJSON},
		{`null`, termInvalidJSON, termInvalidJSON},
		{" null\n", termInvalidJSON, termInvalidJSON},
		{`{}`, termUnknownMessage, termUnknownMessage},
		{`{"type":"dance"}`, termUnknownMessage, termUnknownMessage},
		{`{"type":"created"}`, termUnknownMessage, termUnknownMessage},
		{`{"type":"input"}`, termNoSession, termMissingField},
		{`{"type":"input","data":""}`, termNoSession, termMissingField},
		{`{"type":"input","data":"!!"}`, termNoSession, termInvalidInput},
		{`{"type":"input","data":"bHM"}`, termNoSession, termInvalidInput},
		{`{"type":"resize"}`, termNoSession, termMissingField},
		{`{"type":"resize","rows":0,"cols":80}`, termNoSession, termMissingField},
		{`{"type":"resize","rows":24,"cols":0}`, termNoSession, termMissingField},
		{`{"type":"attach"}`, termMissingField, termMissingField},
		{`{"type":"kill"}`, termMissingField, termMissingField},
		{`{"type":"stop"}`, termNoSession, ""},
		{`{"type":"close"}`, termNoSession, ""},
		{`{"type":"close","session_id":"` + string(unusedID) + `"}`, termSessionFailed, termSessionFailed},
		{`{"type":"stop","session_id":"../../etc/passwd"}`, termSessionFailed, termSessionFailed},
		{`{"type":"ack"}`, "", termMissingField},
		{`{"type":"show"}`, termNoSession, termMissingField},
		{`{"type":"record"}`, termNoSession, termMissingField},
		{`{"type":"clear"}`, termNoSession, ""},
		{`{"type":"colors"}`, termNoSession, termMissingField},
		{`{"type":"colors","colors":{"foreground":"#000000","background":"#fff"}}`, termInvalidInput, termInvalidInput},
		{`{"type":"colors","colors":{"foreground":"#000000","background":"\u001b]11;?\u0007"}}`, termInvalidInput, termInvalidInput},
		{`{"type":"create","channel_id":"ch","colors":{"foreground":"red"}}`, termInvalidInput, termInvalidInput},
		{`{"type":"resync"}`, termNoSession, ""},
		{`{"type":"detach"}`, termNoSession, ""},
		{`{"type":"create","cmd":` + args(65) + `,"channel_id":"ch"}`, termInvalidInput, termInvalidInput},
		{`{"type":"create","cmd":["ls",""],"channel_id":"ch"}`, termInvalidInput, termInvalidInput},
		{`{"type":"create","cmd":["a\u0000b"],"channel_id":"ch"}`, termInvalidInput, termInvalidInput},
		{`{"type":"create","target":"moon","channel_id":"ch"}`, termInvalidInput, termInvalidInput},
		{`{"type":"create","open_mode":"gently","channel_id":"ch"}`, termInvalidInput, termInvalidInput},
		{`{"type":"create"}`, termMissingField, termMissingField},
		{`{"type":"input","data":"` + strings.Repeat("A", maxTermMessage) + `"}`, termInvalidInput, termInvalidInput},
	} {
		for _, attached := range []bool{false, true} {
			want := tc.free
			if attached {
				want = tc.attached
			}
			if want == "" {
				continue
			}
			name := tc.send[:min(len(tc.send), 60)]
			t.Run(fmt.Sprintf("%q/%v", name, attached), func(t *testing.T) {
				f := newFakeTerms()
				s, c := serveTerms(t, f, nil)
				client := dialTerm(t, s, c)
				if attached {
					client.open()
				}
				client.say(tc.send)
				if m := client.expect("error", want); m.Message == "" {
					t.Error("no message")
				}
				if !attached {
					client.open()
				}
				client.say(`{"type":"input","data":"bHM="}`)
				f.waitCall(t, `input `+string(firstID)+` "ls"`)
			})
		}
	}
}

// TestColors: a client sends its colors when it opens a session, when it attaches to
// one, and when the colors change.
func TestColors(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	client.say(`{"type":"create","channel_id":"ch","colors":{"foreground":"#010203","background":"#ffeedd","cursor":"#aabbcc"}}`)
	id := client.expect("created", "").SessionID
	f.waitCall(t, "wishes {[1 2 3] [255 238 221] [170 187 204]}")
	client.output("screen")
	client.say(`{"type":"colors","colors":{"foreground":"#000000","background":"#FFFFFF"}}`)
	f.waitCall(t, fmt.Sprintf("colors %s {[0 0 0] [255 255 255] [0 0 0]}", id))
	client.say(fmt.Sprintf(`{"type":"attach","session_id":%q,"colors":{"foreground":"#ffffff","background":"#000000"}}`, id))
	f.waitCall(t, "wishes {[255 255 255] [0 0 0] [255 255 255]}")
}

// TestGuessedSessionIDs: an unused id, an impossible id and an id in capitals get the
// same answer.
func TestGuessedSessionIDs(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	for _, verb := range []string{"attach", "close", "stop"} {
		seen := map[string]bool{}
		for _, id := range []string{string(unusedID), strings.ToUpper(string(unusedID)), "1", strings.Repeat("z", 32), strings.Repeat("f", 33), "0x" + string(unusedID)[2:]} {
			client.say(fmt.Sprintf(`{"type":%q,"session_id":%q}`, verb, id))
			m := client.expect("error", termSessionFailed)
			seen[m.Message+m.Remedy] = true
		}
		if len(seen) != 1 {
			t.Errorf("%s tells ids apart: %v", verb, seen)
		}
	}
	if n := len(f.called("attach")); n != 1 {
		t.Errorf("%d ids reached the service, only one could be an id", n)
	}
}

// TestMistakesKeepTheAttachedSession: a failed attach or create leaves the client
// attached to its session. A successful create takes the place of that session.
func TestMistakesKeepTheAttachedSession(t *testing.T) {
	for _, send := range []string{
		`{"type":"attach","session_id":"` + string(unusedID) + `"}`, `{"type":"attach","session_id":"a1b2c3d4"}`, `{"type":"create","channel_id":"ch"}`,
	} {
		f := newFakeTerms()
		s, c := serveTerms(t, f, nil)
		client := dialTerm(t, s, c)
		client.open()
		f.mu.Lock()
		f.fail["create"] = core.Fail(core.CodeNotFound, nil, "No such shell.", "")
		f.mu.Unlock()
		client.say(send)
		client.expect("error", termSessionFailed)
		client.say(`{"type":"input","data":"bHM="}`)
		f.waitCall(t, `input `+string(firstID)+` "ls"`)
		f.show(firstID, core.TerminalFrame{Kind: core.FrameOutput, Data: []byte("still here")})
		client.output("still here")
		if got := f.called("detach"); len(got) != 0 {
			t.Errorf("%s: %q", send, got)
		}
		// The old session is hidden while another is made, and shown again when that
		// failed.
		if got, want := f.called("show"), []string{"show " + string(firstID) + " false", "show " + string(firstID) + " true"}; strings.Contains(send, "create") && !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		f.mu.Lock()
		delete(f.fail, "create")
		f.mu.Unlock()
		client.say(`{"type":"create","channel_id":"ch"}`)
		client.expect("created", "")
		f.waitCall(t, "detach "+string(firstID))
	}
}

// TestStatusFields: clients of the original system read these four fields in every
// status.
func TestStatusFields(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	check := func(typ string) {
		t.Helper()
		for {
			kind, data := client.read()
			if kind != websocket.MessageText {
				continue
			}
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil || m["type"] != typ {
				t.Fatalf("%s, want %s: %v", data, typ, err)
			}
			for _, field := range []string{"session_id", "message", "error_code"} {
				if _, ok := m[field].(string); !ok {
					t.Errorf("%s has no %s: %s", typ, field, data)
				}
			}
			return
		}
	}
	client.say(`{`)
	check("error")
	client.say(`{"type":"create","channel_id":"ch"}`)
	check("created")
	client.say(`{"type":"attach","session_id":"` + string(firstID) + `"}`)
	check("attached")
	f.show(firstID, core.TerminalFrame{Kind: core.FrameEnded, Exit: &core.TerminalExit{}})
	check("closed")
	client.say(`{"type":"close"}`)
	check("stopped")
}

// TestPingsAreAnsweredMeanwhile: making a container or its image takes longer than many
// WebSocket libraries wait for a pong. Messages that arrive meanwhile are handled
// afterwards.
func TestPingsAreAnsweredMeanwhile(t *testing.T) {
	f := newFakeTerms()
	made := make(chan struct{})
	f.block["create"] = made
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	client.say(`{"type":"create","channel_id":"ch"}`)
	client.say(`{"type":"input","data":"bHM="}`)
	f.waitCall(t, `create {"channel_id":"ch"}`)
	heard := make(chan error, 1)
	go func() {
		_, _, err := client.conn.Read(t.Context())
		heard <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := client.conn.Ping(ctx); err != nil {
		t.Errorf("while a session is being made: %v", err)
	}
	if calls := f.called("input"); len(calls) != 0 {
		t.Errorf("out of order: %q", calls)
	}
	close(made)
	if err := <-heard; err != nil {
		t.Fatal(err)
	}
	f.waitCall(t, `input `+string(firstID)+` "ls"`)
}

// TestMessagesWaitWithinBounds: messages that arrive while one is being handled are
// kept up to a bound. The end of the socket frees everybody who waits.
func TestMessagesWaitWithinBounds(t *testing.T) {
	b := newQueue(maxUnfollowed)
	n := 0
	for full := false; !full; n++ {
		b.add(received{data: make([]byte, 64<<10)})
		b.mu.Lock()
		full = b.size >= maxUnfollowed
		b.mu.Unlock()
	}
	if n < 10 || n > 20 {
		t.Errorf("%d messages of 64 KiB", n)
	}
	added := make(chan bool)
	go func() { added <- b.add(received{}) }()
	if _, ok := b.take(); !ok {
		t.Error("nothing to take")
	}
	if !<-added {
		t.Error("room was made, and not used")
	}
	for range n {
		if _, ok := b.take(); !ok {
			t.Fatal("a message is missing")
		}
	}
	go b.close()
	if _, ok := b.take(); ok || b.add(received{}) {
		t.Error("a closed queue goes on")
	}
}

// TestServiceFailures: the service's message reaches the person, and the session stays
// attached.
func TestServiceFailures(t *testing.T) {
	fail := core.Fail(core.CodeNoEngine, errors.New("dial unix"), "Docker does not answer.", "Start it.")
	for _, tc := range []struct{ method, send string }{
		{"create", `{"type":"create","channel_id":"ch"}`},
		{"input", `{"type":"input","data":"bHM="}`},
		{"resize", `{"type":"resize","rows":10,"cols":10}`},
		{"close", `{"type":"close"}`},
		{"stop", `{"type":"stop"}`},
		{"kill", `{"type":"kill","channel_id":"ch"}`},
		{"record", `{"type":"record","on":true}`},
		{"clear", `{"type":"clear"}`},
	} {
		t.Run(tc.method, func(t *testing.T) {
			f := newFakeTerms()
			s, c := serveTerms(t, f, nil)
			client := dialTerm(t, s, c)
			id := client.open()
			f.mu.Lock()
			f.fail[tc.method] = fail
			f.mu.Unlock()
			client.say(tc.send)
			m := client.expect("error", termSessionFailed)
			if m.Message != fail.Cause || m.Remedy != fail.Remedy || m.Request != tc.method {
				t.Errorf("%+v", m)
			}
			f.show(id, core.TerminalFrame{Kind: core.FrameOutput, Data: []byte("still here")})
			client.output("still here")
		})
	}
}

// TestSeedClient uses neither acknowledgements nor snapshots, which the original system
// did not have.
func TestSeedClient(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	one := dialTerm(t, s, c)
	one.say(`{"type":"create","channel_id":"ch","cmd":["/bin/bash","-l"],"rows":40,"cols":65535,"open_mode":"fork"}`)
	id := one.expect("created", "").SessionID
	if got, want := f.called("create"), `create {"channel_id":"ch","cmd":["/bin/bash","-l"],"open_mode":"fork","cols":1000,"rows":40}`; !slices.Equal(got, []string{want}) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := f.called("attach"); !slices.Equal(got, []string{"attach " + string(id) + " acks=false"}) {
		t.Errorf("%q", got)
	}
	one.output("screen")
	f.show(id, core.TerminalFrame{Kind: core.FrameOutput, Data: []byte("$ ")})
	one.output("$ ")
	one.conn.Close(websocket.StatusNormalClosure, "")
	f.waitCall(t, "detach "+string(id))
	if n := len(f.called("close")) + len(f.called("stop")); n != 0 {
		t.Error("the end of a socket ended the session")
	}
	two := dialTerm(t, s, c)
	two.say(`{"type":"attach","session_id":"` + string(id) + `"}`)
	two.expect("attached", "")
	two.output("screen")
	two.say(`{"type":"stop","session_id":"` + string(id) + `"}`)
	if m := two.expect("stopped", ""); m.SessionID != id {
		t.Errorf("%+v", m)
	}
	two.say(`{"type":"kill","channel_id":"ch"}`)
	two.expect("stopped", "")
}

// TestEndingOnPurpose: the client gets “stopped” without a “closed” after it. When the
// stop fails halfway, the client still learns how the session ended.
func TestEndingOnPurpose(t *testing.T) {
	for _, verb := range []string{"close", "stop"} {
		f := newFakeTerms()
		f.during[verb] = func(s *fakeSession) { f.exit(s, core.TerminalExit{Code: 143, Signal: "TERM"}) }
		s, c := serveTerms(t, f, nil)
		client, watcher := dialTerm(t, s, c), dialTerm(t, s, c)
		id := client.open()
		watcher.say(`{"type":"attach","session_id":"` + string(id) + `"}`)
		watcher.expect("attached", "")
		watcher.output("screen")
		client.say(`{"type":"` + verb + `"}`)
		if m := client.expect("stopped", ""); m.SessionID != id {
			t.Errorf("%+v", m)
		}
		if m := watcher.expect("closed", ""); m.SessionID != id || *m.ExitCode != 143 || m.Signal != "TERM" {
			t.Errorf("%+v", m)
		}
		client.say(`{"type":"input","data":"bHM="}`)
		client.expect("error", termNoSession)

		again := client.open()
		f.mu.Lock()
		f.fail[verb] = errors.New("half done")
		f.mu.Unlock()
		client.say(`{"type":"` + verb + `"}`)
		got := []string{client.status().Type, client.status().Type}
		slices.Sort(got) // the two messages come from two goroutines
		if !slices.Equal(got, []string{"closed", "error"}) {
			t.Errorf("%s of %s: %v", verb, again, got)
		}
	}
}

func TestKill(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	client.say(`{"type":"kill","channel_id":"nobody"}`)
	if m := client.expect("stopped", ""); m.ChannelID != "nobody" || m.SessionID != "" {
		t.Errorf("%+v", m)
	}
	id := client.open()
	client.say(`{"type":"kill","channel_id":"other"}`)
	client.expect("stopped", "")
	f.show(id, core.TerminalFrame{Kind: core.FrameOutput, Data: []byte("alive")})
	client.output("alive")
	client.say(`{"type":"kill","channel_id":"ch"}`)
	if m := client.expect("stopped", ""); m.SessionID != id {
		t.Errorf("%+v", m)
	}
	client.say(`{"type":"detach"}`)
	client.expect("error", termNoSession)
}

// TestSessionEndsDuringAttach: whenever the session ends, the socket goes on.
func TestSessionEndsDuringAttach(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	id := client.open()
	f.mu.Lock()
	session := f.sessions[id]
	f.mu.Unlock()
	f.exit(session, core.TerminalExit{Code: 3})
	if m := client.expect("closed", ""); *m.ExitCode != 3 {
		t.Errorf("%+v", m)
	}
	client.say(`{"type":"attach","session_id":"` + string(id) + `"}`)
	if m := client.expect("attached", ""); m.State != core.TerminalEnded {
		t.Errorf("%+v", m)
	}
	client.output("screen")
	f.show(id, core.TerminalFrame{}) // the viewer fails
	if m := client.expect("closed", ""); m.ExitCode != nil || m.Message != "The screen is lost." {
		t.Errorf("%+v", m)
	}
	f.mu.Lock()
	f.fail["attach"] = core.Fail(core.CodeNotFound, core.ErrNotFound, "x", "y")
	f.mu.Unlock()
	client.say(`{"type":"create","channel_id":"ch"}`)
	if m := client.expect("error", termSessionFailed); m.Message != errUnknownSession.Cause || m.SessionID == "" {
		t.Errorf("%+v", m)
	}
}

// TestInputDoesNotHoldAcknowledgementsUp: a program that waits for acknowledgements
// does not read its input. Both come over the same socket.
func TestInputDoesNotHoldAcknowledgementsUp(t *testing.T) {
	f := newFakeTerms()
	wait := make(chan struct{})
	f.block["input"] = wait
	s, c := serveTerms(t, f, func(s *Server) { s.termFarewell = patience })
	client := dialTerm(t, s, c)
	id := client.open()
	client.say(`{"type":"input","data":"YQ=="}`)
	f.waitCall(t, `input `+string(id)+` "a"`)
	for _, p := range []string{"b", "c", ""} {
		if err := client.conn.Write(t.Context(), websocket.MessageBinary, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	client.say(`{"type":"ack","offset":6}`)
	client.say(`{"type":"ack","offset":7,"session_id":"` + string(unusedID) + `"}`)
	client.say(`{"type":"resync"}`)
	f.waitCall(t, "resync "+string(id))
	if got := f.called("ack"); !slices.Equal(got, []string{"ack " + string(id) + " 6"}) {
		t.Errorf("%q", got)
	}
	client.conn.CloseNow() // input that was received still reaches the session
	f.waitCall(t, "detach "+string(id))
	close(wait)
	f.waitCall(t, `input `+string(id)+` "b"`)
	f.waitCall(t, `input `+string(id)+` "c"`)
}

// TestReadingPausesForInput fills the input queue. The end of the socket frees the
// reader.
func TestReadingPausesForInput(t *testing.T) {
	f := newFakeTerms()
	f.block["input"] = make(chan struct{}) // until the server closes
	var srv *Server
	s, c := serveTerms(t, f, func(s *Server) { srv = s })
	client := dialTerm(t, s, c)
	client.open()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	piece := make([]byte, maxTermMessage)
	for i := 0; ; i++ {
		if err := client.conn.Write(ctx, websocket.MessageBinary, piece); err != nil {
			break
		}
		if i > 4*maxTyped/maxTermMessage {
			t.Fatal("nothing bounds what waits for a program")
		}
	}
	begun := time.Now()
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(begun); d > patience {
		t.Errorf("closing took %v", d)
	}
}

// TestClientThatDoesNotRead is disconnected, and its session is only detached.
func TestClientThatDoesNotRead(t *testing.T) {
	f := newFakeTerms()
	s, c := serveTerms(t, f, func(s *Server) { s.termBudget = 50 * time.Millisecond })
	f.screen = strings.Repeat("x", 500*termFrame) // more than the buffers of any loopback connection hold
	client := dialTerm(t, s, c)
	client.say(`{"type":"create","channel_id":"ch"}`)
	f.waitCall(t, "detach "+string(firstID))
	if got := f.called("close"); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if _, err := f.get(firstID); err != nil {
		t.Error("the session is gone")
	}
}

// TestServerEndsTerminalSockets: the server tells its clients that it closes. Clients
// that do not answer delay nobody.
func TestServerEndsTerminalSockets(t *testing.T) {
	f := newFakeTerms()
	f.block["create"] = make(chan struct{})
	// Every client has the time to hear of it, even on a machine that is very busy.
	s, c := serveTerms(t, f, func(s *Server) { s.termGoodbye = 10 * patience })
	free, busy, deaf := dialTerm(t, s, c), dialTerm(t, s, c), dialTerm(t, s, c)
	busy.say(`{"type":"create","channel_id":"ch"}`)
	f.waitCall(t, `create {"channel_id":"ch"}`)
	told := make(chan error, 1)
	go func() {
		_, _, err := free.conn.Read(context.WithoutCancel(t.Context()))
		told <- err
	}()
	begun := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if d := time.Since(begun); d > patience {
		t.Errorf("closing took %v", d)
	}
	if err := <-told; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("not told: %v", err)
	}
	_ = deaf
}

// TestResizesAreCoalesced: of a thousand sizes within a second, one reaches the service
// every 20 ms. The last one always does.
func TestResizesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeTerms()
		z := newSizer()
		done := make(chan struct{})
		go func() {
			defer close(done)
			z.run(t.Context(), func(s sizeWish) {
				if err := f.Resize(t.Context(), s.id, s.cols, s.rows); err != nil {
					t.Error(err)
				}
			})
		}()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := range 1000 {
			<-tick.C
			z.set(sizeWish{firstID, uint16(i + 1), 24})
		}
		synctest.Wait()
		if n := len(f.called("resize")); n < 40 || n > 52 {
			t.Errorf("%d of 1000 passed", n)
		}
		<-time.After(resizeEvery)
		synctest.Wait()
		if all := f.called("resize"); all[len(all)-1] != "resize "+string(firstID)+" 1000x24" {
			t.Errorf("the last is %q", all[len(all)-1])
		}
		z.set(sizeWish{firstID, 7, 7})
		z.set(sizeWish{firstID, 8, 8})
		close(z) // the same holds while the service is closing
		<-done
		if all := f.called("resize"); all[len(all)-1] != "resize "+string(firstID)+" 8x8" {
			t.Errorf("the last is %q", all[len(all)-1])
		}
	})
}

// TestTerminalFrontDoor: a caller who may not make calls may not open a terminal
// either.
func TestTerminalFrontDoor(t *testing.T) {
	s, c := serveTerms(t, newFakeTerms(), nil)
	port := s.Addr()[strings.LastIndex(s.Addr(), ":"):]
	for name, tc := range map[string]struct {
		protocols    []string
		host, origin string
		auth         string
		code         int
	}{
		"as it should be":     {protocols: []string{"loop", "loop.token." + token}, origin: "http://127.0.0.1" + port, code: 101},
		"the window":          {protocols: []string{"loop", "loop.token." + token}, origin: "wails://wails", code: 101},
		"a program":           {protocols: []string{"loop"}, auth: "Bearer " + token, code: 101},
		"no token":            {protocols: []string{"loop"}, code: 401},
		"wrong token":         {protocols: []string{"loop", "loop.token." + strings.Repeat("0", 64)}, code: 401},
		"token as a protocol": {protocols: []string{token}, code: 401},
		"of another kind":     {protocols: []string{"loop"}, auth: "Basic " + token, code: 401},
		"foreign origin":      {protocols: []string{"loop", "loop.token." + token}, origin: "https://evil.example", code: 403},
		"origin null":         {protocols: []string{"loop", "loop.token." + token}, origin: "null", code: 403},
		"foreign host":        {protocols: []string{"loop", "loop.token." + token}, host: "evil.example" + port, code: 403},
		"host without port":   {protocols: []string{"loop", "loop.token." + token}, host: "127.0.0.1", code: 403},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			if tc.origin != "" {
				h.Set("Origin", tc.origin)
			}
			if tc.auth != "" {
				h.Set("Authorization", tc.auth)
			}
			conn, res, err := websocket.Dial(t.Context(), "ws://"+s.Addr()+"/api/ws/terminal?token="+token, &websocket.DialOptions{HTTPClient: c, Subprotocols: tc.protocols, HTTPHeader: h, Host: tc.host})
			if err == nil {
				defer conn.CloseNow()
			}
			if res == nil || res.StatusCode != tc.code {
				t.Errorf("%v %v, want %d", res, err, tc.code)
			}
		})
	}
	if code, _ := request(t, c, "GET", s.URL()+"api/ws/terminal", "", map[string]string{"Authorization": "Bearer " + token}); code != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %d", code)
	}
}

// TestAnyOrder sends valid and invalid messages in any order while sessions print,
// change and end. Each error is answered, and the socket stays open.
func TestAnyOrder(t *testing.T) {
	said := []string{
		`{"type":"create","channel_id":"ch","acks":true}`, `{"type":"create","target":"host"}`, `{"type":"create"}`,
		`{"type":"attach","session_id":"00000000000000000000000000000001","acks":true}`, `{"type":"attach","session_id":"00000000000000000000000000000002"}`,
		`{"type":"attach","session_id":"x"}`, `{"type":"detach"}`, `{"type":"resync"}`, `{"type":"show","visible":false}`, `{"type":"show","visible":true}`,
		`{"type":"input","data":"eA=="}`, `{"type":"input","data":"*"}`, `{"type":"resize","rows":9,"cols":9}`, `{"type":"ack","offset":99999999999}`, `{"type":"ack","offset":-1}`,
		`{"type":"record","on":true}`, `{"type":"close"}`, `{"type":"stop","session_id":"00000000000000000000000000000003"}`, `{"type":"kill","channel_id":"ch"}`, `{`, `{"type":""}`,
	}
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		f := newFakeTerms()
		s, c := serveTerms(t, f, nil)
		client := dialTerm(t, s, c)
		heard := make(chan int)
		ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
		defer cancel()
		go func() {
			n := 0
			defer func() { heard <- n }()
			for {
				_, data, err := client.conn.Read(ctx)
				if err != nil {
					t.Errorf("seed %d: the socket ended: %v", seed, err)
					return
				}
				if n++; strings.Contains(string(data), "unknown_message") && strings.Contains(string(data), "the end") {
					return
				}
			}
		}()
		for range 500 {
			switch rnd.IntN(10) {
			case 0:
				if err := client.conn.Write(t.Context(), websocket.MessageBinary, make([]byte, rnd.IntN(100))); err != nil {
					t.Fatal(err)
				}
			case 1, 2, 3:
				id := core.TerminalID(fmt.Sprintf("%032d", 1+rnd.IntN(5)))
				switch s, err := f.get(id); {
				case err != nil:
				case rnd.IntN(8) == 0:
					f.exit(s, core.TerminalExit{})
				default:
					f.show(id, core.TerminalFrame{Kind: core.FrameKind(1 + rnd.IntN(3)), Data: []byte("x"), Cols: 10, Rows: 10})
				}
			default:
				client.say(said[rnd.IntN(len(said))])
			}
		}
		client.say(`{"type":"the end"}`)
		if n := <-heard; n < 100 {
			t.Errorf("seed %d: only %d answers", seed, n)
		}
		client.conn.CloseNow()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		f.mu.Lock()
		for id, s := range f.sessions {
			if len(s.viewers) > 0 {
				t.Errorf("seed %d: %d viewers of %s are left", seed, len(s.viewers), id)
			}
		}
		f.mu.Unlock()
	}
}
