package dialog

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"loop/backend/core"
)

// macLike is a system as Wails gives it. It panics where macOS would end the program.
type macLike struct {
	mu                sync.Mutex
	bare              bool // without a bundle
	broken            error
	allowed, granting bool
	answer            chan struct{} // when set, the question stays until it is closed
	starts, asks      int
	started           bool
	kinds             map[string][]SystemButton
	hear              func(id, action string)
	shown             chan SystemNotice
	gone              chan string
	last              SystemNotice
	front             int
}

func newMac() *macLike {
	return &macLike{allowed: true, kinds: map[string][]SystemButton{}, shown: make(chan SystemNotice, 16), gone: make(chan string, 16)}
}

func (m *macLike) notifier() *systemNotifier {
	return newSystemNotifier(m, func() { m.mu.Lock(); m.front++; m.mu.Unlock() })
}

func (m *macLike) must() {
	if !m.started {
		panic("the notification center was used by a program that may not")
	}
}

func (m *macLike) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts++
	switch {
	case m.bare:
		return ErrNoBundle
	case m.broken != nil:
		return m.broken
	}
	m.started = true
	return nil
}

func (m *macLike) Define(kind string, buttons []SystemButton) error {
	m.must()
	m.kinds[kind] = buttons
	return nil
}

func (m *macLike) Allowed() (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.must()
	return m.allowed, nil
}

func (m *macLike) Ask() (bool, error) {
	m.mu.Lock()
	m.must()
	m.asks++
	wait := m.answer
	m.mu.Unlock()
	if wait != nil {
		<-wait
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.allowed = m.granting
	return m.granting, nil
}

func (m *macLike) Show(n SystemNotice) error {
	m.must()
	m.shown <- n
	return nil
}

func (m *macLike) Remove(id string) error { m.must(); m.gone <- id; return nil }

func (m *macLike) OnChosen(hear func(id, action string)) { m.must(); m.hear = hear }

// TestNotificationsThroughTheWindowsLibrary holds the adapter for macOS and Windows to what the one for Linux does.
func TestNotificationsThroughTheWindowsLibrary(t *testing.T) {
	for name, face := range map[string]func(string, string) (string, string){"macOS": nil, "Windows": toastFace} {
		t.Run(name, func(t *testing.T) {
			m := newMac()
			n := m.notifier()
			if face != nil {
				n.face = face
			}
			words := map[string]string{onNotice: "DEFAULT_ACTION", onOpen: "review", onDeny: "deny"}
			conform(t, trayOf{
				notifier: n,
				shown: func() notified {
					m.last = <-m.shown
					got := notified{title: m.last.Title, text: m.last.Text}
					for _, b := range m.kinds[m.last.Kind] {
						got.buttons = append(got.buttons, b.Title)
					}
					return got
				},
				click: func(other bool, on string) {
					id, action := m.last.ID, on
					if w := words[on]; w != "" {
						action = w
					}
					if other {
						id = "another"
					}
					m.hear(id, action)
				},
				removed: func() bool { return <-m.gone == m.last.ID },
			})
			if m.starts != 1 || m.asks != 0 {
				t.Errorf("started %d times, asked %d times", m.starts, m.asks)
			}
		})
	}
}

// TestAStaleClickOnlyShowsTheWindow: the id may be of an earlier Loop, or made up by another program.
func TestAStaleClickOnlyShowsTheWindow(t *testing.T) {
	m := newMac()
	n := m.notifier()
	ctx, end := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() { _, err := n.Notify(ctx, Notice{Title: "a"}); got <- err }()
	id := (<-m.shown).ID
	end()
	<-got
	for i, click := range [][2]string{{id, "deny"}, {"", ""}, {strings.Repeat("x", 1<<20), "DEFAULT_ACTION"}} {
		if m.hear(click[0], click[1]); m.front != i+1 {
			t.Errorf("click %d: the window was shown %d times", i, m.front)
		}
	}
	if len(n.open) != 0 {
		t.Errorf("%d notices are kept", len(n.open))
	}
}

// TestLeaveIsAskedForOnce: when there is first something to tell, and for all notices at once.
func TestLeaveIsAskedForOnce(t *testing.T) {
	for _, granted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := newMac()
			m.allowed, m.granting, m.answer = false, granted, make(chan struct{})
			n := m.notifier()
			if err := n.Ready(t.Context()); err == nil || m.asks != 0 {
				t.Errorf("before: ready %v, asked %d times", err, m.asks)
			}
			ctx, end := context.WithCancel(t.Context())
			got := make(chan error, 3)
			for range 2 {
				go func() { _, err := n.Notify(ctx, Notice{Title: "a"}); got <- err }()
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			if _, err := n.Notify(gone, Notice{Title: "b"}); !errors.Is(err, context.Canceled) {
				t.Errorf("a notice that is over waits for the answer: %v", err)
			}
			synctest.Wait()
			if m.asks != 1 || len(m.shown) != 0 {
				t.Errorf("asked %d times, %d shown", m.asks, len(m.shown))
			}
			close(m.answer)
			synctest.Wait()
			if granted {
				if len(m.shown) != 2 || n.Ready(ctx) != nil {
					t.Errorf("%d shown, ready: %v", len(m.shown), n.Ready(ctx))
				}
				end()
			}
			for range 2 {
				if err := <-got; granted != errors.Is(err, context.Canceled) || granted == errors.Is(err, ErrRefused) || errors.Is(err, ErrUnavailable) {
					t.Errorf("granted %v: %v", granted, err)
				}
			}
			end()
			if granted {
				return
			}
			var f *core.Failure
			if err := n.Ready(t.Context()); !errors.As(err, &f) || !strings.Contains(f.Remedy, "System Settings") {
				t.Errorf("refused, and ready says %v", err)
			}
			// The person may change their mind in the system's settings.
			m.allowed = true
			ctx, end = context.WithCancel(t.Context())
			go func() { _, err := n.Notify(ctx, Notice{Title: "c"}); got <- err }()
			synctest.Wait()
			if len(m.shown) != 1 || m.asks != 1 {
				t.Errorf("allowed later: %d shown, asked %d times", len(m.shown), m.asks)
			}
			end()
			<-got
		})
	}
}

