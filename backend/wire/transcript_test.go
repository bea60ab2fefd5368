package wire

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txtar from the code")

// transcripts are whole streams, one per op: the messages of both ends, in order. A
// change here is a change of the protocol, and of the messages that old guests
// understand.
var transcripts = map[string][]message{
	"hello": {
		{"guest", Request{Op: OpHello, Hello: &Hello{Protocol: Protocol, GuestVersion: "1.2.3", BootID: "b00t", Arch: "arm64", Pid1UID: SupervisorID}}},
		{"host", Reply{}},
	},
	"hello-refused": {
		{"guest", Request{Op: OpHello, Hello: &Hello{Protocol: 9, BootID: "b00t", Arch: "amd64"}}},
		{"host", Refuse(CodeProtocol, "the container speaks protocol 9, this Loop speaks 2")},
	},
	"http":         {{"guest", Request{Op: OpHTTP, ID: "a1"}}, {"host", Reply{}}},
	"proxy":        {{"guest", Request{Op: OpProxy, ID: "a1"}}, {"host", Reply{}}},
	"dial":         {{"host", Request{Op: OpDial, Port: 8080}}, {"guest", Reply{}}},
	"dial-refused": {{"host", Request{Op: OpDial, Port: 8080}}, {"guest", Refuse(CodeNotFound, "nothing listens on port 8080")}},
	"ports": {
		{"host", Request{Op: OpPorts}},
		{"guest", Reply{Ports: []Port{{Port: 8080, Process: "node"}, {Port: 9229}}}},
	},
	"ping": {{"host", Request{Op: OpPing}}, {"guest", Reply{}}},
	"list": {
		{"host", Request{Op: OpList}},
		{"guest", Reply{Spawns: []Info{
			{ID: "a1", Pid: 17, Stdio: StdioPipes, Started: 1700000000000, OutEnd: 512, ErrEnd: 3, Paused: PausedDisk, Detached: []string{"npm run dev"}},
			{ID: "b2", Pid: 31, Stdio: StdioPTY, Started: 1700000001000, OutBase: 100, OutEnd: 900, Exit: &Exit{Code: 143, Signal: "SIGTERM", At: 1700000002000}},
		}}},
	},
	"spawn": {
		{"host", Request{Op: OpSpawn, ID: "a1", Spawn: &Spawn{
			Argv: []string{"claude", "--print", "say “hi”"}, Env: []string{"ANTHROPIC_API_KEY=k"}, Dir: "/home/u/p", Stdio: StdioPipes,
			HasStdin: true, StdinSize: 5, Files: []File{{Name: "mcp.json", Size: 2}}, Spool: true}}},
		{"host", body("hello{}")},
		{"guest", Reply{Info: &Info{ID: "a1", Pid: 17, Stdio: StdioPipes, Started: 1700000000000}}},
	},
	"spawn-pipes": {
		{"host", Request{Op: OpSpawn, ID: "c3", Spawn: &Spawn{
			Argv: []string{"chrome", "--remote-debugging-pipe"}, Stdio: StdioPipes, Pause: true, Pipes: []Pipe{{FD: 3}, {FD: 4, Write: true}}}}},
		{"guest", Reply{Info: &Info{ID: "c3", Pid: 9, Stdio: StdioPipes, Started: 1700000000000}}},
	},
	"spawn-policy": {
		{"host", Request{Op: OpSpawn, ID: "d4", Spawn: &Spawn{
			Argv: []string{"sh"}, Stdio: StdioPipes, HasStdin: true, StdinSize: 5,
			Policy: &Policy{Version: 3, Hash: strings.Repeat("0f", 32), Size: 2}}}},
		{"host", body("hello{}")},
		{"guest", Refuse(CodePolicy, "line 1, column 2: default_decision is missing")},
	},
	"read-pipe": {
		{"host", Request{Op: OpRead, ID: "c3", Stream: "4", Hold: 256 << 10}},
		{"guest", Reply{}},
		{"guest", chunk("{}\x00")},
		{"host", mark(3)},
		{"guest", chunk("")},
		{"guest", Reply{Offset: 3}},
	},
	"write-pipe": {
		{"host", Request{Op: OpStdin, ID: "c3", Stream: "3"}},
		{"guest", Reply{}},
		{"host", chunk("{}\x00")},
		{"host", chunk("")},
		{"host", Reply{}},
		{"guest", Reply{}},
	},
	"spawn-pty": {
		{"host", Request{Op: OpSpawn, ID: "b2", Spawn: &Spawn{Argv: []string{"bash", "-l"}, Stdio: StdioPTY, Cols: 120, Rows: 40}}},
		{"guest", Refuse(CodeNoProgram, `program "bash" is not in PATH (/bin)`)},
	},
	"read": {
		{"host", Request{Op: OpRead, ID: "a1", Stream: StreamOut, Offset: 100}},
		{"guest", Reply{Offset: 100}},
		{"guest", chunk("some output\n")},
		{"guest", chunk("")},
		{"guest", Reply{Offset: 112}},
	},
	"read-gap": {
		{"host", Request{Op: OpRead, ID: "b2", Stream: StreamOut}},
		{"guest", Reply{Offset: 4096}},
		{"guest", chunk("")},
		{"guest", Reply{Offset: 9000, Error: NewError(CodeGap, "output before offset 9000 is gone (asked for 4096)")}},
	},
	"read-held": {
		{"host", Request{Op: OpRead, ID: "b2", Stream: StreamOut, Offset: 100, Hold: 256 << 10}},
		{"guest", Reply{Offset: 4096}},
		{"guest", chunk("some output\n")},
		{"host", mark(4108)},
		{"guest", chunk("")},
		{"guest", Reply{Offset: 4108}},
	},
	"stdin": {
		{"host", Request{Op: OpStdin, ID: "b2"}},
		{"guest", Reply{}},
		{"host", chunk("ls\r")},
		{"host", chunk("")},
		{"host", Reply{}},
		{"guest", Reply{}},
	},
	"policy": {
		{"host", Request{Op: OpPolicy, ID: "a1", Policy: &Policy{Version: 3, Hash: strings.Repeat("a0", 32), Size: 2}}},
		{"host", body("{}")},
		{"guest", Reply{Policy: &PolicyState{Version: 3, Hash: strings.Repeat("a0", 32)}}},
	},
	"policy-older": {
		{"host", Request{Op: OpPolicy, Policy: &Policy{Version: 2, Hash: strings.Repeat("b1", 32)}}},
		{"guest", Refuse(CodeConflict, "policy version 3 is there already")},
	},
	"questions": {
		{"host", Request{Op: OpQuestions}},
		{"guest", Reply{}},
		{"guest", Question{ID: 1, Spawn: "a1", Kind: "file", Detail: []byte("/home/u/.bashrc")}},
		{"guest", Question{ID: 2, Spawn: "a1", Kind: "exec", Detail: []byte("make\x00install")}},
		{"host", Answer{ID: 2, Allow: true}},
		{"guest", Question{ID: 1, Withdrawn: true}},
		{"guest", Question{ID: 3, Spawn: "b2", Kind: "file"}},
		{"host", Deny(3, "not while nobody is there")},
		{"guest", Question{ID: 4, Spawn: "b2", Kind: KindDecided, Detail: []byte(`{"policy":1,"unruled":12}`), Told: 1}},
	},
	"resize": {{"host", Request{Op: OpResize, ID: "b2", Cols: 80, Rows: 24}}, {"guest", Reply{}}},
	"signal": {{"host", Request{Op: OpSignal, ID: "a1", Signal: "SIGINT"}}, {"guest", Refuse(CodeEnded, "spawn a1 has ended")}},
	"kill":   {{"host", Request{Op: OpKill, ID: "a1"}}, {"guest", Reply{}}},
	"wait":   {{"host", Request{Op: OpWait, ID: "a1"}}, {"guest", Reply{Exit: &Exit{Code: 0, At: 1700000003000}}}},
	"forget": {{"host", Request{Op: OpForget, ID: "a1"}}, {"guest", Refuse(CodeConflict, "spawn a1 still runs")}},
}

