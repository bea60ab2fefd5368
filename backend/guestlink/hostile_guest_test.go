package guestlink_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/yamux"

	"loop/backend/core"
	"loop/backend/guestlink"
	"loop/backend/wire"
)

// TestGuestThatLiesAboutATerminal: lies of a guest give an error and nothing worse. Its
// offsets are added up to index memory, and a person sees its messages.
func TestGuestThatLiesAboutATerminal(t *testing.T) {
	raw := func(st *yamux.Stream, json string) {
		_ = binary.Write(st, binary.BigEndian, uint32(len(json)))
		_, _ = io.WriteString(st, json)
	}
	for name, answer := range map[string]func(q wire.Request, st *yamux.Stream){
		"an offset at the end of numbers": func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{Offset: math.MaxInt64 - 10}) },
		"an offset beyond sense":          func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{Offset: wire.MaxOffset + 1}) },
		"an offset before":                func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{Offset: 4}) },
		"a negative offset":               func(_ wire.Request, st *yamux.Stream) { raw(st, `{"offset":-1}`) },
		"no number":                       func(_ wire.Request, st *yamux.Stream) { raw(st, `{"offset":99999999999999999999}`) },
		"no JSON":                         func(_ wire.Request, st *yamux.Stream) { raw(st, "\x00\xff") },
		"an oversize frame":               func(_ wire.Request, st *yamux.Stream) { _ = binary.Write(st, binary.BigEndian, uint32(1<<31)) },
		"an oversize chunk": func(q wire.Request, st *yamux.Stream) {
			reply(st, wire.Reply{Offset: q.Offset})
			_ = binary.Write(st, binary.BigEndian, uint32(wire.MaxChunk+1))
			_, _ = st.Write(make([]byte, 100))
		},
		"a torn chunk": func(q wire.Request, st *yamux.Stream) {
			reply(st, wire.Reply{Offset: q.Offset})
			_ = binary.Write(st, binary.BigEndian, uint32(50))
			_, _ = st.Write(make([]byte, 10))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := open(t, guestlink.Options{}, answer)
			r, err := l.ReadHeld(t.Context(), "a", "out", 5)
			if err == nil {
				_, err = io.ReadAll(r)
				_ = r.Close()
			}
			if err == nil || errors.Is(err, core.ErrNotFound) {
				t.Errorf("%v", err)
			}
		})
	}
	for name, json := range map[string]string{
		"a long signal":        `{"exit":{"code":1,"signal":"` + strings.Repeat("A", 100) + `"}}`,
		"a signal that writes": `{"exit":{"code":1,"signal":"\u001b]0;x\u0007"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { raw(st, json) })
			if exit, err := l.Wait(t.Context(), "a"); err == nil {
				t.Errorf("%+v", exit)
			}
		})
	}
	l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) {
		raw(st, `{"spawns":[{"id":"a","pid":1,"stdio":"pty","started":1,"out_base":0,"out_end":9223372036854775807}]}`)
	})
	if list, err := l.Spawns(t.Context()); err == nil {
		t.Errorf("%+v", list)
	}
}

// TestPortsAreTheGuestsWord: a list that is too long, or impossible, is an error; names have
// nothing in them that a screen would follow.
func TestPortsAreTheGuestsWord(t *testing.T) {
	var answer wire.Reply
	l, _ := open(t, guestlink.Options{}, func(q wire.Request, st *yamux.Stream) {
		if q.Op != wire.OpPorts {
			answer = wire.Refuse(wire.CodeProtocol, "not asked for")
		}
		reply(st, answer)
	})
	answer.Ports = []wire.Port{{Port: 80, Process: "a\x1b]0;x\x07\u202eb"}, {Port: 8080}}
	list, err := l.Ports(t.Context())
	if err != nil || !slices.Equal(list, []core.ListeningPort{{Port: 80, Process: "a?]0;x??b"}, {Port: 8080}}) {
		t.Errorf("%+v %v", list, err)
	}
	for name, ports := range map[string][]wire.Port{
		"no number":   {{Process: "x"}},
		"a long name": {{Port: 1, Process: strings.Repeat("x", wire.MaxProcess+1)}},
		"too many":    slices.Repeat([]wire.Port{{Port: 1}}, wire.MaxPorts+1),
	} {
		l, _ := open(t, guestlink.Options{}, func(_ wire.Request, st *yamux.Stream) { reply(st, wire.Reply{Ports: ports}) })
		if list, err := l.Ports(t.Context()); err == nil {
			t.Errorf("%s: %v", name, list)
		}
	}
}
