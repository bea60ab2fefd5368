package dialog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"loop/backend/core"
)

// What freedesktop.org's Desktop Notifications Specification 1.2 calls these.
const (
	notifyName = "org.freedesktop.Notifications"
	notifyPath = dbus.ObjectPath("/org/freedesktop/Notifications")

	actionDeny   = "deny"
	actionReview = "default" // also a click on the notification itself
	actionOpen   = "review"

	usual  = byte(1)
	urgent = byte(2) // such a notification stays until somebody has seen it

	never    = int32(0)  // milliseconds until it goes away
	byItself = int32(-1) // when the desktop thinks fit
)

// callTime bounds what is asked of the session bus; a desktop that hangs must not hold a
// notice for ever.
const callTime = 10 * time.Second

// NewNotifier returns the notifier of this desktop. Notify fails with ErrUnavailable where
// there is no session bus, or nothing on it that shows notifications.
func NewNotifier(System, func()) Notifier { return busNotifier{} }

type busNotifier struct{}

// Notify has a connection of its own: it gets the signals of no other notice, and its end
// leaves nothing behind.
func (busNotifier) Notify(ctx context.Context, n Notice) (Choice, error) {
	conn, signals, err := notifications(ctx)
	if err != nil {
		return Deny, err
	}
	defer func() { _ = conn.Close() }()
	desktop := conn.Object(notifyName, notifyPath)
	// Whoever ends ctx while the notice is being shown wants it taken away, for which its
	// id is needed.
	calling, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	var can []string
	if err := desktop.CallWithContext(calling, notifyName+".GetCapabilities", 0).Store(&can); err != nil {
		return Deny, unavailableOr(ctx, err)
	}
	title, text := noticeFace(n, slices.Contains(can, "body-markup"))
	var actions []string
	switch {
	case !slices.Contains(can, "actions"):
	case n.News:
		actions = []string{actionReview, noticeOpen, actionOpen, noticeOpen}
	default:
		actions = []string{actionReview, noticeReview, actionOpen, noticeReview, actionDeny, noticeDeny}
	}
	hints := map[string]dbus.Variant{
		"urgency": dbus.MakeVariant(urgent), "desktop-entry": dbus.MakeVariant("loop"), "category": dbus.MakeVariant("im.received"),
	}
	expires := never
	if n.News {
		expires = byItself
		hints["urgency"], hints["suppress-sound"] = dbus.MakeVariant(usual), dbus.MakeVariant(!n.Sound)
		if n.Sound {
			hints["sound-name"] = dbus.MakeVariant("message-new-instant")
		}
	}
	var id uint32
	if err := desktop.CallWithContext(calling, notifyName+".Notify", 0,
		"Loop", uint32(0), "dialog-question", title, text, actions, hints, expires).Store(&id); err != nil {
		return Deny, unavailableOr(ctx, err)
	}
	for {
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
			defer cancel()
			_ = desktop.CallWithContext(ending, notifyName+".CloseNotification", 0, id).Err // it may be gone already
			return Deny, ctx.Err()
		case s, ok := <-signals:
			if !ok {
				return Deny, fmt.Errorf("wait for a notification: %w", dbus.ErrClosed)
			}
			if choice, err := chosen(s, id, n.News); !errors.Is(err, errElse) {
				return choice, err
			}
		}
	}
}

// Ready asks who shows notifications, and shows none.
func (busNotifier) Ready(ctx context.Context) error {
	conn, _, err := notifications(ctx)
	if err == nil {
		defer func() { _ = conn.Close() }()
		calling, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		if err = conn.Object(notifyName, notifyPath).CallWithContext(calling, notifyName+".GetCapabilities", 0).Err; err != nil {
			err = unavailableOr(ctx, err)
		}
	}
	if err != nil {
		return core.Fail(codeNotices, err, "Nothing on this desktop shows notifications.",
			"Start a service for them, such as dunst or mako, in your desktop's session. Until then the window marks what waits.")
	}
	return nil
}

// errElse says that a signal is about something else.
var errElse = errors.New("another notification")

// chosen is what a signal says of a notification.
func chosen(s *dbus.Signal, id uint32, news bool) (Choice, error) {
	if len(s.Body) != 2 || s.Body[0] != id {
		return Deny, errElse
	}
	switch s.Name {
	case notifyName + ".ActionInvoked":
		switch s.Body[1] {
		case actionDeny:
			if !news { // news has no such button
				return Deny, nil
			}
		case actionReview, actionOpen:
			return Review, nil
		}
	case notifyName + ".NotificationClosed":
		return Deny, ErrDismissed
	}
	return Deny, errElse
}

// notifications connects to the session bus, which it does not start, and gives the
// signals about notifications.
func notifications(ctx context.Context) (*dbus.Conn, <-chan *dbus.Signal, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup() // without ctx, which would end it before it has taken the notice away
	if err != nil {
		return nil, nil, fmt.Errorf("%w: no session bus: %w", ErrUnavailable, err)
	}
	beginning, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	stop := context.AfterFunc(beginning, func() { _ = conn.Close() })
	defer stop()
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	if err = conn.Auth(nil); err == nil {
		if err = conn.Hello(); err == nil {
			err = conn.AddMatchSignalContext(beginning, dbus.WithMatchObjectPath(notifyPath), dbus.WithMatchInterface(notifyName),
				dbus.WithMatchSender(notifyName))
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, unavailableOr(ctx, err)
	}
	return conn, signals, nil
}

// unavailableOr says that nobody shows notifications here, if that is what an error says.
func unavailableOr(ctx context.Context, err error) error {
	var failed dbus.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed) && strings.HasPrefix(failed.Name, "org.freedesktop.DBus.Error.ServiceUnknown"),
		errors.As(err, &failed) && strings.HasPrefix(failed.Name, "org.freedesktop.DBus.Error.Spawn."):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fmt.Errorf("show a notification: %w", err)
}
