package imagebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const (
	claudeLatestURL = "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/latest"
	claudeNpmURL    = "https://registry.npmjs.org/@anthropic-ai/claude-code/latest"
	// lookupTimeout bounds each look-up; the build goes on without an answer.
	lookupTimeout = 4 * time.Second
	// maxVersionBody bounds an answer; npm's is about 5 KiB.
	maxVersionBody = 1 << 20
)

var versionForm = regexp.MustCompile(`^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,6}(-[0-9A-Za-z.]{1,32})?$`)

// claudeVersion looks up the current version of Claude Code: the distribution's
// own pointer, then the npm registry. With neither it returns the time, which the
// install script takes for “latest” and which keeps the builder from reusing an
// old download.
func (s *Service) claudeVersion(ctx context.Context, rep *reporter) string {
	if v, err := s.fetchVersion(ctx, claudeLatestURL, func(b []byte) string { return strings.TrimSpace(string(b)) }); err == nil {
		rep.line("Claude Code " + v)
		return v
	} else {
		rep.line(fmt.Sprintf("The version pointer did not answer (%v); asking the npm registry", err))
	}
	v, err := s.fetchVersion(ctx, claudeNpmURL, func(b []byte) string {
		var m struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(b, &m) != nil {
			return ""
		}
		return m.Version
	})
	if err == nil {
		rep.line("Claude Code " + v)
		return v
	}
	rep.line(fmt.Sprintf("The npm registry did not answer (%v); taking what is latest during the build", err))
	return "at-" + s.ports.Now().UTC().Format("20060102T150405Z")
}

func (s *Service) fetchVersion(ctx context.Context, url string, read func([]byte) string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := s.ports.HTTP.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("answered %s", resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxVersionBody))
	if err != nil {
		return "", err
	}
	// The value goes into a build argument and a URL: nothing but a version passes.
	v := read(b)
	if !versionForm.MatchString(v) {
		return "", fmt.Errorf("answered no version")
	}
	return v, nil
}
