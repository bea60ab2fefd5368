package hostfacts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// Computer is this one, with Loop's folder at an absolute path.
type Computer struct {
	LoopHome string
	// Seed makes the copy of a folder in which an agent works; see package agentcopy.
	Seed func(core.WorkspaceSeed) (notices []string, err error)
}

// Host gathers what sandbox.Resolve has to know, with what the engine says of
// itself.
func (c Computer) Host(ctx context.Context, st core.EngineStatus) (sandbox.Host, error) {
	home, err := homeDir()
	if err != nil {
		return sandbox.Host{}, err
	}
	return sandbox.Host{
		OS: runtime.GOOS, User: userName(), UID: os.Getuid(), GID: os.Getgid(), Home: home, LoopHome: filepath.Clean(c.LoopHome),
		TimeZone: timeZone(), GitExcludes: gitExcludes(ctx, home), Env: environ(os.Environ()),
		EngineOS: st.OS, EngineArch: st.Arch, EngineCPUs: st.Traits.CPUs,
		FileSystems: fileSystems("/proc/self/mountinfo"), Look: looker(),
	}, nil
}

func homeDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return "", core.Fail(core.CodeInvalid, err, "Loop cannot tell where your home directory is.", "Set HOME to an absolute path.")
	}
	return filepath.Clean(home), nil
}

// Fit judges a folder that has no channel yet as Resolve will: nil, or the failure
// that a run would end with.
func (c Computer) Fit(ctx context.Context, dir string) error {
	h, err := c.Host(ctx, core.EngineStatus{})
	if err != nil {
		return err
	}
	return sandbox.FitForWork(dir, h)
}

// gitTimeout bounds the one git call; it reads a file or two.
const gitTimeout = 3 * time.Second

// fileSystems are the places where one is mounted, as Linux lists them; on other
// systems nothing is known of them. Engines there share folders as one.
func fileSystems(list string) (out []string) {
	b, err := os.ReadFile(list)
	if err != nil {
		return nil
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 4 {
			out = append(out, unescape.Replace(f[4]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// userName is the account's name; $USER is believed only when the system's
// own record cannot be read (no cgo, a user without an entry).
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return cmp.Or(os.Getenv("USER"), os.Getenv("LOGNAME"), os.Getenv("USERNAME"))
}

func environ(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, kv := range list {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			out[name] = value
		}
	}
	return out
}

// gitExcludes asks git where the person's global ignore file is. It runs at
// the top of the file system with a clean environment: git must not meet a
// repository's settings, which an agent could have written.
func gitExcludes(ctx context.Context, home string) string {
	git, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "config", "--global", "--type=path", "--get", "core.excludesFile")
	cmd.Dir = filepath.VolumeName(home) + string(filepath.Separator)
	cmd.Env = append(cmd.Environ()[:0:0], "HOME="+home, "PATH="+os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES="+cmd.Dir, "GIT_CONFIG_NOSYSTEM=1")
	for _, name := range []string{"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "USERPROFILE", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	out, err := cmd.Output()
	p := strings.TrimRight(string(out), "\r\n")
	if err != nil || !filepath.IsAbs(p) {
		return ""
	}
	return filepath.Clean(p)
}

// looker looks at each path once. It is for one goroutine.
func looker() func(string) sandbox.PathFact {
	known := map[string]sandbox.PathFact{}
	return func(p string) sandbox.PathFact {
		if _, ok := known[p]; !ok {
			known[p] = look(p)
		}
		return known[p]
	}
}

func look(p string) sandbox.PathFact {
	target, err := resolve(p)
	f := sandbox.PathFact{Target: target}
	if err != nil {
		return sandbox.PathFact{Kind: sandbox.PathDenied, Target: p, Error: reason(err)}
	}
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		f.Kind = sandbox.PathMissing
	case err != nil:
		f.Kind, f.Error = sandbox.PathDenied, reason(err)
	case info.IsDir():
		f.Kind = sandbox.PathDir
		// A folder that may not be entered cannot be mounted to any use.
		if d, err := os.Open(target); err != nil {
			f.Kind, f.Error = sandbox.PathDenied, reason(err)
		} else {
			d.Close()
		}
	case info.Mode().IsRegular():
		f.Kind = sandbox.PathFile
	case info.Mode()&fs.ModeSocket != 0:
		f.Kind = sandbox.PathSocket
	default:
		f.Kind = sandbox.PathOther
	}
	return f
}

func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// resolve follows every link of p. Of a path that is missing, the deepest
// existing ancestor is resolved and the rest appended.
func resolve(p string) (string, error) {
	real, err := filepath.EvalSymlinks(p)
	if err == nil {
		return real, nil
	}
	if to, lerr := os.Readlink(p); lerr == nil {
		// A link that leads nowhere: a later mount would follow it to where it points.
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
		if !errors.Is(err, fs.ErrNotExist) || to == p {
			return "", fmt.Errorf("resolve %s: %w", p, err)
		}
		return to, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return "", err
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p, nil
	}
	real, err = resolve(parent)
	return filepath.Join(real, filepath.Base(p)), err
}
