package browser

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"loop/backend/core"
)

// pictured keeps an agent's screenshot where the agent finds it. byPath has the path alone
// in the result: a picture fills a model's context.
func (s *Service) pictured(ctx context.Context, ch core.ChannelID, byPath bool, res core.BrowserResult) core.BrowserResult {
	if len(res.Image) == 0 || res.Error != "" {
		return res
	}
	ext := "jpg"
	if http.DetectContentType(res.Image) == "image/png" {
		ext = "png"
	}
	at, err := s.o.Save(ctx, ch, fmt.Sprintf("screenshot-%d.%s", s.o.Now().UnixNano(), ext), res.Image)
	switch {
	case err == nil:
		res.Path = at
	case byPath:
		return core.BrowserResult{Error: sentence(err)}
	default: // the picture itself is what was asked for
		s.o.Log.Warn("keep a screenshot", "channel", string(ch), "err", err)
	}
	if byPath {
		res.Image = nil
	}
	return res
}

// PutFile gives a person's file to a channel's browser, and says where a page finds it there.
// Errors are *core.Failure.
func (s *Service) PutFile(ctx context.Context, ch core.ChannelID, name string, r io.Reader) (inside string, err error) {
	var run *Running
	s.mu.Lock()
	c := s.sessions[ch]
	s.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		run = c.run
		c.mu.Unlock()
	}
	switch {
	case run == nil:
		return "", core.Fail(core.CodeConflict, nil, "The browser does not run.", "Open its pane and try again.")
	case run.PutFile == nil:
		return "", core.Fail(core.CodeForbidden, nil, "This browser takes no files from here.", "")
	}
	c.use()
	return run.PutFile(ctx, name, r)
}
