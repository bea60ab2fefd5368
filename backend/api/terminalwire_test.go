package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/tools/txtar"

	"loop/backend/core"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txtar from the code")

// TestTerminalTranscript plays the conversations of testdata/terminal.txtar: lines of
// the client (“>”, binary “>>”), events of the session (“!”), and lines of the server
// (“<”, binary “<<”). The flag -update rewrites the lines of the server. A change of
// those lines is a change of the protocol.
func TestTerminalTranscript(t *testing.T) {
	name := filepath.Join("testdata", "terminal.txtar")
	arc, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range arc.Files {
		got := playTranscript(t, file.Data)
		if *update {
			arc.Files[i].Data = got
		} else if !bytes.Equal(got, file.Data) {
			t.Errorf("%s:\n%s\nwant\n%s", file.Name, got, file.Data)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(arc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// playTranscript sends the client’s lines and notes the answers.
func playTranscript(t *testing.T, script []byte) []byte {
	f := newFakeTerms()
	s, c := serveTerms(t, f, nil)
	client := dialTerm(t, s, c)
	var out bytes.Buffer
	for sc := bufio.NewScanner(bytes.NewReader(script)); sc.Scan(); {
		line := sc.Text()
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "<" || verb == "<<" {
			continue
		}
		fmt.Fprintln(&out, line)
		answers := 1
		switch verb {
		case ">":
			client.say(rest)
		case ">>":
			if err := client.conn.Write(t.Context(), websocket.MessageBinary, []byte(rest)); err != nil {
				t.Fatal(err)
			}
			answers = 0
		case "!":
			happen(t, f, rest)
		default: // a comment
			answers = 0
		}
		if strings.Contains(line, `"create"`) || strings.Contains(line, `"attach"`) || strings.HasPrefix(line, "! snapshot") {
			answers = 2
		}
		for _, quiet := range []string{`"ack"`, `"show"`, `"resync"`, `"clear"`, `"resize","rows":40`, `"input","data":"bHM="`} {
			if strings.Contains(line, quiet) {
				answers = 0
			}
		}
		for range answers {
			kind, data := client.read()
			if kind == websocket.MessageBinary {
				fmt.Fprintf(&out, "<< %s\n", data)
				continue
			}
			fmt.Fprintf(&out, "< %s\n", data)
			if strings.HasPrefix(string(data), `{"type":"error"`) {
				break
			}
		}
	}
	return out.Bytes()
}

func happen(t *testing.T, f *fakeTerms, what string) {
	t.Helper()
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "output":
		f.show(firstID, core.TerminalFrame{Kind: core.FrameOutput, Data: []byte(rest)})
	case "resized":
		f.show(firstID, core.TerminalFrame{Kind: core.FrameResized, Cols: 120, Rows: 40, Offset: 1006})
	case "snapshot":
		f.show(firstID, core.TerminalFrame{Kind: core.FrameSnapshot, Cols: 120, Rows: 40, Offset: 9000, Data: []byte(rest)})
	case "exit":
		s, err := f.get(firstID)
		if err != nil {
			t.Fatal(err)
		}
		f.exit(s, core.TerminalExit{Code: 137, Signal: "KILL", Reason: rest})
	default:
		t.Fatalf("the transcript says %q", what)
	}
}

// FuzzControl: a message is either refused with a code of the protocol, or its values
// are within their bounds.
func FuzzControl(f *testing.F) {
	for _, seed := range []string{
		`{"type":"create","container_id":"abc","channel_id":"c","cmd":["/bin/bash","-l"],"target":"host","rows":24,"cols":80,"open_mode":"fork"}`,
		`{"type":"attach","session_id":"00000000000000000000000000000001","acks":true}`,
		`{"type":"input","data":"bHMgLWxhCg=="}`, `{"type":"resize","rows":65535,"cols":18446744073709551615}`,
		`{"type":"ack","offset":-1}`, `{"type":"show","visible":null}`, `{"type":"record","on":1}`, `{"type":"create","title":"\u202e\u0000"}`,
		`{"TYPE":"kill","channel_id":"x","channel_id":""}`, "{\"type\":\"\xff\"}", `[[[[`, `null`,
	} {
		f.Add([]byte(seed))
	}
	codes := map[core.Code]bool{termInvalidJSON: true, termMissingField: true, termInvalidInput: true, termUnknownMessage: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, bad := decodeControl(data)
		if bad == nil && m.Type != "create" && m.Type != "attach" && m.Type != "kill" {
			bad = m.checkAttached()
		}
		if bad != nil {
			if !codes[bad.Code] || bad.Cause == "" {
				t.Fatalf("%+v", bad)
			}
			if b, err := json.Marshal(status{Type: "error", Message: bad.Cause}); err != nil || len(b) > 4<<10 {
				t.Fatalf("an answer of %d bytes: %v", len(b), err)
			}
			return
		}
		spec := m.spec()
		if spec.Cols > core.MaxTerminalCols || spec.Rows > core.MaxTerminalRows || len(spec.Cmd) > core.MaxTerminalArgs || len([]rune(spec.Title)) > 200 {
			t.Fatalf("%+v", spec)
		}
		if isSessionID(m.SessionID) && len(m.SessionID) != 32 {
			t.Fatal(m.SessionID)
		}
	})
}
