//go:build desktop

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"loop/backend/dialog"
)

// systemNotices are Wails' notifications. What is decided about them is in package dialog,
// which has the tests; Linux has its own there.
type systemNotices struct{ app *App }

// within does something with Wails, which ends the process where there is no window.
func (s systemNotices) within(do func(ctx context.Context) error) error {
	ctx := s.app.window()
	if ctx == nil {
		return errNoWindow
	}
	return do(ctx)
}

func (s systemNotices) Start() error {
	return s.within(func(ctx context.Context) error {
		if err := runtime.InitializeNotifications(ctx); err != nil {
			if strings.Contains(err.Error(), "bundle identifier") {
				err = errors.Join(dialog.ErrNoBundle, err)
			}
			return fmt.Errorf("initialize notifications: %w", err)
		}
		return runtime.RemoveAllDeliveredNotifications(ctx)
	})
}

func (s systemNotices) Define(kind string, buttons []dialog.SystemButton) error {
	category := runtime.NotificationCategory{ID: kind}
	for _, b := range buttons {
		category.Actions = append(category.Actions, runtime.NotificationAction{ID: b.Action, Title: b.Title, Destructive: b.Ends})
	}
	return s.within(func(ctx context.Context) error { return runtime.RegisterNotificationCategory(ctx, category) })
}

func (s systemNotices) Allowed() (allowed bool, err error) {
	err = s.within(func(ctx context.Context) error {
		allowed, err = runtime.CheckNotificationAuthorization(ctx)
		return err
	})
	return allowed, err
}

func (s systemNotices) Ask() (granted bool, err error) {
	err = s.within(func(ctx context.Context) error {
		granted, err = runtime.RequestNotificationAuthorization(ctx)
		return err
	})
	return granted, err
}

func (s systemNotices) Show(n dialog.SystemNotice) error {
	return s.within(func(ctx context.Context) error {
		return runtime.SendNotificationWithActions(ctx,
			runtime.NotificationOptions{ID: n.ID, Title: n.Title, Body: n.Text, CategoryID: n.Kind})
	})
}

// Remove takes a notice away that is shown, or about to be.
func (s systemNotices) Remove(id string) error {
	return s.within(func(ctx context.Context) error {
		return errors.Join(runtime.RemovePendingNotification(ctx, id), runtime.RemoveDeliveredNotification(ctx, id))
	})
}

func (s systemNotices) OnChosen(hear func(id, action string)) {
	_ = s.within(func(ctx context.Context) error { // without a window nothing was started
		runtime.OnNotificationResponse(ctx, func(r runtime.NotificationResult) {
			if r.Error == nil {
				hear(r.Response.ID, r.Response.ActionIdentifier)
			}
		})
		return nil
	})
}
