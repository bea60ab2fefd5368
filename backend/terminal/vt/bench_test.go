package vt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

const benchSize = 4 << 20

func benchData(kind string) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for line := 0; b.Len() < benchSize; line++ {
		switch kind {
		case "ascii":
			for range 79 {
				b.WriteByte(byte('a' + r.IntN(26)))
			}
			b.WriteString("\r\n")
		case "sgr":
			for range 10 {
				fmt.Fprintf(&b, "\x1b[%d;3%dm%s\x1b[m ", r.IntN(2), r.IntN(8), "word42"[:2+r.IntN(5)])
			}
			b.WriteString("\r\n")
		case "truecolor":
			for range 20 {
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dmX", r.IntN(256), r.IntN(256), r.IntN(256))
			}
		case "tui":
			fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[%d;48;5;%dm%-20s\x1b[K\x1b[0m", 1+r.IntN(24), 1+r.IntN(60), r.IntN(2), r.IntN(256), "status of something")
		case "unicode":
			b.WriteString("日本語テキスト — é ü “quoted” │ box ─ 😀\r\n")
		case "yes":
			b.WriteString("y\r\n")
		}
	}
	return b.Bytes()[:benchSize]
}

var benchKinds = []string{"ascii", "sgr", "truecolor", "tui", "unicode", "yes"}

// BenchmarkWrite writes blocks of 64 KiB to a terminal whose scrollback is full.
func BenchmarkWrite(b *testing.B) {
	for _, kind := range benchKinds {
		data := benchData(kind)
		b.Run(kind, func(b *testing.B) {
			t := New(80, 24, Options{})
			t.Write(data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			used := cpuTime()
			defer func() { b.ReportMetric(float64(b.N)*float64(len(data))/1e6/(cpuTime()-used).Seconds(), "MB/cpu-s") }()
			for b.Loop() {
				for p := data; len(p) > 0; {
					n := min(len(p), 64<<10)
					t.Write(p[:n])
					p = p[n:]
				}
			}
		})
	}
	b.Run("limit", func(b *testing.B) { // the cost of copying alone
		data, to := benchData("ascii"), make([]byte, 64<<10)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for p := data; len(p) > 0; p = p[min(len(p), len(to)):] {
				copy(to, p)
			}
		}
	})
}

// BenchmarkSnapshot times a snapshot of 10,000 full lines and a screen.
func BenchmarkSnapshot(b *testing.B) {
	for _, kind := range benchKinds {
		b.Run(kind, func(b *testing.B) {
			t := New(80, 24, Options{})
			t.Write(benchData(kind))
			b.SetBytes(int64(len(t.Snapshot())))
			used := cpuTime()
			for b.Loop() {
				t.Snapshot()
			}
			b.ReportMetric(float64((cpuTime()-used).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
		})
	}
}

// BenchmarkResize times a resize to half the width and back, with a full scrollback of
// long lines.
func BenchmarkResize(b *testing.B) {
	var t *Terminal
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		t = New(80, 24, Options{Scrollback: 20000})
		t.Write(benchData("ascii")[:800000])
		from := cpuTime()
		b.StartTimer()
		t.Resize(40, 24)
		t.Resize(80, 24)
		b.StopTimer()
		used += from // leaves out the untimed part
		used -= cpuTime()
		b.StartTimer()
	}
	b.ReportMetric(-float64(used.Microseconds())/1e3/float64(b.N), "cpu-ms/op")
}