// TestABareProgramShowsNothing: macOS ends one that tries.
func TestABareProgramShowsNothing(t *testing.T) {
	m := newMac()
	m.bare = true
	n := m.notifier()
	if _, err := n.Notify(t.Context(), Notice{Title: "a"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	var f *core.Failure
	if err := n.Ready(t.Context()); !errors.As(err, &f) || !strings.Contains(f.Remedy, "Loop.app") {
		t.Errorf("ready says %v", err)
	}
	// What else fails may pass: it is tried again.
	m.bare, m.broken = false, errors.New("the window is not open")
	if _, err := n.Notify(t.Context(), Notice{Title: "a"}); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	m.broken = nil
	if err := n.Ready(t.Context()); err != nil {
		t.Errorf("ready says %v", err)
	}
}

// TestAToastIsOnlyWords: go-toast writes texts as they are into XML and into a PowerShell script.
func TestAToastIsOnlyWords(t *testing.T) {
	hostile := []string{
		"]]></text></binding></visual><actions><action activationType=\"protocol\" arguments=\"calc:\"/></actions>",
		"]]]]>>", "$(calc.exe)", "${env:USERNAME}", "`$(calc)", "\n\"@\nStart-Process calc\n@\"", "\n”@\ncalc", "\r\"@\rcalc", "\x00\x1b]0;a\x07\ufffe\xff",
		strings.Repeat("<&\"'", 1<<16), strings.Repeat("\U0001f600", 1<<12), strings.Repeat("]]>", 400),
	}
	for r := rune(0); r <= 0x2100; r++ {
		if r < 0x100 || r >= 0x2000 { // punctuation
			hostile = append(hostile, "a"+string(r)+"b"+string(r))
		}
	}
	for _, words := range hostile {
		title, text := toastFace(noticeFace(Notice{Title: words, Lines: []string{words, words}}, false))
		for _, s := range []string{title, text} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "$`\"“”„\n\r") || strings.Contains(s, "]]>") {
				t.Errorf("of %.40q: %q", words, s)
			}
			var read string
			if err := xml.Unmarshal([]byte("<text><![CDATA["+s+"]]></text>"), &read); err != nil || read != s {
				t.Errorf("of %.40q: %q is read as %q: %v", words, s, read, err)
			}
		}
		// As Wails does: base64 of both texts, for the toast and each of two buttons.
		var payload bytes.Buffer
		payload.WriteString(title + text)
		inner, err := json.Marshal(map[string]any{"action": "DEFAULT_ACTION", "payload": map[string]any{
			"id": strings.Repeat("x", 26), "title": title, "subtitle": "", "body": text, "categoryId": kindHeld}})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			payload.WriteString(base64.StdEncoding.EncodeToString(inner))
		}
		if payload.Len() > 5120-900 { // the rest of the XML is less
			t.Errorf("of %.40q: %d bytes", words, payload.Len())
		}
	}
	if title, text := toastFace("Checkout is done", "All 14 tests pass [ok] & <fast>."); title != "Checkout is done" || text != "All 14 tests pass [ok] & <fast>." {
		t.Errorf("usual words: %q, %q", title, text)
	}
}

func TestAProgramThatAToastStarted(t *testing.T) {
	for args, want := range map[string]bool{"-Embedding": true, "%1 -Embedding": true, "": false, "run -Embedding": false, "-Embedding run": false, "%1": false} {
		if FromToast(strings.Fields(args)) != want {
			t.Errorf("%q: not %v", args, want)
		}
	}
}
