package config

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"loop/backend/core"
)

// Layer is one file's part of the settings: of Config only the fields for which Has
// is true. A field of a project's file that waits for approval is not among them.
type Layer struct {
	Name   string
	Path   string
	Config Config

	has map[string]bool // nil means all
	doc *document       // nil when there was no file to read
}

// Has reports whether the layer sets a field; parts are joined by a dot.
func (l Layer) Has(field string) bool { return l.has == nil || l.has[field] }

// RuleLine is the line of the i-th entry of a list in the layer's file; 0 where that is not
// known.
func (l Layer) RuleLine(field string, i int) int {
	if l.doc == nil {
		return 0
	}
	return l.doc.set[fmt.Sprintf("%s[%d]", field, i)].line
}

// Effective is the configuration of one directory.
type Effective struct {
	// Config is in force for the directory, when Err is nil. Its lists and maps
	// may be shared; the caller must not change them.
	Config Config
	// Layers are the global file's and those of the project files, in the order
	// in which they were merged.
	Layers []Layer
	// Origins has every field that holds a value itself, and every entry of
	// lists and objects: mounts[<container path>], extra_dirs[<text>],
	// envs.NAME, mcp.servers.NAME.
	Origins  map[string]core.SettingsOrigin
	Problems []core.SettingsProblem // of the project files
	Pending  []core.SettingsPending
	Approved []string // paths of the project files that are trusted as they are
	// AgentID is the agent that the directory's channel belongs to, and Template what the
	// settings say of it beyond what Config has.
	AgentID  string
	Template AgentTemplate
	Notices  []string // what of the settings does not count, in sentences
	// Child is the project's own image, which agents have in the place of ContainerImage; nil
	// without one that is approved. Its name is not set.
	Child *core.ProjectImage
	// Toolchains are the sources of such an image that were found; those of which the person
	// has not said whether they count are among Pending, too. Undecided is the path of the one
	// that the person has to decide on before it is known what Child is; empty if there is none.
	Toolchains []core.ProjectToolchain
	Undecided  string
	// overrode has, by setting, what the value that counts took the place of.
	overrode map[string]*core.OverriddenSetting
	// Err says that a file cannot be used. Nothing may be run then: it may have
	// said “network none”.
	Err error
}

// Waiting says, in sentences, what of the project's settings is left out of a run. One on this
// computer itself has no image.
func (e Effective) Waiting(onHost bool) []string {
	notices := slices.Concat(e.Notices, e.AgentNotices())
	if onHost && e.Toolchains != nil {
		notices = append(notices, e.Toolchains[0].Path+" does not count here: a run on this computer itself has this computer's programs.")
	}
	for _, p := range e.Pending {
		if onHost && p.Toolchain() != "" {
			continue
		}
		notices = append(notices, fmt.Sprintf(
			"%s is not approved as it is, so this run goes without its %s. Look at it in the settings, or with “loop config trust”.",
			p.Path, strings.Join(p.Fields, ", ")))
	}
	return notices
}

// ForDir merges the global settings, those of the project at dir, and, when
// parentDir is not empty, those of the worktree at dir over those of its
// project at parentDir. A project's file may loosen a field only where trust knows
// the file. ForDir reads the files each time and keeps nothing.
func ForDir(global Snapshot, trust *Trust, dir, parentDir string) Effective {
	return ForChannel(global, trust, core.ChannelChoices{}, dir, parentDir)
}

// ForChannel is ForDir with what the person chose for the channel. What the settings say of
// its agent comes over the global settings and below those of the project; the rest comes
// over all files.
func ForChannel(global Snapshot, trust *Trust, chosen core.ChannelChoices, dir, parentDir string) Effective {
	e := Effective{Config: global.Config, Origins: map[string]core.SettingsOrigin{}, overrode: map[string]*core.OverriddenSetting{}}
	e.Layers = []Layer{{Name: core.LayerGlobal, Path: global.Path, Config: global.Config, doc: global.doc}}
	e.global(global)
	if global.Err != nil && !global.Good {
		e.Err = global.Err
	}
	e.agent(global, chosen.AgentID)
	switch {
	case dir == "":
	case parentDir != "" && parentDir != dir:
		e.project(trust, parentDir, "", dir, core.LayerProject)
		e.project(trust, dir, parentDir, dir, core.LayerWorktree)
	default:
		e.project(trust, dir, "", dir, core.LayerProject)
	}
	e.chosen(chosen)
	e.toolchain(trust, dir, parentDir)
	e.ownContainer(chosen)
	return e
}

func (e *Effective) global(global Snapshot) {
	def := Defaults()
	for _, f := range leaves() {
		o := core.SettingsOrigin{Layer: core.LayerBuiltin}
		if global.doc.has(f.Name) || global.doc == nil && !same(f.in(&def), f.in(&e.Config)) {
			o = global.doc.origin(core.LayerGlobal, global.Path, f.Name)
			e.overrides(f, &def, &e.Config, core.SettingsOrigin{Layer: core.LayerBuiltin})
		}
		e.Origins[f.Name] = o
		for _, en := range entries(f, &e.Config) {
			if o.Layer == core.LayerBuiltin {
				e.Origins[en.name] = o
				continue
			}
			e.Origins[en.name] = global.doc.origin(core.LayerGlobal, global.Path, en.place)
		}
	}
}

