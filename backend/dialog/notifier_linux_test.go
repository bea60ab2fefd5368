package dialog

import (
	"bufio"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"loop/backend/core"
)

// privateBus starts a session bus that only this test has.
func privateBus(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Fatal("dbus-daemon is missing (build/setup.sh test installs it)")
	}
	cmd := exec.Command(path, "--session", "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
}

// server shows notifications, as a desktop does.
type server struct {
	conn   *dbus.Conn
	shown  chan []string // title, text, actions
	hints  map[string]dbus.Variant
	expire int32
	closed chan uint32
}

func (s *server) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"actions", "body", "body-markup"}, nil
}

func (s *server) Notify(app string, _ uint32, _, title, text string, actions []string, hints map[string]dbus.Variant, expire int32) (uint32, *dbus.Error) {
	s.hints, s.expire = hints, expire
	s.shown <- append([]string{app, title, text}, actions...)
	return 7, nil
}

func (s *server) CloseNotification(id uint32) *dbus.Error {
	s.closed <- id
	return nil
}

func (s *server) say(t *testing.T, signal string, values ...any) {
	t.Helper()
	if err := s.conn.Emit(notifyPath, notifyName+"."+signal, values...); err != nil {
		t.Error(err)
	}
}

func desktopServer(t *testing.T) *server {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &server{conn: conn, shown: make(chan []string, 1), closed: make(chan uint32, 1)}
	if err := conn.Export(s, notifyPath, notifyName); err != nil {
		t.Fatal(err)
	}
	if reply, err := conn.RequestName(notifyName, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return s
}

func TestNotificationsOfTheDesktop(t *testing.T) {
	privateBus(t)
	notice := Notice{Title: "api waits for you", Lines: []string{"git wants to write: /<b>"}}
	if _, err := NewNotifier(nil, nil).Notify(t.Context(), notice); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody shows notifications, and the error is %v", err)
	}
	if err := NewNotifier(nil, nil).Ready(t.Context()); !errors.Is(err, ErrUnavailable) || core.AsFailure(err).Remedy == "" {
		t.Errorf("nobody shows notifications, and ready says %v", err)
	}
	s := desktopServer(t)
	words := map[string]string{onNotice: "default", onOpen: "review", onDeny: "deny"}
	conform(t, trayOf{
		notifier: NewNotifier(nil, nil),
		shown: func() notified {
			got := <-s.shown
			if got[0] != "Loop" || got[3] != "default" || got[4] != got[6] {
				t.Errorf("shown: %q", got)
			}
			n := notified{title: got[1], text: strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(got[2])}
			for i := 6; i < len(got); i += 2 { // behind what a click on the notice is
				n.buttons = append(n.buttons, got[i])
			}
			return n
		},
		click: func(other bool, on string) {
			id, action := uint32(7), on
			if w := words[on]; w != "" {
				action = w
			}
			if other {
				id = 8
			}
			s.say(t, "ActionInvoked", id, action)
		},
		removed: func() bool { return <-s.closed == 7 },
	})
	for name, c := range map[string]struct {
		say  func()
		want notifiedAnswer
	}{
		"put away":    {func() { s.say(t, "NotificationClosed", uint32(7), uint32(2)) }, notifiedAnswer{Deny, ErrDismissed}},
		"odd signals": {func() { s.say(t, "ActionInvoked", "7"); s.say(t, "ActionInvoked", uint32(7), "deny") }, notifiedAnswer{Deny, nil}},
	} {
		got := make(chan notifiedAnswer, 1)
		go func() {
			choice, err := NewNotifier(nil, nil).Notify(t.Context(), notice)
			got <- notifiedAnswer{choice, err}
		}()
		if shown := <-s.shown; shown[2] != "git wants to write: /&lt;b&gt;" {
			t.Errorf("%s: shown %q", name, shown)
		}
		c.say()
		if a := <-got; a.choice != c.want.choice || !errors.Is(a.err, c.want.err) {
			t.Errorf("%s: %v, want %v", name, a, c.want)
		}
	}
}

func TestWithoutASessionBusThereAreNoNotifications(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	if _, err := NewNotifier(nil, nil).Notify(t.Context(), Notice{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

// TestNewsOfTheDesktop: news can be opened and not answered, goes by itself, and is silent
// unless a sound is wanted.
func TestNewsOfTheDesktop(t *testing.T) {
	privateBus(t)
	s := desktopServer(t)
	for _, sound := range []bool{false, true} {
		got := make(chan Choice, 1)
		go func() {
			choice, err := NewNotifier(nil, nil).Notify(t.Context(), Notice{Title: "api is done", Lines: []string{"Fixed."}, News: true, Sound: sound})
			if err != nil {
				t.Error(err)
			}
			got <- choice
		}()
		if shown := strings.Join(<-s.shown, "|"); shown != "Loop|api is done|Fixed.|default|Open|review|Open" {
			t.Errorf("shown: %s", shown)
		}
		if s.expire != -1 || s.hints["urgency"].Value() != byte(1) || s.hints["suppress-sound"].Value() != !sound {
			t.Errorf("sound %v: expires %d, hints %v", sound, s.expire, s.hints)
		}
		if _, named := s.hints["sound-name"]; named != sound {
			t.Errorf("sound %v: hints %v", sound, s.hints)
		}
		s.say(t, "ActionInvoked", uint32(7), "default")
		if choice := <-got; choice != Review {
			t.Errorf("a click is %v", choice)
		}
	}
}
