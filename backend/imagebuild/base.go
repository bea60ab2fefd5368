package imagebuild

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/distribution/reference"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	// defaultBase is the published base; ownBaseRef the one made here, under a name
	// of its own so that it is never taken for the published one.
	defaultBase = "debian:bookworm-slim"
	ownBaseRef  = "loop-base:bookworm"
	baseSuite   = "bookworm"
	baseMirror  = "http://deb.debian.org/debian"
	// pullPatience is how long a pull may stay without any sign of the registry.
	pullPatience = 6 * time.Second
	// pullTimeout bounds the whole pull of about 30 MB once it moves.
	pullTimeout = 10 * time.Minute
)

// base returns a reference of a base image that the engine has.
func (s *Service) base(ctx context.Context, rep *reporter) (string, error) {
	e, baseRef := s.engine, cmp.Or(s.opts.Parent, s.opts.Base)
	if _, _, err := e.ImageInspect(ctx, baseRef); err == nil {
		return baseRef, nil
	} else if !errors.Is(err, core.ErrNoImage) {
		return "", err
	}
	rep.step("Pulling "+baseRef, 0.02)
	pinned, pullErr := s.pullBase(ctx, baseRef, rep)
	if pullErr == nil {
		return pinned, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if f := core.AsFailure(pullErr); f.Code != core.CodeInternal {
		return "", pullErr // no engine, or its disk is full: another way would meet the same
	}
	if s.opts.Parent != "" { // no other takes its place
		return "", NotThere(baseRef, pullErr)
	}
	rep.line("The base image cannot be pulled: " + firstLine(pullErr.Error()))
	if _, _, err := e.ImageInspect(ctx, ownBaseRef); err == nil {
		return ownBaseRef, nil
	}
	if err := s.bootstrap(ctx, rep); err != nil {
		return "", err
	}
	return ownBaseRef, nil
}

// pullBase gives up when the registry shows no sign of life for a few seconds. It returns
// the base by its digest, if the registry said one: that, and nothing that has the name in the
// next minute, is what is built upon.
func (s *Service) pullBase(ctx context.Context, name string, rep *reporter) (ref string, err error) {
	ref = name
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	silent := time.AfterFunc(pullPatience, cancel)
	defer silent.Stop()
	n := 0
	err = s.engine.ImagePull(ctx, name, func(line string) {
		silent.Stop() // the registry answered; the whole is bounded above
		if of, is := strings.CutPrefix(strings.TrimSpace(line), "Digest: "); is && imageID.MatchString(of) {
			ref = pin(name, of)
		}
		if n++; n%20 == 1 {
			rep.line(line)
		}
		rep.progress(0.02 + min(float64(n)/400, 1)*(shareBase-0.03))
	})
	if err != nil && ctx.Err() != nil {
		why := fmt.Errorf("no answer from the registry in %s", pullPatience)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = fmt.Errorf("it was not there after %s", pullTimeout)
		}
		return "", core.Fail(core.CodeInternal, why, "The base image could not be pulled.", "")
	}
	return ref, err
}

// pin names what a reference means by its digest.
func pin(ref, of string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ref
	}
	if _, pinned := named.(reference.Digested); pinned {
		return ref
	}
	return reference.FamiliarName(named) + "@" + of
}

// bootstrap makes a Debian base without a registry. The first stage of
// debootstrap fetches and unpacks packages on the host, which needs no privilege
// (fakeroot only calms its check for root); the second, which does, runs in a
// container made of the first. So root and an ordinary user who may use the
// engine get the same result in the same way.
func (s *Service) bootstrap(ctx context.Context, rep *reporter) (err error) {
	if runtime.GOOS != "linux" {
		return s.baseFailure(errors.New("no registry, and debootstrap exists on Linux only"),
			"Check the network connection and the proxy settings, then try again.")
	}
	deb, err := s.find("debootstrap")
	if err != nil {
		return s.baseFailure(err,
			"Install it (“sudo apt-get install debootstrap fakeroot”), or make "+s.opts.Base+" available to the engine.")
	}
	cmd := Command{Path: deb, Env: []string{"PATH=" + strings.Join(append([]string{os.Getenv("PATH")}, sbin...), ":")}}
	if os.Getuid() != 0 {
		fake, err := s.find("fakeroot")
		if err != nil {
			return s.baseFailure(err, "Install it (“sudo apt-get install fakeroot”), or make "+s.opts.Base+" available to the engine.")
		}
		cmd.Path, cmd.Args = fake, []string{deb}
	}
	dir, err := os.MkdirTemp(s.opts.TempDir, "loop-base-")
	if err != nil {
		return fmt.Errorf("make a directory for the base: %w", err)
	}
	defer func() { err = errors.Join(err, atomicfile.RemoveTree(dir)) }()
	// Other users of the machine have no business in it, but the packages' scripts
	// run as root in a container only, so the tree's own modes are kept below.
	root := filepath.Join(dir, "root")
	cmd.Args = append(cmd.Args, "--foreign", "--force-check-gpg", "--variant=minbase", baseSuite, root, baseMirror)
	rep.step("Fetching Debian packages for a base of our own", 0.03)
	n := 0
	cmd.Line = func(l string) {
		rep.line(l)
		n++
		rep.progress(0.03 + min(float64(n)/300, 1)*0.1) // about 300 lines
	}
	if err := s.command(ctx, cmd); err != nil {
		return fmt.Errorf("debootstrap: %w", err)
	}
	rep.step("Handing the packages to the engine", 0.13)
	stage := "loop-base-stage:" + core.NewID()[:12]
	defer s.dropImage(ctx, stage)
	if err := s.importTree(ctx, root, stage); err != nil {
		return err
	}
	return s.secondStage(ctx, rep, stage)
}

