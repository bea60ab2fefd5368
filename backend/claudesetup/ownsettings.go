package claudesetup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const settingsFile = "settings.json"

// comes are settings that come with the grant: none runs a program, none reaches another
// place, and none is Loop's to set.
var comes = []string{
	"model", "outputStyle", "language", "includeCoAuthoredBy", "attribution", "alwaysThinkingEnabled", "spinnerTipsEnabled", "spinnerVerbs",
	"prefersReducedMotion", "showTurnDuration", "respectGitignore", "theme", "editorMode", "permissions.deny",
}

// loops are settings that Loop sets, or that would lead around it, and why.
var loops = map[string]string{
	"apiKeyHelper":                      "Loop gives agents their key.",
	"awsAuthRefresh":                    "Loop gives agents their key.",
	"awsCredentialExport":               "Loop gives agents their key.",
	"otelHeadersHelper":                 "Programs that hand out credentials are not run in containers.",
	"forceLoginMethod":                  "Loop gives agents their key.",
	"forceLoginOrgUUID":                 "Loop gives agents their key.",
	"permissions.allow":                 "The container and the gate are what holds; the agent is not asked.",
	"permissions.ask":                   "The container and the gate are what holds; the agent is not asked.",
	"permissions.defaultMode":           "Loop chooses the mode of each run.",
	"permissions.additionalDirectories": "“extra_dirs” in Loop's settings names further folders.",
	"sandbox":                           "The container is the sandbox.",
	"cleanupPeriodDays":                 "Loop keeps conversations.",
	"effortLevel":                       "“claude_effort” in Loop's settings chooses it.",
	"enabledPlugins":                    "Each plugin is asked about.",
	"extraKnownMarketplaces":            "Each plugin is asked about.",
}

// loopsEnv are variables that are Loop's, or that would turn an agent's programs around.
var loopsEnv = regexp.MustCompile(`^(ANTHROPIC_|CLAUDE_|AWS_|GOOGLE_|LOOP_|LD_|DYLD_|NODE_|PYTHON|BASH_|DOCKER_|` +
	`(API_URL|CHANNEL_ID|HOME|PATH|SHELL|USER|HOST_USER|CHOWN_PATHS|ENV)$)|(?i)(_PROXY|KEY|TOKEN|SECRET|PASSWORD|AUTH)$`)

func (f *found) readSettings(root *os.Root, allow []string) {
	all, err := object(root, settingsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		f.leave(settingsFile, "It cannot be read as a JSON object.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch name {
		case "permissions":
			parts := map[string]json.RawMessage{}
			if json.Unmarshal(all[name], &parts) != nil {
				f.leave(settingsFile+": "+name, "It is no object.")
			}
			for _, part := range slices.Sorted(maps.Keys(parts)) {
				f.setting(name+"."+part, parts[part])
			}
		case "env":
			f.variables(all[name], allow)
		case "hooks":
			a := core.SetupAsk{ID: "hooks", Text: "Hooks: programs that run at what the agent does", Detail: commands(all[name])}
			f.ask(a, allow, name, all[name])
		case "statusLine", "fileSuggestion":
			f.ask(core.SetupAsk{ID: name, Text: "A program for what is shown: " + name, Detail: commands(all[name])}, allow, name, all[name])
		default:
			f.setting(name, all[name])
		}
	}
}

// setting takes one that comes, and names one that does not.
func (f *found) setting(name string, raw json.RawMessage) {
	why, ours := loops[name]
	switch {
	case slices.Contains(comes, name):
		f.settings[name] = bytes.Clone(raw)
		f.Settings = append(f.Settings, name)
	case ours:
		f.leave(settingsFile+": "+name, why)
	case name != "$schema":
		f.leave(settingsFile+": "+name, "Loop does not know what it would do in a container.")
	}
}

// ask names something that needs a yes, and takes it where it has one.
func (f *found) ask(a core.SetupAsk, allow []string, name string, raw []byte) {
	a.Detail = core.Shortened(a.Detail, 600)
	a.Allowed = slices.Contains(allow, a.ID)
	f.Asks = append(f.Asks, a)
	if a.Allowed && name != "" {
		f.settings[name] = bytes.Clone(raw)
	}
}

func (f *found) variables(raw json.RawMessage, allow []string) {
	vars := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &vars) != nil {
		f.leave(settingsFile+": env", "It is no object.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		var value string
		switch {
		case loopsEnv.MatchString(name):
			f.leave(settingsFile+": env "+name, "Loop sets such variables, or keeps them from agents; “envs” in its settings is for the rest.")
		case json.Unmarshal(vars[name], &value) != nil:
			f.leave(settingsFile+": env "+name, "Its value is no text.")
		default:
			a := core.SetupAsk{ID: "env:" + name, Text: "The variable " + core.CleanTitle(name), Detail: core.CleanTitle(value)}
			f.ask(a, allow, "env."+name, vars[name])
		}
	}
}

