package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRequest: an accepted request is the same after it was written and read again.
func FuzzRequest(f *testing.F) {
	f.Add(frame(`{"op":"ping"}`))
	f.Add(frame(`{"op":"read","id":"a","stream":"out","offset":5}`))
	f.Add(frame(`{"op":"spawn","id":"a","spawn":{"argv":["sh"],"env":["A=b"],"stdio":"pipes","files":[{"name":"x","size":3}]}}`))
	f.Add(frame(`{"op":"read","id":"a","stream":"4","hold":9}`))
	f.Add(frame(`{"op":"spawn","id":"a","spawn":{"argv":["sh"],"stdio":"pipes","pause":true,"pipes":[{"fd":3},{"fd":4,"write":true}]}}`))
	f.Add(frame(`{"op":"policy","id":"a","policy":{"version":1,"hash":"` + strings.Repeat("0f", 32) + `","size":3}}`))
	f.Add(frame(`{"op":"hello","hello":{"protocol":1,"boot_id":"b","arch":"amd64","pid1_uid":64999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := ReadRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		if q.Op == OpSpawn {
			size := q.Spawn.StdinSize
			for _, f := range q.Spawn.Files {
				size += f.Size
			}
			if size > MaxBody {
				t.Fatalf("body of %d bytes accepted", size)
			}
		}
		var buf bytes.Buffer
		if err := WriteFrame(&buf, q); err != nil {
			if errors.Is(err, ErrTooLarge) {
				return
			}
			t.Fatal(err)
		}
		if _, err := ReadRequest(&buf); err != nil {
			t.Fatalf("not accepted a second time: %v", err)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add(frame(`{}`))
	f.Add(frame(`{"error":{"code":"gap","text":"gone"},"offset":7}`))
	f.Add(frame(`{"spawns":[{"id":"a","pid":1,"stdio":"pty","started":1,"out_end":5,"err_end":0}]}`))
	f.Add(frame(`{"ports":[{"port":8080,"process":"node"},{"port":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadReply(bytes.NewReader(data))
		if err == nil && p.Validate() != nil {
			t.Fatal("accepted and not valid")
		}
	})
}

// FuzzChunks: any chunk stream ends, and gives no more bytes than it has.
func FuzzChunks(f *testing.F) {
	var buf bytes.Buffer
	w := NewChunkWriter(&buf)
	_, _ = w.Write([]byte("hello"))
	_ = w.End(Reply{Offset: 5})
	f.Add(buf.Bytes())
	f.Add([]byte{0, 0, 0, 2, 'a'})
	f.Add([]byte{0xff, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		n, err := io.Copy(io.Discard, NewChunkReader(in))
		if n > int64(len(data)) {
			t.Fatalf("%d bytes out of %d", n, len(data))
		}
		if err != nil {
			return
		}
		// The stream ended with the reply of its end mark. One byte less must be an
		// error.
		short := data[:len(data)-in.Len()-1]
		if _, err := io.Copy(io.Discard, NewChunkReader(bytes.NewReader(short))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("without its last byte: %v", err)
		}
	})
}

// FuzzDecisions: what is accepted of a supervisor's report is bounded.
func FuzzDecisions(f *testing.F) {
	f.Add([]byte(`{"policy":1,"allowed":[{"rule":"a","operation":"read","calls":3}],"unruled":9}`))
	f.Add([]byte(`{"policy":1,"denied":[{"kind":"file","operation":"read","target":"/x","calls":1,"processes":[{"pid":1,"command":"x"}]}]}`))
	f.Add([]byte(`{"unruled":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decisions
		if json.Unmarshal(data, &d) != nil || d.Validate() != nil {
			return
		}
		calls := d.Unruled + d.Uncounted + d.AllowedMore
		for _, c := range d.Allowed {
			calls += c.Calls
		}
		for _, c := range d.Denied {
			calls += c.Calls
		}
		if calls < 0 || len(d.Allowed) > MaxRuleCounts || len(d.Denied) > MaxDenials {
			t.Fatalf("accepted %+v", d)
		}
	})
}

// FuzzQuestions: an accepted question is bounded, and the same after it was written
// again. Bytes without a clear permission never make an answer that allows.
func FuzzQuestions(f *testing.F) {
	f.Add(frame(`{"id":1,"spawn":"a","kind":"file","detail":"L2hvbWU="}`))
	f.Add(frame(`{"id":1,"withdrawn":true}`))
	f.Add(frame(`{"id":1,"spawn":"a","kind":"decided","detail":"e30=","told":7}`))
	f.Add(frame(`{"id":1,"allow":true,"text":"yes"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var q Question
		if err := ReadFrame(bytes.NewReader(data), &q); err == nil {
			var buf bytes.Buffer
			if err := WriteFrame(&buf, q); err != nil || len(q.Detail) > MaxDetail && !q.Withdrawn {
				t.Fatalf("accepted %d bytes of detail: %v", len(q.Detail), err)
			}
			if err := ReadFrame(&buf, &Question{}); err != nil {
				t.Fatalf("not accepted a second time: %v", err)
			}
		}
		var a Answer
		if err := ReadFrame(bytes.NewReader(data), &a); err == nil && a.Allow && !bytes.Contains(data, []byte("allow")) && !bytes.Contains(data, []byte(`\u`)) {
			t.Fatalf("allowed by %q", data)
		}
	})
}

func FuzzExitRecord(f *testing.F) {
	f.Add([]byte(`{"id":"a","exit":{"code":0,"at":1},"out_end":3,"err_end":0,"boot_id":"b"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseExitRecord("a", data)
		if err == nil && (r.ID != "a" || r.OutEnd < 0) {
			t.Fatalf("accepted %+v", r)
		}
	})
}

// FuzzValidID: an accepted id is one whole element of a URL's path and of a file's
// path, unchanged. By itself it is no path.
func FuzzValidID(f *testing.F) {
	for _, s := range []string{"", "a", "..", "a/b", "a%2fb", "-a", "a_b-C9", "é", strings.Repeat("x", 65), "018f3c2e-8d5a-7b1e-9f00-1234567890ab"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !ValidID(s) {
			return
		}
		u, err := url.Parse("http://" + RelayAddr + "/runs/" + s + "/model")
		if err != nil || u.EscapedPath() != "/runs/"+s+"/model" || path.Join("/runs", s) != "/runs/"+s || !filepath.IsLocal(s) || len(s) > 64 {
			t.Errorf("%q is taken: %v %v", s, u, err)
		}
	})
}