// secondStageScript finishes debootstrap and trims what an image has no use for.
const secondStageScript = `set -e
/debootstrap/debootstrap --second-stage
printf 'deb http://deb.debian.org/debian bookworm main\n' > /etc/apt/sources.list
printf 'deb http://deb.debian.org/debian bookworm-updates main\n' >> /etc/apt/sources.list
printf 'deb http://deb.debian.org/debian-security bookworm-security main\n' >> /etc/apt/sources.list
{ printf 'path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\npath-exclude /usr/share/man/*\n'
  printf 'path-exclude /usr/share/locale/*\npath-exclude /usr/share/info/*\n'; } > /etc/dpkg/dpkg.cfg.d/loop-slim
printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
chmod 0755 /usr/sbin/policy-rc.d
find /usr/share/doc -mindepth 2 ! -name copyright -type f -delete
rm -rf /debootstrap /var/cache/apt/archives/*.deb /var/lib/apt/lists/* /var/log/*.log /var/log/apt \
  /usr/share/man/* /usr/share/locale/* /usr/share/info/* /var/cache/debconf/*-old /var/lib/dpkg/*-old
`

func (s *Service) secondStage(ctx context.Context, rep *reporter, stage string) error {
	e := s.engine
	rep.step("Setting up Debian in a container", 0.16)
	id, _, err := e.Create(ctx, core.Spec{
		Name: "loop-base-" + core.NewID()[:12], Image: stage, User: "0:0", Network: "none",
		Entrypoint: []string{"/bin/sh", "-c", secondStageScript},
		Env:        []core.EnvVar{{Name: "PATH", Value: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}},
		Labels:     map[string]string{"loop-helper": "base"},
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
		defer cancel()
		if err := e.Remove(ctx, id, true); err != nil {
			s.log.Warn("helper container stays behind", "container_id", id, "err", err)
		}
	}()
	if err := e.Start(ctx, id); err != nil {
		return err
	}
	code, err := e.Wait(ctx, id)
	if err != nil {
		return err
	}
	if code != 0 {
		if log, err := e.Logs(ctx, id, 20); err == nil {
			for line := range strings.Lines(log) {
				rep.line(line)
			}
		}
		return fmt.Errorf("set up Debian: the second stage ended with code %d", code)
	}
	rep.step("Keeping the base", 0.23)
	// Flattened to one layer: what the second stage removed is really gone.
	rc, err := e.Export(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = rc.Close() }()
	return e.ImageImport(ctx, rc, ownBaseRef)
}

func (s *Service) dropImage(ctx context.Context, ref string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := s.engine.ImageRemove(ctx, ref); err != nil && !errors.Is(err, core.ErrNoImage) {
		s.log.Warn("temporary image stays behind", "image", ref, "err", err)
	}
}

// importTree streams a directory to the engine as an image owned by root.
func (s *Service) importTree(ctx context.Context, root, ref string) error {
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := s.command(ctx, packTree(root, w))
		_ = w.CloseWithError(err)
		packed <- err
	}()
	err := s.engine.ImageImport(ctx, r, ref)
	_ = r.Close()
	if perr := <-packed; perr != nil && err == nil {
		err = fmt.Errorf("pack the base: %w", perr)
	}
	return err
}

// packTree writes a directory as a tar in which everything belongs to root and
// there are no devices (the engine gives containers their own). The first stage
// unpacks only as much as the second needs to unpack it all again with the real
// owners. Whoever has debootstrap has tar: it is made of it.
func packTree(root string, to io.Writer) Command {
	return Command{
		Path: "tar", Args: []string{"-C", root, "--numeric-owner", "--owner=0", "--group=0", "--exclude=./dev/*", "-cf", "-", "."}, Stdout: to,
	}
}

// sbin are the places of administration programs, which an ordinary user's PATH
// often lacks.
var sbin = []string{"/usr/local/sbin", "/usr/sbin", "/sbin"}

func findProgram(name string) (string, error) {
	if p, err := exec.LookPath(name); err == nil {
		return p, nil
	}
	for _, dir := range sbin {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("the program %s is not installed", name)
}

func (s *Service) baseFailure(err error, remedy string) error {
	return core.Fail(core.CodeImageBuild, err,
		"The base image "+s.opts.Base+" can neither be pulled nor made here: "+err.Error()+".", remedy)
}
