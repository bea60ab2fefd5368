package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

// Values of Config.Toolchains.
const (
	ToolchainsLoop = "loop" // what is in ProjectFolder alone
	ToolchainsOff  = "off"
)

const (
	setupScript = "setup.sh"
	// MaxSetupScript bounds a project's set-up script, in bytes. A person reads all of it.
	MaxSetupScript = 256 << 10
)

// SetupPath is where the set-up script of the project at dir is.
func SetupPath(dir string) string { return filepath.Join(dir, ProjectFolder, setupScript) }

// recipe is what a project's own image is made of.
type recipe struct {
	text  []byte            // all of it as one text, which a person sees and approves
	files map[string][]byte // of the build context of its last step
	below *core.ImageBelow  // what is built before; nil: it stands on the image of the settings
	notes []string          // what Loop leaves out, in sentences
}

// Toolchains are the files beside a project's settings file that its own image may be made of,
// in the order in which they count. They can be approved, declined and watched, and not written.
func (f File) Toolchains() []File {
	return []File{
		f.as(core.ToolchainImage, ProjectFolder, ImageFolder, dockerfile),
		f.as(core.ToolchainSetup, ProjectFolder, setupScript),
		f.as(core.ToolchainDevcontainer, devFolder, devFile),
		f.as(core.ToolchainDevcontainer, "."+devFile),
	}
}

func (f File) as(source string, parts ...string) File {
	f.Path, f.source = filepath.Join(append([]string{f.dir}, parts...)...), source
	return f
}

// Toolchain reports whether it stands for what a project's own image is made of.
func (f File) Toolchain() bool { return f.source != "" }

// ofProject is the same file in the project that a worktree belongs to.
func (f File) ofProject() File {
	if rel, err := filepath.Rel(f.dir, f.Path); err == nil {
		f.Path = filepath.Join(f.parent, rel)
	}
	f.dir, f.parent = f.parent, ""
	return f
}

// recipe reads it. An error that wraps fs.ErrNotExist means that the project has none.
func (f File) recipe() (recipe, error) {
	switch f.source {
	case core.ToolchainSetup:
		return readSetup(f.dir, f.parent)
	case core.ToolchainDevcontainer:
		return readDevcontainer(f)
	}
	files, err := readImageFolder(f.dir, f.parent)
	if err != nil {
		return recipe{}, err
	}
	return recipe{text: imageText(files), files: files}, nil
}

// settled reads again what changed while it was read.
func settled(read func() (recipe, error)) (r recipe, err error) {
	for range 5 {
		if r, err = read(); !errors.Is(err, errSwapped) {
			break
		}
	}
	return r, err
}

// readSetup makes a build of the project's set-up script: root runs it in the image of the
// settings, with nothing beside it.
func readSetup(dir, parent string) (recipe, error) {
	text, err := readOwnFile(dir, parent, setupScript, MaxSetupScript)
	switch {
	case errors.Is(err, atomicfile.ErrTooLarge):
		return recipe{}, refused("It is larger than %d KiB.", MaxSetupScript>>10)
	case err != nil:
		return recipe{}, err
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return recipe{}, refused("It is not text.")
	case len(bytes.TrimSpace(text)) == 0:
		return recipe{}, refused("It is empty.")
	case bytes.Contains(text, []byte("\r\n")):
		return recipe{}, refused("Its lines end as on Windows (CRLF), and no shell reads that. Save it with LF.")
	}
	return recipe{text: text, files: map[string][]byte{dockerfile: []byte(setupDockerfile(text)), setupScript: text}}, nil
}

// setupDockerfile runs a script in the image that it begins with. The script stays in the image,
// where an agent can read what was done.
func setupDockerfile(script []byte) string {
	const at = "/usr/local/share/loop/" + setupScript
	run := `["/bin/sh", "` + at + `"]`
	if bytes.HasPrefix(script, []byte("#!")) {
		run = `["` + at + `"]`
	}
	return "ARG " + baseArg + "\nFROM ${" + baseArg + "}\nUSER 0:0\nWORKDIR /\nARG DEBIAN_FRONTEND=noninteractive\n" +
		"COPY " + setupScript + " " + at + "\nRUN " + run + "\n"
}

// toolchain finds the project's own image that counts for a channel: that of its worktree, if it
// is approved, else that of its project.
func (e *Effective) toolchain(trust *Trust, dir, parent string) {
	if dir == "" || e.Config.Toolchains == ToolchainsOff {
		return
	}
	if parent == "" || parent == dir {
		e.toolchainOf(trust, ProjectFile(dir), core.LayerProject)
		return
	}
	e.toolchainOf(trust, ProjectFile(parent), core.LayerProject)
	e.toolchainOf(trust, WorktreeFile(dir, parent), core.LayerWorktree)
}

