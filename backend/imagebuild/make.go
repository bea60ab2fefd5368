package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"loop/agentimage"
	"loop/backend/backoff"
	"loop/backend/core"
)

// How much of the bar each part takes, by what they take on an ordinary machine
// with the base present; a missing base moves the bar slowly through its share.
const (
	shareBase    = 0.25
	shareVersion = 0.28
	shareProbe   = 0.32
	shareBuild   = 0.98
	// cleanupTimeout bounds clean-up after a cancelled build.
	cleanupTimeout = 30 * time.Second
)

// make does the build. Everything it leaves behind on failure is the builder's
// cache; the tag is set in one step at the end.
func (s *Service) make(ctx context.Context, set Settings, rep *reporter) error {
	e, began := s.engine, time.Now().Truncate(time.Second) // as exact as an engine's times of images
	rep.step("Looking for the base image", 0.01)
	base, err := s.base(ctx, rep)
	if err != nil {
		return err
	}
	recipe := s.opts.Recipe
	args := map[string]string{"BASE": base}
	labels := map[string]string{LabelImageHash: recipe.Hash(set.Without), core.LabelApp: core.LabelAppName}
	switch {
	case recipe.Projects():
		args = map[string]string{"BASE_IMAGE": base}
	case recipe.Agents:
		rep.step("Looking up the version of Claude Code", shareBase)
		version := s.claudeVersion(ctx, rep)
		args["CLAUDE_VERSION"], args["WITHOUT"], labels[LabelClaude] = version, strings.Join(set.Without, " "), version
	default:
		args["DAY"] = began.UTC().Format(time.DateOnly) // the newest Chromium, and not that of the builder's cache
	}

	maps.Copy(args, s.opts.Args)
	files := recipe.Files()
	if !recipe.Projects() { // whose base trusts them already
		certs, notes := collectCerts(caFiles(set.ExtraCA, os.Getenv, s.opts.LocalCA))
		for _, n := range notes {
			rep.line(n)
		}
		for name, pem := range certs {
			files[agentimage.CADir+"/"+name] = pem
		}
	}
	maps.Copy(labels, s.opts.Labels)
	opts := core.BuildOptions{Args: args, Labels: labels, Target: s.opts.Target}
	maps.Copy(opts.Args, proxyArgs(os.Getenv))

	rep.step("Checking how the engine can build", shareVersion)
	var id string
	cli, why := s.probeBuildKit(ctx, base)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if cli != nil {
		rep.step("Building the "+recipe.Name, shareProbe)
		id, err = s.buildWithCLI(ctx, rep, cli, files, opts)
	} else {
		if recipe.Agents {
			rep.remark("Built without your git configuration, because the engine's builder takes no secrets here: " + why + ".")
		}
		rep.step("Building the "+recipe.Name, shareProbe)
		id, err = s.buildClassic(ctx, rep, files, opts)
		if err != nil {
			rep.step("Clearing up", 0)
			s.sweep(ctx, began, settleTime)
		}
	}
	if err != nil {
		return err
	}
	rep.step("Finishing", shareBuild)
	if err := e.ImageTag(ctx, id, set.Ref); err != nil {
		s.dropImage(ctx, id)
		return err
	}
	s.sweep(ctx, began, 0) // after the naming, which keeps the result and gives up the image before it
	rep.step("Ready", 1)
	return nil
}

var proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// proxyArgs passes the host's proxy settings on, under the names every builder
// predefines (they are not recorded in the image). A proxy on this machine's
// loopback cannot be reached from a build and is left out.
func proxyArgs(getenv func(string) string) map[string]string {
	out := map[string]string{}
	for _, name := range proxyNames {
		v := getenv(name)
		loopback := strings.Contains(v, "://127.") || strings.Contains(v, "://localhost") || strings.Contains(v, "://[::1]")
		if v != "" && (strings.EqualFold(name, "NO_PROXY") || !loopback) {
			out[name] = v
		}
	}
	return out
}

// buildClassic uses the engine's own builder, which knows no secrets.
func (s *Service) buildClassic(ctx context.Context, rep *reporter, files map[string][]byte, o core.BuildOptions) (string, error) {
	if files = maps.Clone(files); s.opts.Recipe.Agents { // others get none
		files[agentimage.Dockerfile] = agentimage.WithoutSecrets(files[agentimage.Dockerfile])
	}
	body, err := tarContext(files, s.opts.Recipe.Projects())
	if err != nil {
		return "", err
	}
	id, err := s.engine.ImageBuildClassic(ctx, bytes.NewReader(body), o, rep.builder(1))
	if err == nil && id == "" {
		err = fmt.Errorf("build image: the engine named no image")
	}
	return id, err
}

// partLabel is on every image a build makes after its first step, named or not.
func (s *Service) partLabel() map[string]string {
	return map[string]string{"loop.part": s.opts.Recipe.Part}
}

// foreignTime is how long a build of another Loop may take that shares the engine: a
// part that is younger, and older than the own build, may still be needed there.
const foreignTime = time.Hour

// settleTime is how long the engine may go on with a build that was broken off: it
// finishes storing the step it was at.
const settleTime = 6 * time.Second

// sweep removes what builds left without a name, for as long as the engine may still
// add to it: the image before this one, the last images of the stages of the engine's
// own builder, and the steps that a build got to which was broken off or whose Loop
// crashed. The engine keeps those that a container uses. began is when the own build did.
func (s *Service) sweep(ctx context.Context, began time.Time, settle time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	for ; ; settle -= time.Second {
		parts, err := s.engine.ImagesDangling(ctx, s.partLabel())
		if err != nil {
			s.log.Warn("look for leftovers", "err", err)
		}
		for id, made := range parts {
			if !made.Before(began) || time.Since(made) > foreignTime {
				s.dropImage(ctx, id)
			}
		}
		if settle <= 0 || !backoff.Sleep(ctx, time.Second) {
			return
		}
	}
}

// tarContext packs a build context. With scripts, what begins like a script can be executed.
func tarContext(files map[string][]byte, scripts bool) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// A fixed time keeps the builder's cache valid across builds.
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(1, 0)}
		if scripts && bytes.HasPrefix(files[name], []byte("#!")) {
			h.Mode = 0o755
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("pack the build context: %w", err)
		}
	}
	return buf.Bytes(), w.Close()
}
