// Package settings decides which settings are in force for Loop and for each of its
// channels. It owns the settings files, the approval of those of projects, and the
// choice of the model's key. It notices files that somebody else changes, and
// publishes every change.
//
// An agent may have written a project's file. Fields that a project may not set by
// itself count only after the person approved the file.
//
// daemon and tests may import it.
package settings

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"loop/backend/bind"
	"loop/backend/config"
	"loop/backend/core"
	"loop/backend/credentials"
	"loop/backend/themes"
)

// configPoll is how often the configuration file is looked at for changes made
// in an editor, and projectPoll the same for the files of projects, of which
// there may be many.
const (
	configPoll  = time.Second
	projectPoll = 2 * time.Second
)

// Channels are those of Loop; their directories have settings of their own.
type Channels interface {
	Channel(ctx context.Context, id core.ChannelID) (core.Channel, error)
	Channels(ctx context.Context) ([]core.Channel, error)
}

// Options of a Service; all are required.
type Options struct {
	Home     string // Loop's folder
	Source   *config.Source
	Vault    *credentials.Vault
	Channels Channels
	Publish  func(...core.Event)
	// Survey reads the person's own Claude set-up, with the things that they allowed.
	Survey func(allow []string) (core.ClaudeSetup, error)
	Log    *slog.Logger
}

// Service reads and changes settings. Its methods may be called from any
// goroutine.
type Service struct {
	o      Options
	editor config.Editor
	// Keys are those of models.
	Keys *Keys
	// SignIn gets a token of a subscription.
	SignIn *SignIn

	looks *themes.Store

	mu    sync.Mutex
	asked map[string]asked // by path
	turn  chan struct{}    // closed with the next change
}

var (
	_ bind.SettingsService = (*Service)(nil)
	_ bind.ConfigService   = (*Service)(nil)
	_ bind.ThemeService    = (*Service)(nil)
)

// New starts nothing; Run does.
func New(o Options) *Service {
	s := &Service{
		o: o, asked: map[string]asked{}, looks: themes.In(o.Home), turn: make(chan struct{}),
		editor: config.Editor{
			History: config.OpenHistory(filepath.Join(o.Home, config.HistoryFolder)),
			Trust:   config.OpenTrust(filepath.Join(o.Home, config.TrustFileName)),
		},
	}
	s.Keys = &Keys{settings: s, vault: o.Vault}
	s.SignIn = &SignIn{settings: s}
	if err := s.editor.Trust.Problem(); err != nil {
		o.Log.Warn("approved settings of projects", "err", err)
	}
	s.warn(o.Source.Current())
	o.Source.Subscribe(func(snap config.Snapshot) {
		s.record(config.GlobalFile(snap.Path))
		s.warn(snap)
		s.changed("")
	})
	return s
}

// Run follows all files until ctx ends, and then ends a sign-in that goes on.
func (s *Service) Run(ctx context.Context) {
	defer s.endSignIn()
	s.record(config.GlobalFile(s.o.Source.Path()))
	var files sync.WaitGroup
	defer files.Wait()
	files.Go(func() {
		tick := time.NewTicker(configPoll)
		defer tick.Stop()
		s.o.Source.Run(ctx, tick.C)
	})
	tick := time.NewTicker(projectPoll)
	defer tick.Stop()
	s.watch(ctx, tick.C)
}

// signInWait is how long the end of Loop waits for a program that signs in.
const signInWait = 10 * time.Second

func (s *Service) endSignIn() {
	ctx, cancel := context.WithTimeout(context.Background(), signInWait)
	defer cancel()
	if err := s.SignIn.End(ctx); err != nil {
		s.o.Log.Warn("end the sign-in", "err", err)
	}
}

func (s *Service) warn(snap config.Snapshot) {
	for _, p := range snap.Problems {
		s.o.Log.Warn("configuration", "problem", p.String())
	}
}

// Current is the configuration in force for Loop itself.
func (s *Service) Current() config.Config { return s.o.Source.Current().Config }

// ShellIntegration reports whether shells are to mark their prompts.
func (s *Service) ShellIntegration() bool { return s.Current().Terminal.ShellIntegration }

// changed has the pages read the settings of a channel again; of all without one.
func (s *Service) changed(ch core.ChannelID) {
	s.mu.Lock()
	close(s.turn)
	s.turn = make(chan struct{})
	s.mu.Unlock()
	s.o.Publish(core.NewEvent(core.EventConfigChanged, ch, "", time.Now(), s.Status()))
}

// statusWait bounds how long the page's status waits for a keyring.
const statusWait = 2 * time.Second

// Status is the part of the configuration that the page shows. It holds no
// credential.
func (s *Service) Status() bind.ConfigStatus {
	snap := s.o.Source.Current()
	t, sizes := snap.Config.Terminal, snap.Config.FontSizes
	st := bind.ConfigStatus{
		Path: snap.Path, Problems: append([]core.SettingsProblem{}, snap.Problems...), Theme: snap.Config.Theme,
		DoNotDisturb: snap.Config.DoNotDisturb, Notify: snap.Config.Notify, Keys: snap.Config.Keys,
		Text: bind.TextSizes{Sidebar: sizes.Sidebar, Chat: sizes.Chat, Editor: sizes.Editor, Panels: sizes.Panels},
		Terminal: bind.TerminalLook{
			FontFamily: t.FontFamily, FontSize: sizes.Terminal, ShiftEnter: t.ShiftEnter, Bell: t.Bell,
			CopyOnSelect: t.CopyOnSelect, ScreenReader: t.ScreenReader, Colors: t.Colors, MinimumContrast: t.MinimumContrast,
		},
	}
	s.wear(&st)
	ctx, cancel := context.WithTimeout(context.Background(), statusWait)
	defer cancel()
	if kind, _, err := s.Keys.Choose(ctx, snap.Config); err == nil {
		st.HasCredentials, st.CredentialKind = kind != "", kind
	}
	return st
}
