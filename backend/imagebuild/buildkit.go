package imagebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"loop/agentimage"
	"loop/backend/core"
)

// probeTimeout bounds the trial build of one docker command; with the base at
// hand it takes about a second.
const probeTimeout = 30 * time.Second

// dockerCLI is a docker command that was seen to build with a secret.
type dockerCLI struct {
	path string
	env  []string
}

// probeBuildKit looks for a docker command that can build with a secret and
// proves it by building. The first one on PATH may well lack a part that a later
// one has, so each is tried. why says what spoke against the last.
func (s *Service) probeBuildKit(ctx context.Context, base string) (cli *dockerCLI, why string) {
	clis := dockerCommands(os.Getenv("PATH"))
	if len(clis) == 0 {
		return nil, "there is no docker command"
	}
	st := s.engine.Status(ctx)
	for _, p := range clis {
		c := &dockerCLI{path: p, env: []string{"DOCKER_BUILDKIT=1", "BUILDKIT_PROGRESS=plain"}}
		if strings.Contains(st.Host, "://") {
			c.env = append(c.env, "DOCKER_HOST="+st.Host)
		}
		err := s.trialBuild(ctx, c, base)
		if err == nil {
			return c, ""
		}
		why = fmt.Sprintf("%s: %s", p, firstLine(err.Error()))
		s.log.Info("docker command cannot build with secrets", "path", p, "err", err)
	}
	return nil, why
}

// trialBuild builds a few bytes with a secret and removes them.
func (s *Service) trialBuild(ctx context.Context, c *dockerCLI, base string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	secret, err := os.CreateTemp(s.opts.TempDir, "loop-probe-")
	if err != nil {
		return fmt.Errorf("make a secret: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(secret.Name())) }()
	word := core.NewID()
	_, err = secret.WriteString(word)
	if err := errors.Join(err, secret.Close()); err != nil {
		return fmt.Errorf("write the secret: %w", err)
	}
	text := "ARG BASE\nFROM ${BASE}\nUSER 0:0\nARG WORD\nRUN --mount=type=secret,id=probe test \"$(cat /run/secrets/probe)\" = \"$WORD\"\n"
	var last []string
	id, err := s.dockerBuild(ctx, Command{
		Path: c.path, Env: c.env,
		// The word makes each trial new to the cache, so that it proves something.
		Args: []string{"--secret", "id=probe,src=" + secret.Name(), "--build-arg", "BASE=" + base, "--build-arg", "WORD=" + word},
		Line: func(l string) {
			if l = strings.TrimSpace(l); l != "" {
				last = append(last[max(0, len(last)-3):], l)
			}
		},
	}, map[string][]byte{agentimage.Dockerfile: []byte(text)})
	switch {
	case err == nil:
		s.dropImage(ctx, id)
	case len(last) > 0:
		return fmt.Errorf("%s (%w)", last[0], err)
	}
	return err
}

// dockerCommands lists the distinct docker commands on a PATH, in order.
func dockerCommands(path string) (out []string) {
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		// A relative entry would name something in whatever directory Loop is in.
		p, err := exec.LookPath(filepath.Join(dir, "docker"))
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && !seen[real] {
			seen[real] = true
			out = append(out, p)
		}
	}
	return out
}

// buildWithCLI builds with BuildKit through the docker command and returns the
// image's id; no name is set.
func (s *Service) buildWithCLI(ctx context.Context, rep *reporter, c *dockerCLI, files map[string][]byte, o core.BuildOptions) (id string,
	err error) {
	cmd := Command{Path: c.path, Env: slices.Clone(c.env), Line: rep.builder(kitStages)}
	if g := s.opts.GitConfig; g != "" && s.opts.Recipe.Agents {
		if st, err := os.Stat(g); err == nil && st.Mode().IsRegular() {
			cmd.Args = append(cmd.Args, "--secret", "id=gitconfig,src="+g)
		}
	}
	for k, v := range o.Args {
		if slices.Contains(proxyNames, k) {
			// The value may hold a password, and every user can read a command line:
			// the docker command takes it from its environment.
			cmd.Args, cmd.Env = append(cmd.Args, "--build-arg", k), append(cmd.Env, k+"="+v)
			continue
		}
		cmd.Args = append(cmd.Args, "--build-arg", k+"="+v)
	}
	if o.Target != "" {
		cmd.Args = append(cmd.Args, "--target", o.Target)
	}
	for k, v := range o.Labels {
		cmd.Args = append(cmd.Args, "--label", k+"="+v)
	}
	return s.dockerBuild(ctx, cmd, files)
}

// PersonsGitConfig is where git keeps the person's configuration, or empty.
func PersonsGitConfig() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".gitconfig")
}

// dockerBuild runs “docker build” with the arguments and the build context given, and
// returns the image's id.
func (s *Service) dockerBuild(ctx context.Context, cmd Command, files map[string][]byte) (id string, err error) {
	dir, err := os.MkdirTemp(s.opts.TempDir, "loop-build-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the build: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	body, err := tarContext(files, s.opts.Recipe.Projects())
	if err != nil {
		return "", err
	}
	iid := filepath.Join(dir, "iid")
	cmd.Args = slices.Concat([]string{"build"}, cmd.Args, []string{"--iidfile", iid, "-"})
	cmd.Stdin = bytes.NewReader(body)
	if err := s.command(ctx, cmd); err != nil {
		return "", fmt.Errorf("docker build: %w", err)
	}
	raw, err := os.ReadFile(iid)
	if err != nil {
		return "", fmt.Errorf("read the id of the image: %w", err)
	}
	if id = strings.TrimSpace(string(raw)); !imageID.MatchString(id) {
		return "", fmt.Errorf("docker build named %q instead of an image", firstLine(id))
	}
	return id, nil
}

var imageID = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return clip(s)
}

// clip shortens a line that is too long.
func clip(s string) string {
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return s
}
