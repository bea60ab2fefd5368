package imagebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

const (
	claudeLatestURL = "https://registry.npmjs.org/@anthropic-ai/claude-code/latest"
	// lookupTimeout bounds the look-up; the build goes on without an answer.
	lookupTimeout = 4 * time.Second
	// maxVersionBody bounds the answer, which is about 5 KiB.
	maxVersionBody = 1 << 20
)

var versionForm = regexp.MustCompile(`^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,6}(-[0-9A-Za-z.]{1,32})?$`)

// claudeVersion looks up the current version of Claude Code in the registry that the
// build installs it from. Without an answer it returns the time, which the install
// script takes for “latest” and which keeps the builder from reusing an old download.
func (s *Service) claudeVersion(ctx context.Context, rep *reporter) string {
	v, err := s.fetchVersion(ctx)
	if err != nil {
		rep.line(fmt.Sprintf("The npm registry did not say which version of Claude Code is current; it takes what is latest then (%v)", err))
		return "at-" + time.Now().UTC().Format("20060102T150405Z")
	}
	rep.line("Claude Code " + v)
	return v
}

func (s *Service) fetchVersion(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, claudeLatestURL, nil)
	if err != nil {
		return "", err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("it answered %s", resp.Status)
	}
	var m struct {
		Version string `json:"version"`
	}
	// The value goes into a build argument and a URL: nothing but a version passes.
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxVersionBody)).Decode(&m); err != nil || !versionForm.MatchString(m.Version) {
		return "", fmt.Errorf("it answered no version")
	}
	return m.Version, nil
}
