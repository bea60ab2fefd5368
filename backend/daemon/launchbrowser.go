package daemon

import (
	"context"
	"errors"
	"time"

	"loop/backend/browser"
	"loop/backend/chrome"
	"loop/backend/core"
	"loop/backend/sidecar"
)

// newBrowsers puts the browsers together: who drives, what starts Chromium, what speaks with it.
func (d *Daemon) newBrowsers() *browser.Service {
	return browser.New(browser.Options{
		Launch:       d.launchBrowser,
		Ports:        func(ctx context.Context, id core.ChannelID) []core.BrowserPort { return d.sidecars().Ports(ctx, id) },
		Forget:       func(ctx context.Context, id core.ChannelID) error { return d.sidecars().Forget(ctx, id) },
		AgentActions: chrome.AgentActions(), Now: time.Now, Log: d.log,
		Settings: func(ctx context.Context, id core.ChannelID) (browser.Settings, error) {
			ch, err := d.store.Channel(ctx, id)
			if err != nil {
				return browser.Settings{}, err
			}
			e, err := settingsReader{from: d.settings}.read(ch)
			return browser.Settings{Enabled: e.Config.BrowserEnabled, Idle: time.Duration(e.Config.Browser.IdleSec) * time.Second}, err
		},
	})
}

// sidecars start Chromium in containers.
func (d *Daemon) sidecars() *sidecar.Starter {
	return sidecar.New(sidecar.Options{
		Install: d.store.InstallID(), Provision: d.provision, Containers: d.containers, Links: d.links, Volumes: d.engine,
		Channel: d.store.Channel, Log: d.log,
		CPUs: func(ch core.Channel) (alone, watched float64) {
			return d.settings.Effective(ch).Config.Browser.Processors()
		},
	})
}

// launchBrowser starts Chromium in its container and takes it over.
func (d *Daemon) launchBrowser(ctx context.Context, id core.ChannelID, fresh bool, h browser.Hooks) (run browser.Running, err error) {
	car, err := d.sidecars().Start(ctx, id, fresh)
	if err != nil {
		return run, err
	}
	out, in := car.Pipe()
	b, err := chrome.Open(ctx, out, in, chrome.Options{Frame: h.Frame, Changed: h.Changed, Log: d.log})
	if err != nil {
		return run, errors.Join(err, car.Close())
	}
	end := func() error { return errors.Join(car.Close(), b.Close()) }
	return browser.Running{Driver: b, Page: b, Watched: car.Watched, Notices: car.Notices, Close: end}, nil
}
