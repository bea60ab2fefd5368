package imagebuild

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loop/agentimage"
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
	e := s.ports.Engine
	before := s.sweepOld(ctx)
	oldID, _, err := e.ImageInspect(ctx, set.Ref)
	if err != nil {
		oldID = ""
	}
	rep.step("Looking for the base image", 0.01)
	base, err := s.base(ctx, rep)
	if err != nil {
		return err
	}
	rep.step("Looking up the version of Claude Code", shareBase)
	version := s.claudeVersion(ctx, rep)

	files := agentimage.Files()
	certs, notes := collectCerts(caFiles(set.ExtraCA, os.Getenv, s.opts.LocalCA))
	for _, n := range notes {
		rep.line(n)
	}
	for name, pem := range certs {
		files[agentimage.CADir+"/"+name] = pem
	}
	opts := core.BuildOptions{
		Args:   map[string]string{"BASE": base, "CLAUDE_VERSION": version, "WITHOUT": strings.Join(set.Without, " ")},
		Labels: map[string]string{LabelImageHash: agentimage.Hash(set.Without), LabelClaude: version, core.LabelApp: core.LabelAppName},
	}
	maps.Copy(opts.Args, proxyArgs(os.Getenv))

	rep.step("Checking how the engine can build", shareVersion)
	var id string
	cli, why := s.probeBuildKit(ctx, base)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if cli != nil {
		rep.step("Building the agent image", shareProbe)
		id, err = s.buildWithCLI(ctx, rep, cli, files, opts)
	} else {
		rep.remark("Built without your git configuration, because the engine's builder takes no secrets here: " + why + ".")
		rep.step("Building the agent image", shareProbe)
		id, err = s.buildClassic(ctx, rep, files, opts)
		if err != nil {
			rep.step("Clearing up", 0)
			s.sweepNew(ctx, before, false)
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
	if cli == nil {
		s.sweepNew(ctx, before, true) // after the tag, which keeps the result from it
	}
	if oldID != "" && oldID != id {
		// Best effort: containers that still use it keep it, and the engine says so.
		if err := e.ImageRemove(ctx, oldID); err != nil {
			s.log.Info("previous image stays", "image", oldID, "err", err)
		}
	}
	rep.step("Ready", 1)
	return nil
}

var proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

func proxyName(name string) bool { return slices.Contains(proxyNames, name) }

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
	files = maps.Clone(files)
	files[agentimage.Dockerfile] = agentimage.WithoutSecrets(files[agentimage.Dockerfile])
	body, err := tarContext(files)
	if err != nil {
		return "", fmt.Errorf("pack build context: %w", err)
	}
	id, err := s.ports.Engine.ImageBuildClassic(ctx, bytes.NewReader(body), o, func(line string) {
		rep.line(line)
		if p, ok := classicProgress(line); ok {
			rep.progress(shareProbe + p*(shareBuild-shareProbe))
		}
	})
	if err == nil && id == "" {
		err = fmt.Errorf("build image: the engine named no image")
	}
	return id, err
}

// partLabel is on every image a build makes after its first step, named or not.
var partLabel = map[string]string{"loop.part": "agent"}

const (
	// leftoverAge is the age at which a nameless image of a build can only be left
	// over; younger ones may belong to another Loop that builds right now.
	leftoverAge = time.Hour
	// settleTime is how long the engine may go on with a build that was broken
	// off: it finishes storing the step it was at.
	settleTime = 6 * time.Second
)

// sweepOld removes what earlier builds left behind, and returns what is there now
// without a name.
func (s *Service) sweepOld(ctx context.Context) map[string]time.Time {
	there, err := s.ports.Engine.ImagesDangling(ctx, partLabel)
	if err != nil {
		s.log.Warn("look for leftovers", "err", err)
		return nil
	}
	for id, made := range there {
		if s.ports.Now().Sub(made) > leftoverAge {
			s.dropImage(ctx, id)
		}
	}
	return there
}

// sweepNew removes what this build of the engine's own builder left without a
// name: the last images of its stages, or of the steps it got to. before is what
// was there already.
func (s *Service) sweepNew(ctx context.Context, before map[string]time.Time, ended bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if before == nil {
		return // what is new cannot be told
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for left := settleTime; ; left -= time.Second {
		now, err := s.ports.Engine.ImagesDangling(ctx, partLabel)
		if err != nil {
			s.log.Warn("look for leftovers", "err", err)
			return
		}
		for id := range now {
			if _, old := before[id]; !old {
				s.dropImage(ctx, id)
			}
		}
		if ended || left <= 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// classicProgress reads “Step 3/12 : RUN …”.
func classicProgress(line string) (float64, bool) {
	var n, of int
	if _, err := fmt.Sscanf(line, "Step %d/%d :", &n, &of); err != nil || of < 1 {
		return 0, false
	}
	return float64(n-1) / float64(of), true
}

func tarContext(files map[string][]byte) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// A fixed time keeps the builder's cache valid across builds.
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(1, 0)}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), w.Close()
}

// writeContext lays the build context out in a directory, for the docker command.
func writeContext(dir string, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, files[name], 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(p, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			return err
		}
	}
	return nil
}
