package hostchrome

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func open(t *testing.T, h http.HandlerFunc) *Chrome {
	t.Helper()
	c, err := Connect(t.Context(), devtools(t, h), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.In.Close()
		_ = c.Out.Close()
	})
	return c
}

func TestMessagesBothWays(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	got := make(chan string, 3)
	c := open(t, speak(t, func(ctx context.Context, ws *websocket.Conn) error {
		for range 3 {
			_, m, err := ws.Read(ctx)
			if err != nil {
				return err
			}
			got <- string(m)
		}
		for _, m := range []string{`{"id":1}`, "", long} {
			if err := ws.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
				return err
			}
		}
		_, _, err := ws.Read(ctx) // until the client goes
		if err == nil {
			return errors.New("a message too many")
		}
		return nil
	}))
	// Whatever the writes are cut like, a NUL ends a message.
	for _, part := range []string{`{"a":1}` + "\x00" + `{"b"`, `:2}`, "\x00", long + "\x00"} {
		if n, err := io.WriteString(c.In, part); err != nil || n != len(part) {
			t.Fatal(n, err)
		}
	}
	for _, want := range []string{`{"a":1}`, `{"b":2}`, long} {
		if m := <-got; m != want {
			t.Errorf("%d bytes, want %d", len(m), len(want))
		}
	}
	r := bufio.NewReaderSize(c.Out, 16)
	for _, want := range []string{`{"id":1}`, "", long} {
		if m, err := r.ReadString(0); err != nil || m != want+"\x00" {
			t.Errorf("%d bytes, %v; want %d", len(m), err, len(want)+1)
		}
	}
	if err := c.In.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("something was read after the end")
	}
	if _, err := io.WriteString(c.In, "{}\x00"); err == nil {
		t.Error("something was written after the end")
	}
}

func TestHostileMessages(t *testing.T) {
	for name, c := range map[string]struct {
		kind websocket.MessageType
		text string
		want error
	}{
		"binary":         {websocket.MessageBinary, `{"id":1}`, errBinary},
		"a NUL":          {websocket.MessageText, `{"id":1}` + "\x00" + `{"id":2}`, errNUL},
		"a NUL at first": {websocket.MessageText, "\x00", errNUL},
	} {
		t.Run(name, func(t *testing.T) {
			conn := open(t, speak(t, func(ctx context.Context, ws *websocket.Conn) error {
				return ws.Write(ctx, c.kind, []byte(c.text))
			}))
			if got, err := io.ReadAll(conn.Out); !errors.Is(err, c.want) || len(got) != 0 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestCommandsAreBounded(t *testing.T) {
	c := &commands{}
	part := make([]byte, maxCommand)
	for i := range part {
		part[i] = 'x'
	}
	if n, err := c.Write(part); err != nil || n != len(part) {
		t.Fatal(n, err)
	}
	if n, err := c.Write([]byte("x")); !errors.Is(err, errCommand) || n != 0 {
		t.Error(n, err)
	}
}
