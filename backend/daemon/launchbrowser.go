package daemon

import (
	"context"
	"errors"
	"time"

	"loop/backend/browser"
	"loop/backend/chrome"
	"loop/backend/core"
	"loop/backend/egress"
	"loop/backend/hostchrome"
	"loop/backend/rulebook"
	"loop/backend/sidecar"
)

// newBrowsers puts together who drives browsers, what starts them, and what speaks with them.
func (d *Daemon) newBrowsers(supervised rulebook.Policies) *browser.Service {
	return browser.New(browser.Options{
		Launch: d.launchBrowser,
		Opens:  rulebook.Pages{Policies: supervised, Channels: d.store, Ask: d.gate.Navigate, Inside: egress.Inside, Log: d.log}.Opens,
		Save: func(ctx context.Context, id core.ChannelID, name string, b []byte) (string, error) {
			return d.sidecars().Save(ctx, id, name, b)
		},
		Ports:        func(ctx context.Context, id core.ChannelID) []core.BrowserPort { return d.sidecars().Ports(ctx, id) },
		Forget:       func(ctx context.Context, id core.ChannelID) error { return d.sidecars().Forget(ctx, id) },
		AgentActions: chrome.AgentActions(), Film: d.footage, Timeline: d.store, Publish: d.bus.Publish, Now: time.Now, Log: d.log,
		Settings: func(ctx context.Context, id core.ChannelID) (browser.Settings, error) {
			ch, err := d.store.Channel(ctx, id)
			if err != nil {
				return browser.Settings{}, err
			}
			e, err := settingsReader{from: d.settings}.read(ch)
			b := e.Config.Browser
			return browser.Settings{Enabled: e.Config.BrowserEnabled, Mode: b.Mode, Idle: b.IdleTime(), ByPath: b.Screenshots == "path"}, err
		},
	})
}

// sidecars start Chromium in containers.
func (d *Daemon) sidecars() *sidecar.Starter {
	return sidecar.New(sidecar.Options{
		Install: d.store.InstallID(), Provision: d.provision, Containers: d.containers, Links: d.links, Volumes: d.engine,
		Channel: d.store.Channel, Policies: d.decisions.Policies, Log: d.log,
		CPUs: func(c core.Channel) (float64, float64) { return d.settings.Effective(c).Config.Browser.Processors() },
	})
}

// launchBrowser starts Chromium in its container and takes it over, or takes part in one of the person's.
func (d *Daemon) launchBrowser(ctx context.Context, id core.ChannelID, fresh bool, h browser.Hooks) (run browser.Running, err error) {
	if set := d.settings.Current().Browser; set.Mode == core.BrowserOnHost {
		return hostchrome.Attach(ctx, set.HostProfile, h, d.log)
	}
	car, err := d.sidecars().Start(ctx, id, fresh)
	if err != nil {
		return run, err
	}
	out, in := car.Pipe()
	b, err := chrome.Open(ctx, out, in, chrome.Options{
		Frame: h.Frame, Changed: h.Changed, Opens: h.Opens, PutFile: car.Upload, Given: car.Given, Downloads: car.Downloads(), Log: d.log,
	})
	if err != nil {
		return run, errors.Join(err, car.Close())
	}
	return browser.Running{
		Driver: b, Page: b, Prompts: b, Mode: core.BrowserInDocker, Watched: car.Watched, Notices: car.Notices, PutFile: car.PutFile,
		Close: func() error { return errors.Join(car.Close(), b.Close()) },
	}, nil
}
