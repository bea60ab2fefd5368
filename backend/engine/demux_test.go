package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

func frame(stream byte, data string) []byte {
	h := [8]byte{stream}
	binary.BigEndian.PutUint32(h[4:], uint32(len(data)))
	return append(h[:], data...)
}

func TestDemux(t *testing.T) {
	in := bytes.Join([][]byte{frame(1, "one "), frame(2, "err"), frame(1, ""), frame(1, "two")}, nil)
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(in), "byte by byte": iotest.OneByteReader(bytes.NewReader(in))} {
		var stderr bytes.Buffer
		got, err := io.ReadAll(&demux{r: r, stderr: &stderr})
		if err != nil || string(got) != "one two" || stderr.String() != "err" {
			t.Errorf("%s: %q, %q, %v", name, got, stderr.String(), err)
		}
	}
	for name, tc := range map[string]struct {
		in   []byte
		want error
	}{
		"cut in a header": {in[:3], io.ErrUnexpectedEOF},
		"cut in a piece":  {in[:10], io.ErrUnexpectedEOF},
		"cut in stderr":   {in[:22], io.ErrUnexpectedEOF},
		"system error":    {frame(3, "daemon says no"), errSystem},
	} {
		if _, err := io.ReadAll(&demux{r: bytes.NewReader(tc.in), stderr: io.Discard}); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
	if _, err := io.ReadAll(&demux{r: bytes.NewReader(frame(9, "x"))}); err == nil {
		t.Error("an unknown stream number passed")
	}
}

func TestTail(t *testing.T) {
	tl := tail{max: 4}
	for _, s := range []string{"ab", "cde", "", "fghijk", "l"} {
		_, _ = tl.Write([]byte(s))
	}
	if tl.String() != "ijkl" {
		t.Errorf("tail %q", tl.String())
	}
}

// FuzzDemux: whatever lengths the bytes claim, reading ends, returns no more than came
// in, and takes no buffer of a claimed size.
func FuzzDemux(f *testing.F) {
	f.Add(append(frame(1, "hello"), frame(2, "err")...))
	f.Add([]byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'})
	f.Add([]byte{2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		var stderr bytes.Buffer
		out, _ := io.ReadAll(&demux{r: bytes.NewReader(in), stderr: &stderr})
		if n := stderr.Len() + len(out); n > len(in) {
			t.Fatalf("%d bytes out of %d", n, len(in))
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"stream":"Step 1/2 : FROM x\n"}` + "\n" + `{"aux":{"ID":"sha256:1"}}` + "\n"))
	f.Add([]byte(`{"error":"no space left on device"}`))
	f.Add([]byte("not json\n\xff\xfe"))
	f.Fuzz(func(_ *testing.T, in []byte) {
		_, _ = readMessages(bytes.NewReader(in), func(string) {})
	})
}

func BenchmarkDemux(b *testing.B) {
	in := bytes.Repeat(frame(1, string(make([]byte, 32<<10))), 32)
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		d := demux{r: bytes.NewReader(in)}
		for {
			if _, err := d.Read(buf); err != nil {
				break
			}
		}
	}
}