// commands lists the commands in a setting.
func commands(raw json.RawMessage) string {
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if c, ok := v["command"].(string); ok {
				out = append(out, core.CleanTitle(c))
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var v any
	_ = json.Unmarshal(raw, &v) // it is a part of what was read
	walk(v)
	return strings.Join(out, "\n")
}

// object reads a JSON object below a root.
func object(root *os.Root, name string) (map[string]json.RawMessage, error) {
	opened, err := root.OpenFile(name, os.O_RDONLY|atomicfile.NoWait, 0)
	if err != nil {
		return nil, err
	}
	data, _, err := atomicfile.ReadOpened(opened, maxFile)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	err = json.Unmarshal(data, &out)
	return out, err
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// pluginsFolder is where the copies of plugins are, in the state.
const pluginsFolder = "plugins-of-yours"

// plugins names those that are installed and switched on. Their code is copied where it was
// allowed.
func (f *found) plugins(root *os.Root, s Setup, allow []string) {
	on := map[string]bool{}
	if all, err := object(root, settingsFile); err == nil {
		_ = json.Unmarshal(all["enabledPlugins"], &on) // what is no such object switches nothing on
	}
	var installed struct {
		Plugins map[string][]struct {
			InstallPath string `json:"installPath"`
		} `json:"plugins"`
	}
	opened, err := root.OpenFile("plugins/installed_plugins.json", os.O_RDONLY|atomicfile.NoWait, 0)
	if err == nil {
		var data []byte
		if data, _, err = atomicfile.ReadOpened(opened, maxFile); err == nil {
			err = json.Unmarshal(data, &installed)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.leave("plugins", "The list of plugins cannot be read.")
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		places := installed.Plugins[name]
		if !on[name] || len(places) == 0 {
			continue
		}
		rel, err := filepath.Rel(s.Folder, places[0].InstallPath)
		if err != nil || !filepath.IsLocal(rel) {
			f.leave("plugin "+name, "It is installed outside Claude Code's folder.")
			continue
		}
		before := len(f.files)
		a := core.SetupAsk{ID: "plugin:" + name, Text: "The plugin " + core.CleanTitle(name), Detail: "programs and instructions in " + rel}
		f.ask(a, allow, "", nil)
		if !slices.Contains(allow, "plugin:"+name) {
			continue
		}
		at := path.Join(pluginsFolder, slug(name))
		f.tree(root, filepath.ToSlash(rel), at, 0)
		if len(f.files) > before {
			f.Plugins = append(f.Plugins, path.Join(s.Inside, at))
		}
	}
}

var notSlug = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func slug(name string) string { return strings.Trim(notSlug.ReplaceAllString(name, "-"), "-") }

// servers names the MCP servers that the person has for all projects.
func (f *found) servers(config string, allow []string) {
	data, _, err := atomicfile.Read(config, maxBytes)
	if err != nil {
		return // without the file there are none
	}
	var all struct {
		Servers map[string]struct {
			Type    string            `json:"type"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal(data, &all) != nil {
		f.leave(filepath.Base(config), "Its MCP servers cannot be read.")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all.Servers)) {
		sv := all.Servers[name]
		if sv.Command == "" || sv.Type != "" && sv.Type != "stdio" || slug(name) != name || name == "loop" || name == "loop-browser" {
			f.leave("MCP server "+name, "Loop starts servers as programs in the container, under names of letters, digits, - and _.")
			continue
		}
		command := sv.Command
		for _, arg := range sv.Args {
			command += " " + shown(arg)
		}
		a := core.SetupAsk{ID: "mcp:" + name, Text: "The MCP server " + name, Detail: core.CleanTitle(command)}
		if len(sv.Env) > 0 {
			a.Detail += "\nwith the variables " + core.CleanTitle(strings.Join(slices.Sorted(maps.Keys(sv.Env)), ", "))
		}
		f.ask(a, allow, "", nil)
		if slices.Contains(allow, a.ID) {
			if f.Servers == nil {
				f.Servers = map[string]core.SetupServer{}
			}
			f.Servers[name] = core.SetupServer{Command: sv.Command, Args: sv.Args, Env: sv.Env}
		}
	}
}

// shown is an argument of a program without what may be a credential in it: the value of
// name=value, and what is long and no path or name of a package.
func shown(arg string) string {
	if name, _, is := strings.Cut(arg, "="); is {
		return name + "=…"
	}
	if len(arg) > 24 && !strings.ContainsAny(arg, "/.@ ") || core.HoldsLogin(arg) {
		return "…"
	}
	return arg
}