// toolchainOf takes the first source that is there. The others are named as left out.
func (e *Effective) toolchainOf(trust *Trust, in File, layer string) {
	first := ""
	for _, f := range in.Toolchains() {
		if f.source == core.ToolchainDevcontainer && e.Config.Toolchains == ToolchainsLoop {
			continue
		}
		if first != "" {
			if _, err := os.Lstat(f.Path); err == nil {
				e.Problems = append(e.Problems, core.SettingsProblem{
					Path: f.Path, Message: "It is not used, because a project has one image, and " + first + " comes first.",
					Remedy: "Remove one of the two, or let it be.", Warning: true,
				})
			}
			continue
		}
		r, err := settled(f.recipe)
		if absent(err) {
			continue
		}
		switch first = f.Path; {
		case errors.Is(err, errSwapped) && e.Err == nil:
			// Nobody can say whether it counts, and no run goes without one that does.
			e.Err = core.Fail(core.CodeConfig, err, f.Path+" changed while it was read.", "Try again once nothing writes there.")
		case err != nil:
			e.imageProblem(f, imageReason(err))
		default:
			e.child(trust, f, layer, r)
		}
	}
}

// child decides what becomes of a source. One that waits is named among Pending. One that cannot
// be used is a problem, and an error once it was approved.
func (e *Effective) child(trust *Trust, f File, layer string, r recipe) {
	p := &core.ProjectImage{Source: f.source, Dir: f.dir, Path: f.Path, Layer: layer, Sum: sumOf(r.text), Files: r.files, Below: r.below}
	approved, declined := trust.approved(f.key(), p.Sum), trust.declined(f.key(), p.Sum)
	if !approved && !declined && f.parent != "" {
		// A worktree has the project's files: what was decided there is not asked for again.
		of := f.ofProject().key()
		approved, declined = trust.approved(of, p.Sum), trust.declined(of, p.Sum)
	}
	var err error
	if p.Base = e.Config.ContainerImage; f.source == core.ToolchainImage {
		p.Base, err = imageBase(r.files[dockerfile], e.Config.ContainerImage, Defaults().ContainerImage)
	}
	seen := core.ProjectToolchain{
		SettingsPending: core.SettingsPending{
			Path: f.Path, SHA256: p.Sum, Diff: trust.imageDiff(f.key(), string(r.text)), Fields: []string{f.source},
		},
		Kind: f.source, State: core.ToolchainUndecided, Text: visible(string(r.text)), Notes: append([]string{}, r.notes...),
	}
	switch {
	case err != nil && approved && e.Err == nil:
		e.Err = core.Fail(core.CodeConfig, err, "The project's Dockerfile cannot be used: "+err.Error(),
			"Correct "+f.Path+" and approve it again, or take its approval back.")
	case err != nil:
		e.imageProblem(f, err.Error())
	case approved:
		e.Undecided, seen.State = "", core.ToolchainApproved
		if e.Child == nil || e.Child.Sum != p.Sum { // else the worktree has what the project has, and so has its image
			e.Child = p
			e.Notices = append(e.Notices, r.notes...)
		}
		if trust.approved(f.key(), p.Sum) && !slices.Contains(e.Approved, f.Path) {
			e.Approved = append(e.Approved, f.Path)
		}
	case declined:
		e.Undecided, e.Child, seen.State = "", nil, core.ToolchainDeclined
	case slices.ContainsFunc(e.Pending, func(w core.SettingsPending) bool { return w.SHA256 == p.Sum }):
		return // the project's approval will be the worktree's
	default:
		e.Pending = append(e.Pending, seen.SettingsPending)
		e.Undecided = f.Path
	}
	if err == nil {
		e.Toolchains = append(e.Toolchains, seen)
	}
}

// imageProblem tells of a source that nobody can approve.
func (e *Effective) imageProblem(f File, why string) {
	e.Problems = append(e.Problems, core.SettingsProblem{
		Path: f.Path, Message: "The project's own image cannot be used. " + why,
		Remedy: "Correct it. Until then runs have the image that the settings name.", Warning: true,
	})
	e.Notices = append(e.Notices, f.Path+" cannot be used, so this run goes without the project's own image. "+why)
}

func imageReason(err error) string {
	if known, ok := errors.AsType[imageError](err); ok {
		return known.Error()
	}
	switch {
	case errors.Is(err, errLink), errors.Is(err, errTreeLink):
		return "It, or a folder on the way to it, is a link, and links are not followed."
	case errors.Is(err, errSwapped):
		return "It changed while it was read."
	case errors.Is(err, atomicfile.ErrNotRegular):
		return "It is not a file."
	}
	return fmt.Sprintf("It cannot be read: %v.", err)
}

// imageDiff shows the text against what was approved last.
func (t *Trust) imageDiff(key, text string) string {
	e, _ := t.get(key)
	d := Diff(visible(e.Text), visible(text))
	if d == "" {
		return " White space that cannot be seen changed.\n"
	}
	return d
}