type message struct {
	from string
	what any
}

type (
	body  string
	chunk string
	mark  int64
)

// render encodes a message as for the wire, and shows it as text.
func render(t *testing.T, m message) string {
	t.Helper()
	var buf bytes.Buffer
	switch v := m.what.(type) {
	case body:
		return "bytes " + string(v) + "\n"
	case chunk:
		if v == "" {
			return "chunk end\n"
		}
		return "chunk " + strings.NewReplacer("\r", `\r`, "\n", `\n`, "\x00", `\0`).Replace(string(v)) + "\n"
	case mark:
		if err := WriteMark(&buf, int64(v)); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("mark %x\n", buf.Bytes())
		if off, err := ReadMark(&buf); err != nil || off != int64(v) {
			t.Fatalf("own mark is %d: %v", off, err)
		}
		return text
	case Request:
		if err := WriteFrame(&buf, v); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRequest(bytes.NewReader(buf.Bytes())); err != nil {
			t.Fatalf("own request refused: %v", err)
		}
	case Question:
		if err := errors.Join(WriteFrame(&buf, v), v.Validate()); err != nil {
			t.Fatal(err)
		}
	default:
		if err := WriteFrame(&buf, v); err != nil {
			t.Fatal(err)
		}
	}
	val := jsontext.Value(buf.Bytes()[4:])
	if err := val.Compact(); err != nil {
		t.Fatal(err)
	}
	return "frame " + string(val) + "\n"
}

func TestTranscripts(t *testing.T) {
	for name, messages := range transcripts {
		t.Run(name, func(t *testing.T) {
			ar := &txtar.Archive{Comment: []byte("One " + name + " stream. Regenerate with: go test ./backend/wire -update\n")}
			for _, m := range messages {
				ar.Files = append(ar.Files, txtar.File{Name: m.from, Data: []byte(render(t, m))})
			}
			got := txtar.Format(ar)
			path := filepath.Join("testdata", name+".txtar")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the protocol changed:\n%s\nwas\n%s", got, want)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(transcripts) {
		t.Errorf("%d files for %d transcripts (%v)", len(files), len(transcripts), err)
	}
}