func (e *Effective) project(trust *Trust, dir, parent, at, name string) {
	own, err := os.Stat(e.Layers[0].Path)
	if info, perr := os.Stat(ProjectPath(dir)); err == nil && perr == nil && os.SameFile(own, info) {
		return // the project is the folder that Loop's own is in
	}
	doc, sum := loadProject(dir, parent, at)
	if doc == nil {
		return
	}
	e.Problems = append(e.Problems, doc.problems...)
	if err := failure(doc.problems); err != nil {
		if f := core.AsFailure(err); e.Err == nil {
			f.Cause = "The project's settings file has an error: " + firstError(doc.problems).Message
			e.Err = f
		}
		return
	}
	approved := trust.approved(dir, sum)
	approval, _ := trust.get(dir)
	layer := Layer{Name: name, Path: doc.path, Config: doc.config, has: map[string]bool{}, doc: doc}
	var waiting []string
	for _, f := range leaves() {
		if !doc.has(f.Name) || f.Project == ProjectNever {
			continue
		}
		next := joined(f, &e.Config, &doc.config, name == core.LayerWorktree)
		free := f.Project == ProjectFree || f.Project == ProjectTighten && tightens(f, f.in(&e.Config), next)
		if !free && !(approved && approval.covers(f)) && !e.unchanged(f, doc, next) {
			waiting = append(waiting, f.Name)
			continue
		}
		e.overrides(f, &e.Config, &doc.config, e.Origins[f.Name])
		e.apply(f, doc, next)
		e.trace(f, name, doc)
		layer.has[f.Name] = true
	}
	e.Layers = append(e.Layers, layer)
	if approved && waiting == nil {
		e.Approved = append(e.Approved, doc.path)
	}
	if waiting != nil {
		e.Pending = append(e.Pending, core.SettingsPending{Path: doc.path, SHA256: sum, Diff: trust.diff(dir, sum, doc), Fields: waiting})
	}
}

// unchanged reports that the field of the file says nothing that was not so
// before; then there is nothing to approve.
func (e *Effective) unchanged(f Field, doc *document, next reflect.Value) bool {
	if f.Name == "inherit_mounts" {
		return doc.config.InheritMounts || len(e.Config.Mounts) == 0
	}
	if other := replaced(f, doc, next); other != nil && other.in(&e.Config).String() != "" {
		return false
	}
	return same(f.in(&e.Config), next)
}

func (e *Effective) apply(f Field, doc *document, next reflect.Value) {
	if other := replaced(f, doc, next); other != nil {
		other.in(&e.Config).SetString("")
		e.Origins[other.Name] = core.SettingsOrigin{Layer: core.LayerBuiltin}
	}
	if f.Name == "inherit_mounts" && !doc.config.InheritMounts {
		e.Config.Mounts = nil
		e.prune("mounts")
		e.Origins["mounts"] = core.SettingsOrigin{Layer: core.LayerBuiltin}
	}
	f.in(&e.Config).Set(next)
}

// replaced is the credential that gives way because the file sets the other one; nil
// where none does.
func replaced(f Field, doc *document, next reflect.Value) *Field {
	name := map[string]string{CredentialOAuth: CredentialAPIKey, CredentialAPIKey: CredentialOAuth}[f.Name]
	i := slices.IndexFunc(leaves(), func(f Field) bool { return f.Name == name })
	if i < 0 || next.String() == "" || doc.has(name) {
		return nil
	}
	return &leaves()[i]
}

// trace notes that the value of f, and those of its entries that the file
// names, are the layer's.
func (e *Effective) trace(f Field, layer string, doc *document) {
	e.Origins[f.Name] = doc.origin(layer, doc.path, f.Name)
	if f.Merge == MergeReplace || f.Merge == MergeUnion && layer != core.LayerWorktree {
		e.prune(f.Name)
	}
	for _, en := range entries(f, &doc.config) {
		if _, there := e.Origins[en.name]; there && (f.Merge == MergeAppend || f.Merge == MergeUnion) {
			continue // it was in the list before
		}
		e.Origins[en.name] = doc.origin(layer, doc.path, en.place)
	}
}

// prune forgets the entries of a list that was replaced.
func (e *Effective) prune(field string) {
	maps.DeleteFunc(e.Origins, func(name string, _ core.SettingsOrigin) bool { return strings.HasPrefix(name, field+"[") })
	maps.DeleteFunc(e.overrode, func(name string, _ *core.OverriddenSetting) bool { return strings.HasPrefix(name, field+"[") })
}

// origin is the place of a name that the file gives a value to. A document that is
// nil, or does not have the name, leaves the line out.
func (doc *document) origin(layer, path, name string) core.SettingsOrigin {
	o := core.SettingsOrigin{Layer: layer, Path: path}
	if doc != nil {
		o.Line, o.Col = doc.set[name].line, doc.set[name].col
	}
	return o
}
