package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFrameRoundTrip(t *testing.T) {
	var buf bytes.Buffer
	in := Request{Op: OpRead, ID: "a1", Stream: StreamOut, Offset: 1 << 40}
	if err := WriteFrame(&buf, in); err != nil {
		t.Fatal(err)
	}
	// A reader that returns one byte at a time must make no difference.
	got, err := ReadRequest(iotest.OneByteReader(&buf))
	if err != nil || got != in {
		t.Fatalf("%+v %v", got, err)
	}
	if _, err := ReadRequest(&buf); !errors.Is(err, io.EOF) {
		t.Fatalf("at the end: %v", err)
	}
}

func frame(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestReadFrameRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"torn length":     {[]byte{0, 0}, "unexpected EOF"},
		"torn body":       {append(frame(`{"op":"ping"}`)[:8], 'x'), "unexpected EOF"},
		"no body":         {frame(`{"op":"ping"}`)[:4], "unexpected EOF"},
		"too large":       {[]byte{0, 0x10, 0, 1}, "too large"},
		"huge":            {[]byte{0xff, 0xff, 0xff, 0xff}, "too large"},
		"not JSON":        {frame("hello"), "decode frame"},
		"trailing":        {frame(`{"op":"ping"}{}`), "decode frame"},
		"duplicate name":  {frame(`{"op":"ping","op":"list"}`), "duplicate"},
		"other case":      {frame(`{"OP":"ping"}`), "unknown op"},
		"invalid UTF-8":   {frame("{\"op\":\"\xff\"}"), "UTF-8"},
		"unknown op":      {frame(`{"op":"format"}`), "unknown op"},
		"id with a path":  {frame(`{"op":"kill","id":"../../x"}`), "not a name"},
		"id too long":     {frame(`{"op":"kill","id":"` + strings.Repeat("a", 65) + `"}`), "not a name"},
		"negative offset": {frame(`{"op":"read","id":"a","stream":"out","offset":-1}`), "negative"},
		"odd stream":      {frame(`{"op":"read","id":"a","stream":"both"}`), "neither"},
		"no cells":        {frame(`{"op":"resize","id":"a","cols":0,"rows":5}`), "no cells"},
		"empty hello":     {frame(`{"op":"hello"}`), "without its fields"},
	} {
		_, err := ReadRequest(bytes.NewReader(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewerPeerMaySayMore(t *testing.T) {
	q, err := ReadRequest(bytes.NewReader(frame(`{"op":"ping","colour":"green"}`)))
	if err != nil || q.Op != OpPing {
		t.Fatalf("%+v %v", q, err)
	}
}

func TestSpawnRefuses(t *testing.T) {
	ok := Spawn{Argv: []string{"true"}, Stdio: StdioPipes}
	for name, change := range map[string]func(*Spawn){
		"no argv":          func(s *Spawn) { s.Argv = nil },
		"empty program":    func(s *Spawn) { s.Argv = []string{""} },
		"NUL in argv":      func(s *Spawn) { s.Argv = []string{"a", "b\x00c"} },
		"many args":        func(s *Spawn) { s.Argv = make([]string, MaxArgs+1); s.Argv[0] = "x" },
		"env without =":    func(s *Spawn) { s.Env = []string{"HOME"} },
		"env without name": func(s *Spawn) { s.Env = []string{"=x"} },
		"NUL in env":       func(s *Spawn) { s.Env = []string{"A=\x00"} },
		"relative dir":     func(s *Spawn) { s.Dir = "work" },
		"odd stdio":        func(s *Spawn) { s.Stdio = "socket" },
		"spooled pty":      func(s *Spawn) { s.Stdio, s.Spool = StdioPTY, true },
		"pausing pty":      func(s *Spawn) { s.Stdio, s.Pause = StdioPTY, true },
		"pty with a pipe":  func(s *Spawn) { s.Stdio, s.Pipes = StdioPTY, []Pipe{{FD: 3}} },
		"spool and pause":  func(s *Spawn) { s.Spool, s.Pause = true, true },
		"pipe at stderr":   func(s *Spawn) { s.Pipes = []Pipe{{FD: 2}} },
		"pipe too high":    func(s *Spawn) { s.Pipes = []Pipe{{FD: MaxPipeFD + 1}} },
		"pipe twice":       func(s *Spawn) { s.Pipes = []Pipe{{FD: 3}, {FD: 3, Write: true}} },
		"stdin unasked":    func(s *Spawn) { s.StdinSize = 5 },
		"late of closed":   func(s *Spawn) { s.StdinWithin = 1 },
		"late with stdin":  func(s *Spawn) { s.HasStdin, s.StdinSize, s.OpenStdin, s.StdinWithin = true, 5, true, 1 },
		"very late stdin":  func(s *Spawn) { s.OpenStdin, s.StdinWithin = true, MaxStdinWithin+1 },
		"never too late":   func(s *Spawn) { s.OpenStdin, s.StdinWithin = true, -1 },
		"negative stdin":   func(s *Spawn) { s.HasStdin, s.StdinSize = true, -5 },
		"file in a path":   func(s *Spawn) { s.Files = []File{{Name: "a/b"}} },
		"file named ..":    func(s *Spawn) { s.Files = []File{{Name: ".."}} },
		"file twice":       func(s *Spawn) { s.Files = []File{{Name: "a"}, {Name: "a"}} },
		"negative file":    func(s *Spawn) { s.Files = []File{{Name: "a", Size: -1}} },
		"large file":       func(s *Spawn) { s.Files = []File{{Name: "a", Size: MaxBody + 1}} },
		"large together":   func(s *Spawn) { s.Files = []File{{Name: "a", Size: MaxBody}, {Name: "b", Size: 1}} },
		"many files":       func(s *Spawn) { s.Files = make([]File, MaxFiles+1) },
		"odd policy":       func(s *Spawn) { s.Policy = &Policy{Hash: strings.Repeat("0f", 32)} },
		"large policy":     func(s *Spawn) { s.Policy = &Policy{Version: 1, Hash: strings.Repeat("0f", 32), Size: MaxPolicy + 1} },
	} {
		s := ok
		change(&s)
		if err := (Request{Op: OpSpawn, ID: "a", Spawn: &s}).Validate(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if err := (Request{Op: OpSpawn, ID: "a", Spawn: &ok}).Validate(); err != nil {
		t.Errorf("a plain spawn: %v", err)
	}
}

func TestPolicyRefuses(t *testing.T) {
	ok := Policy{Version: 1, Hash: strings.Repeat("0f", 32), Size: MaxPolicy}
	for name, change := range map[string]func(*Policy){
		"no version": func(p *Policy) { p.Version = 0 },
		"no hash":    func(p *Policy) { p.Hash = "" },
		"odd hash":   func(p *Policy) { p.Hash = strings.Repeat("0F", 32) },
		"large":      func(p *Policy) { p.Size = MaxPolicy + 1 },
		"negative":   func(p *Policy) { p.Size = -1 },
	} {
		p := ok
		change(&p)
		if err := (Request{Op: OpPolicy, Policy: &p}).Validate(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, id := range []string{"", "a"} {
		if err := (Request{Op: OpPolicy, ID: id, Policy: &ok}).Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, q := range []Request{{Op: OpPolicy}, {Op: OpPolicy, ID: "../a", Policy: &ok}} {
		if q.Validate() == nil {
			t.Errorf("%+v was accepted", q)
		}
	}
}

func TestWriteFrameTooLarge(t *testing.T) {
	s := Spawn{Argv: []string{strings.Repeat("x", MaxFrame)}, Stdio: StdioPipes}
	if err := WriteFrame(io.Discard, Request{Op: OpSpawn, Spawn: &s}); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
}

func TestChunks(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), MaxChunk/5) // two chunks
	var buf bytes.Buffer
	w := NewChunkWriter(&buf)
	if n, err := w.Write(data); n != len(data) || err != nil {
		t.Fatal(n, err)
	}
	if err := w.End(Reply{Offset: 77}); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(buf.Bytes())
	buf.WriteString("beyond")
	r := NewChunkReader(&buf)
	got, err := io.ReadAll(iotest.HalfReader(r))
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if buf.String() != "beyond" {
		t.Fatalf("read past the end: %q left", buf.String())
	}
	// Cut at any place, the output must never look complete.
	for cut := 0; cut < len(whole); cut += 1 + cut/3 {
		if _, err := io.ReadAll(NewChunkReader(bytes.NewReader(whole[:cut]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

func TestChunksEndWithError(t *testing.T) {
	var buf bytes.Buffer
	w := NewChunkWriter(&buf)
	if err := w.End(Refuse(CodeGap, "gone")); err != nil {
		t.Fatal(err)
	}
	_, err := io.ReadAll(NewChunkReader(&buf))
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeGap {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(NewChunkReader(bytes.NewReader([]byte{0, 1, 0, 1}))); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
}

func TestErrorTextIsBounded(t *testing.T) {
	e := NewError(CodeInternal, strings.Repeat("ä\xff", MaxText))
	var buf bytes.Buffer
	if err := WriteFrame(&buf, Reply{Error: e}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReply(&buf); err == nil || err.Error() != e.Text {
		t.Fatal(err)
	}
}

func TestExitRecord(t *testing.T) {
	in := ExitRecord{ID: "a", Exit: Exit{Code: 137, Signal: "SIGKILL", At: 5}, OutEnd: 9, BootID: "b"}
	data, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := ParseExitRecord("a", data); err != nil || out != in {
		t.Fatalf("%+v %v", out, err)
	}
	for _, bad := range []string{"", "{", `{"id":"other"}`, `{"id":"a","out_end":-1}`, strings.Repeat(" ", maxExitRecord+1)} {
		if _, err := ParseExitRecord("a", []byte(bad)); err == nil {
			t.Errorf("%.20q was accepted", bad)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	info := Info{ID: "0123456789abcdef0123456789abcdef", Pid: 77, Stdio: StdioPipes, Started: 1_700_000_000_000, OutEnd: 123456}
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := WriteFrame(&buf, Reply{Info: &info}); err != nil {
			b.Fatal(err)
		}
		if _, err := ReadReply(&buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChunks(b *testing.B) {
	data := make([]byte, 1<<20)
	var buf bytes.Buffer
	out := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		buf.Reset()
		w := NewChunkWriter(&buf)
		if _, err := w.Write(data); err != nil {
			b.Fatal(err)
		}
		if err := w.End(Reply{}); err != nil {
			b.Fatal(err)
		}
		r := NewChunkReader(&buf)
		for {
			if _, err := r.Read(out); err != nil {
				break
			}
		}
	}
}
