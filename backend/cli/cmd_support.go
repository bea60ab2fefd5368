package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/doctor"
	"loop/backend/supportbundle"
)

const aboutSupport = `This archive is for somebody who helps with Loop. “loop support” made it.

In it are the checks of “loop doctor”, the settings that you have set, Loop's
containers, and the end of Loop's log. Prompts, answers, files and keys are not in it. Names of
projects, of the person and of the computer, and what looks like a key, are replaced.

Look through it before you give it to anybody.

`

func (a *app) supportCommand() *cobra.Command {
	return a.job(&cobra.Command{
		Use: "support [FILE]", Short: "Pack what somebody needs who helps you with Loop", Args: cobra.MaximumNArgs(1),
		Long: `Packs the checks, the settings, the containers and the end of the log into a ZIP archive, without
prompts, answers, files and keys. Names of projects, your own and the computer's are replaced. The
archive stays on this computer: look through it, and give it to whom you like.`,
		Example: "  loop support\n  loop support ~/Desktop/loop.zip",
	}, a.connect, func(j *job) error {
		name := "loop-support-" + a.now().Format("2006-01-02-1504") + ".zip"
		if len(j.args) > 0 {
			name = j.args[0]
		}
		return j.support(name)
	})
}

func (j *job) support(name string) (err error) {
	parts, personal, err := j.supportParts()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return core.Fail(core.CodeInvalid, err, fmt.Sprintf("There is a %s already.", name), "Name another file.")
	} else if err != nil {
		return core.Fail(core.CodeInvalid, err, fmt.Sprintf("The file %s cannot be made: %v.", name, err), "Name another file.")
	}
	err = supportbundle.Write(f, parts, personal, j.now())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, os.Remove(name)))
	}
	j.out.line("%s has:", name)
	for _, p := range parts {
		j.out.line("  %s", p.Name)
	}
	j.out.line("Look through it before you give it to anybody.")
	return nil
}

// supportParts gathers what goes into the archive, and what must not.
func (j *job) supportParts() (parts []supportbundle.Part, p supportbundle.Personal, err error) {
	snap, err := call[bind.Snapshot](j.ctx, j, "System.Snapshot")
	if err != nil {
		return nil, p, err
	}
	report, err := call[doctor.Report](j.ctx, j, "System.Doctor")
	if err != nil {
		return nil, p, err
	}
	settings, err := call[bind.SettingsView](j.ctx, j, "Settings.Get", "")
	if err != nil {
		return nil, p, err
	}
	p.Home, _ = os.UserHomeDir() // without one there is no path in it to hide
	p.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		p.User = u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	}
	for _, c := range snap.Channels {
		p.Projects = append(p.Projects, supportbundle.Project{Name: c.Name, Dir: c.Dir})
	}
	home := filepath.Dir(settings.Path)
	log := cmp.Or(textOf(settings, "log_file"), filepath.Join(home, "loop.log"))
	parts = []supportbundle.Part{
		{Name: "about.txt", Text: aboutSupport + fmt.Sprintf("Loop %s on %s/%s, %s\n", snap.Version, runtime.GOOS, runtime.GOARCH,
			j.now().UTC().Format("2006-01-02 15:04 MST"))},
		{Name: "checks.json", Text: indented(report)}, {Name: "settings.txt", Text: changed(settings)},
		{Name: "engine.json", Text: indented(snap.Engine)}, {Name: "image.json", Text: indented(snap.Image)},
		{Name: "gate.json", Text: indented(snap.Gate)}, {Name: "containers.json", Text: indented(snap.Containers)},
	}
	for _, f := range []string{log + ".old", log} {
		if text, ok := lastOf(f); ok {
			parts = append(parts, supportbundle.Part{Name: filepath.Base(f), Text: text})
		}
	}
	return parts, p, nil
}

func indented(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b) + "\n"
}

// changed lists the settings that a file names. Texts of the person's own, and
// what is in lists and tables, are theirs: it says that they are set.
func changed(v bind.SettingsView) string {
	var b strings.Builder
	for _, f := range v.Fields {
		switch value, err := json.Marshal(f.Value); {
		case err != nil || len(f.Layers) == 0: // no file names it
		case !f.Secret && (f.Kind == "integer" || f.Kind == "number" || f.Kind == "boolean" || len(f.OneOf) > 0):
			fmt.Fprintf(&b, "%s = %s\n", f.Name, value)
		case len(f.Entries) > 0:
			fmt.Fprintf(&b, "%s has %d entries\n", f.Name, len(f.Entries))
		default:
			fmt.Fprintf(&b, "%s is set\n", f.Name)
		}
	}
	for _, p := range v.Problems {
		fmt.Fprintf(&b, "problem: %s\n", p.String())
	}
	return b.String()
}

func textOf(v bind.SettingsView, name string) string {
	for _, f := range v.Fields {
		if s, ok := f.Value.(string); ok && f.Name == name {
			return s
		}
	}
	return ""
}

// lastOf is the end of an ordinary file, if there is one.
func lastOf(name string) (string, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(name)
	if err != nil {
		return err.Error() + "\n", true
	}
	defer f.Close()
	if _, err := f.Seek(max(info.Size()-supportbundle.MaxPart-4096, 0), io.SeekStart); err != nil {
		return err.Error() + "\n", true
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*supportbundle.MaxPart))
	if err != nil {
		return string(text) + err.Error() + "\n", true
	}
	return string(text), true
}
