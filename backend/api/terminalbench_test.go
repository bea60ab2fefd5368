package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/coder/websocket"

	"loop/backend/core"
)

// flood is a service whose one session prints without end. A viewer that sends
// acknowledgements gets at most 512 KiB ahead of them.
type flood struct {
	*fakeTerms
}

func (f flood) Attach(ctx context.Context, id core.TerminalID, w core.TerminalAttach) (core.TerminalViewer, error) {
	got, err := f.fakeTerms.Attach(ctx, id, w)
	if err != nil {
		return nil, err
	}
	v, _ := got.(*fakeViewer)
	frame := core.TerminalFrame{Kind: core.FrameOutput, Data: make([]byte, termFrame)}
	var given, acked int64
	wake := make(chan int64, 64)
	v.acked = func(n int64) { wake <- n }
	v.next = func(ctx context.Context) (core.TerminalFrame, error) {
		for w.Acks && given-acked > 512<<10 {
			select {
			case acked = <-wake:
			case <-ctx.Done():
				return core.TerminalFrame{}, ctx.Err()
			}
		}
		given += termFrame
		return frame, nil
	}
	return v, nil
}

// BenchmarkTerminalSocket is the rate at which a client takes output and drops it.
// BenchmarkTCP is a bare copy over TCP in the same run.
func BenchmarkTerminalSocket(b *testing.B) {
	for _, acks := range []bool{false, true} {
		b.Run(fmt.Sprintf("acks=%v", acks), func(b *testing.B) {
			s, c := serveTerms(b, flood{newFakeTerms()}, nil)
			client := dialTerm(b, s, c)
			client.say(fmt.Sprintf(`{"type":"create","channel_id":"ch","acks":%v}`, acks))
			client.expect("created", "")
			client.output("screen")
			b.SetBytes(termFrame)
			buf := make([]byte, termFrame)
			var got, said int64
			b.ResetTimer()
			for range b.N {
				_, r, err := client.conn.Reader(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.ReadFull(r, buf)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Read(buf[:1]); err != io.EOF {
					b.Fatal("a longer frame", err)
				}
				if got += int64(n); acks && got-said >= 128<<10 {
					said = got
					if err := client.conn.Write(b.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":"ack","offset":%d}`, got)); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.StopTimer()
			client.conn.CloseNow()
		})
	}
}

// BenchmarkTCP is the comparison for BenchmarkTerminalSocket.
func BenchmarkTCP(b *testing.B) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for frame := make([]byte, termFrame); err == nil; {
			_, err = conn.Write(frame)
		}
	}()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(termFrame)
	buf := make([]byte, termFrame)
	b.ResetTimer()
	for range b.N {
		if _, err := io.ReadFull(conn, buf); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	conn.Close()
	ln.Close()
	<-done
}

// BenchmarkKey times one key from the client to the service and back as output, with
// nothing else going on.
func BenchmarkKey(b *testing.B) {
	f := newFakeTerms()
	s, c := serveTerms(b, echoTerms{f}, nil)
	client := dialTerm(b, s, c)
	client.open()
	for b.Loop() {
		if err := client.conn.Write(b.Context(), websocket.MessageBinary, []byte("x")); err != nil {
			b.Fatal(err)
		}
		client.output("x")
	}
	client.conn.CloseNow()
}

// echoTerms prints what is typed.
type echoTerms struct{ *fakeTerms }

func (e echoTerms) Input(_ context.Context, id core.TerminalID, p []byte) error {
	e.show(id, core.TerminalFrame{Kind: core.FrameOutput, Data: p})
	return nil
}
