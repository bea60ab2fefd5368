package imagebuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
	st := s.ports.Engine.Status(ctx)
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
	dir, err := os.MkdirTemp(s.opts.TempDir, "loop-probe-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	word := core.NewID()
	text := "ARG BASE\nFROM ${BASE}\nARG WORD\nRUN --mount=type=secret,id=probe test \"$(cat /run/secrets/probe)\" = \"$WORD\"\n"
	if err := writeContext(dir, map[string][]byte{"c/Dockerfile": []byte(text), "secret": []byte(word)}); err != nil {
		return err
	}
	iid := filepath.Join(dir, "iid")
	// The word makes each trial new to the cache, so that it proves something.
	var last []string
	err = s.ports.Run(ctx, Command{
		Path: c.path, Env: c.env,
		Args: []string{"build", "--secret", "id=probe,src=" + filepath.Join(dir, "secret"), "--iidfile", iid,
			"--build-arg", "BASE=" + base, "--build-arg", "WORD=" + word, filepath.Join(dir, "c")},
		Line: func(l string) {
			if l = strings.TrimSpace(l); l != "" {
				last = append(last[max(0, len(last)-3):], l)
			}
		},
	})
	if id, rerr := os.ReadFile(iid); rerr == nil {
		if rerr := s.ports.Engine.ImageRemove(context.WithoutCancel(ctx), strings.TrimSpace(string(id))); rerr != nil {
			s.log.Warn("trial image stays behind", "image", string(id), "err", rerr)
		}
	}
	if err != nil && len(last) > 0 {
		return fmt.Errorf("%s (%w)", last[0], err)
	}
	return err
}

// dockerCommands lists the distinct docker commands on a PATH, in order.
func dockerCommands(path string) []string {
	name := "docker"
	if runtime.GOOS == "windows" {
		name = "docker.exe"
	}
	var out []string
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a relative PATH entry names something in whatever directory we are in
		}
		p := filepath.Join(dir, name)
		st, err := os.Stat(p)
		if err != nil || !st.Mode().IsRegular() || (runtime.GOOS != "windows" && st.Mode()&0o111 == 0) {
			continue
		}
		real, err := filepath.EvalSymlinks(p)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		out = append(out, p)
	}
	return out
}

// buildWithCLI builds with BuildKit through the docker command and returns the
// image's id; no tag is set.
func (s *Service) buildWithCLI(ctx context.Context, rep *reporter, c *dockerCLI, files map[string][]byte, o core.BuildOptions) (id string,
	err error) {
	dir, err := os.MkdirTemp(s.opts.TempDir, "loop-build-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the build: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := writeContext(filepath.Join(dir, "context"), files); err != nil {
		return "", fmt.Errorf("write build context: %w", err)
	}
	iid := filepath.Join(dir, "iid")
	args := []string{"build", "--iidfile", iid, "--file", filepath.Join(dir, "context", agentimage.Dockerfile)}
	if g := s.opts.GitConfig; g != "" {
		if st, err := os.Stat(g); err == nil && st.Mode().IsRegular() {
			args = append(args, "--secret", "id=gitconfig,src="+g)
		}
	}
	env := slices.Clone(c.env)
	for k, v := range o.Args {
		if proxyName(k) {
			// The value may hold a password, and every user can read a command line:
			// the docker command takes it from its environment.
			args, env = append(args, "--build-arg", k), append(env, k+"="+v)
			continue
		}
		args = append(args, "--build-arg", k+"="+v)
	}
	for k, v := range o.Labels {
		args = append(args, "--label", k+"="+v)
	}
	p := kitProgress{stages: map[string][2]int{}}
	err = s.ports.Run(ctx, Command{
		Path: c.path, Args: append(args, filepath.Join(dir, "context")), Env: env,
		Line: func(line string) {
			rep.line(line)
			rep.progress(shareProbe + p.line(line)*(shareBuild-shareProbe))
		},
	})
	if err != nil {
		return "", fmt.Errorf("docker build: %w", err)
	}
	raw, err := os.ReadFile(iid)
	if err != nil {
		return "", fmt.Errorf("read the id of the image: %w", err)
	}
	id = strings.TrimSpace(string(raw))
	if !imageID.MatchString(id) {
		return "", fmt.Errorf("docker build named %q instead of an image", firstLine(id))
	}
	return id, nil
}

var imageID = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// kitProgress estimates how far a BuildKit build is from its plain output, where
// a step reads “#9 [claude 2/2] RUN …”. A stage's size is known only once one of
// its steps was seen, so the estimate counts the stages of the Dockerfile.
type kitProgress struct {
	stages map[string][2]int // stage: step, steps
	lines  int               // of output since the last new step
}

var kitStep = regexp.MustCompile(`^#\d+ \[([\w-]+) +(\d+)/(\d+)\]`)

// kitStages is how many stages agentimage/Dockerfile has.
const kitStages = 3

func (k *kitProgress) line(line string) float64 {
	if m := kitStep.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[2])
		of, _ := strconv.Atoi(m[3])
		if of > 0 && n <= of && len(k.stages) < 2*kitStages {
			if old := k.stages[m[1]]; n > old[0] {
				k.stages[m[1]] = [2]int{n, of}
				k.lines = 0
			}
		}
	}
	k.lines++
	var sum float64
	for _, s := range k.stages {
		sum += float64(s[0]-1) / float64(s[1])
	}
	// A stage that has begun means that those before it are nearly done, and a
	// long step that it moves: installing packages prints some 300 lines.
	creep := 0.4 * float64(k.lines) / float64(k.lines+150)
	return min((sum+creep+0.4*float64(max(0, len(k.stages)-1)))/kitStages, 0.95)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > maxLine {
		s = strings.ToValidUTF8(s[:maxLine], "") + "…"
	}
	return s
}
