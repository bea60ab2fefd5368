package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"loop/backend/atomicfile"
	"loop/backend/core"
)

const (
	devFolder = ".devcontainer"
	devFile   = "devcontainer.json"
	devScript = "devcontainer-commands.sh"
	// maxDevFile bounds devcontainer.json, in bytes; a person reads all of it.
	maxDevFile = 64 << 10
)

// devcontainer is what Loop makes use of. The rest is named in notes, unless it is for editors.
type devcontainer struct {
	Image      string `json:"image"`
	DockerFile string `json:"dockerFile"` // the old place of build.dockerfile
	Context    string `json:"context"`
	Build      struct {
		Dockerfile string                     `json:"dockerfile"`
		Context    string                     `json:"context"`
		Target     string                     `json:"target"`
		Args       map[string]json.RawMessage `json:"args"`
	} `json:"build"`
	OnCreate      json.RawMessage            `json:"onCreateCommand"`
	UpdateContent json.RawMessage            `json:"updateContentCommand"`
	PostCreate    json.RawMessage            `json:"postCreateCommand"`
	ContainerEnv  map[string]json.RawMessage `json:"containerEnv"`
	RemoteEnv     map[string]json.RawMessage `json:"remoteEnv"`
}

// devLeftOut says why Loop leaves out what it knows and does not do.
var devLeftOut = map[string]string{
	"features":          "Features are not installed: put what they bring into .loop/setup.sh.",
	"runArgs":           "A project cannot choose how its containers are run.",
	"privileged":        "A project cannot choose how its containers are run.",
	"capAdd":            "A project cannot choose how its containers are run.",
	"securityOpt":       "A project cannot choose how its containers are run.",
	"init":              "Loop's own init is there.",
	"mounts":            "Mounts are for .loop/config.json, where they are approved.",
	"workspaceMount":    "The project is mounted where it is on this computer.",
	"workspaceFolder":   "The project is mounted where it is on this computer.",
	"remoteUser":        "Agents have your own user.",
	"containerUser":     "Agents have your own user.",
	"initializeCommand": "Nothing of a project runs on this computer.",
	"postStartCommand":  "Only what makes the image is run.",
	"postAttachCommand": "Only what makes the image is run.",
	"forwardPorts":      "Ports are not forwarded by themselves.",
	"appPort":           "Ports are not forwarded by themselves.",
	"secrets":           "Keys are given in Loop's settings.",
	"hostRequirements":  "Limits are those of Loop's settings.",
}

// devIgnored is for editors, or says what is so anyway.
var devIgnored = []string{
	"$schema", "name", "customizations", "settings", "extensions", "overrideCommand", "shutdownAction", "updateRemoteUserUID", "waitFor",
	"userEnvProbe", "portsAttributes", "otherPortsAttributes", "devPort", "overrideFeatureInstallOrder", "gpu",
}

var (
	devUsed = []string{
		"image", "dockerFile", "context", "build", "onCreateCommand", "updateContentCommand", "postCreateCommand", "containerEnv", "remoteEnv",
	}
	devCompose = []string{"dockerComposeFile", "service", "runServices"}
	devBuild   = []string{"dockerfile", "context", "target", "args"}
	devWord    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,254}$`)
	devVarName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
	// devReserved are variables by which Loop, the agent or the loader of programs is steered.
	devReserved = regexp.MustCompile(`^(LOOP_|ANTHROPIC_|CLAUDE|LD_|GODEBUG$|PATH$|HOME$|USER$|LOGNAME$|CHOWN_PATHS$|CHANNEL_ID$|API_URL$)`)
	// devSteers are build arguments that the builder takes for itself, or that reach its own environment.
	devSteers = regexp.MustCompile(`(?i)^(BUILDKIT_.*|DOCKER_.*|[A-Z]+_PROXY)$`)
)

// readDevcontainer makes a build of a devcontainer.
func readDevcontainer(f File) (recipe, error) {
	root, err := openProject(f.dir, f.parent)
	if err != nil {
		return recipe{}, err
	}
	defer root.Close()
	folder := root
	if path.Base(f.Path) == devFile {
		if folder, err = enter(root, devFolder, errLink); err != nil {
			return recipe{}, err
		}
		defer folder.Close()
	}
	text, err := readUnlinked(folder, path.Base(f.Path), maxDevFile)
	if errors.Is(err, atomicfile.ErrTooLarge) {
		return recipe{}, refused("It is larger than %d KiB.", maxDevFile>>10)
	}
	if err != nil {
		return recipe{}, err
	}
	d, r, err := parseDevcontainer(text)
	if err != nil || d.Build.Dockerfile == "" {
		return r, err
	}
	if folder == root {
		return recipe{}, refused("It has a Dockerfile, for which Loop wants a folder of its own. Move both into %s/.", devFolder)
	}
	return withContext(folder, d, r)
}

// withContext adds the folder of a devcontainer with a Dockerfile, which is all that its build gets.
func withContext(folder *os.Root, d devcontainer, r recipe) (recipe, error) {
	files, err := readFiles(folder)
	if err != nil {
		return recipe{}, err
	}
	if !bytes.Equal(files[devFile], r.text) { // what is approved has to be what was parsed
		return recipe{}, errSwapped
	}
	name := path.Clean(d.Build.Dockerfile)
	text, there := files[name]
	switch {
	case !there:
		return recipe{}, refused("Its Dockerfile “%s” is not in %s/.", cut(name), devFolder)
	case !utf8.Valid(text):
		return recipe{}, refused("Its Dockerfile is not text.")
	case !plainDockerfile(text):
		return recipe{}, refused("Its Dockerfile has a line like “# syntax=”, or begins with neither ARG nor FROM, which is refused.")
	case name != dockerfile && files[dockerfile] != nil:
		return recipe{}, refused("It names %s, and there is a Dockerfile beside it. Keep one of them there.", cut(name))
	}
	r.text = imageText(files)
	r.below.Files = maps.Clone(files)
	delete(r.below.Files, name)
	r.below.Files[dockerfile] = text
	return r, nil
}

// parseDevcontainer reads the text of a devcontainer.json.
func parseDevcontainer(text []byte) (d devcontainer, r recipe, err error) {
	fields, err := d.fill(text)
	switch {
	case err != nil:
		return d, r, refused("It is not a devcontainer.json: %v.", err)
	case fields == nil:
		return d, r, refused("It is not a devcontainer.json: it has no fields.")
	case !utf8.Valid(text):
		return d, r, refused("It is not a devcontainer.json: it is not text.")
	}
	for _, name := range devCompose {
		if fields[name] != nil {
			return d, r, refused("It is made of several containers (%s), which Loop does not start.", name)
		}
	}
	d.Build.Dockerfile, d.Build.Context = either(d.Build.Dockerfile, d.DockerFile), either(d.Build.Context, d.Context)
	switch c := d.Build.Context; {
	case (d.Image == "") == (d.Build.Dockerfile == ""):
		return d, r, refused("It has to name an image or a Dockerfile, and one of them alone.")
	case d.Image != "" && !devWord.MatchString(d.Image):
		return d, r, refused("The image “%s” is not a name of an image, or has a variable in it.", cut(d.Image))
	case c != "" && path.Clean(c) != ".":
		return d, r, refused("Its build wants the folder “%s”. It gets the files in %s/ and nothing else of the project.", cut(c), devFolder)
	case d.Build.Target != "" && !devWord.MatchString(d.Build.Target):
		return d, r, refused("The target “%s” is not a name of a stage.", cut(d.Build.Target))
	}
	r.text, r.below = text, &core.ImageBelow{Image: d.Image, Target: d.Build.Target}
	if r.below.Args, err = plainValues(d.Build.Args); err != nil {
		return d, r, err
	}
	r.notes = leftOut(fields)
	return d, r, r.commands(d)
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// plainValues are values without variables.
func plainValues(in map[string]json.RawMessage) (map[string]string, error) {
	out := map[string]string{}
	for name, raw := range in {
		var v string
		if json.Unmarshal(raw, &v) != nil || !devVarName.MatchString(name) || strings.Contains(v, "${") || strings.ContainsAny(v, "\x00\r\n") {
			return nil, refused("The build argument “%s” is not a plain text on one line.", cut(name))
		}
		if devSteers.MatchString(name) {
			return nil, refused("The build argument “%s” steers the builder and not the image, which is not a project's to do. Remove it.",
				cut(name))
		}
		out[name] = v
	}
	return out, nil
}

// commands makes the last step of the build, with variables and what is run once.
func (r *recipe) commands(d devcontainer) error {
	var env strings.Builder
	for _, vars := range []map[string]json.RawMessage{d.ContainerEnv, d.RemoteEnv} {
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			var v string
			raw := vars[name]
			plain := json.Unmarshal(raw, &v) == nil && string(raw) != "null" && devVarName.MatchString(name) && !strings.Contains(v, "${") &&
				!strings.ContainsAny(v, "\x00\r\n")
			if !plain || devReserved.MatchString(strings.ToUpper(name)) || core.NamesSecret(name) {
				r.notes = append(r.notes, fmt.Sprintf(
					"The variable “%s” of the devcontainer is left out: it is not a plain value, or not a project's to set.", cut(name)))
				continue
			}
			fmt.Fprintf(&env, "ENV %s=\"%s\"\n", name, strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(v))
		}
	}
	script, err := devCommands(d)
	if err != nil {
		return err
	}
	r.files = map[string][]byte{}
	text := "ARG " + baseArg + "\nFROM ${" + baseArg + "}\nUSER 0:0\nWORKDIR /\n" + env.String()
	if script != "" {
		r.files[devScript] = []byte(script)
		r.notes = append(r.notes, "The devcontainer's commands run as root when its image is built, without the project's files.")
		text += "ARG DEBIAN_FRONTEND=noninteractive\nCOPY " + devScript + " /usr/local/share/loop/" + devScript +
			"\nRUN [\"/bin/sh\", \"/usr/local/share/loop/" + devScript + "\"]\n"
	}
	r.files[dockerfile] = []byte(text)
	return nil
}

// devCommands is a script of the commands that are run once, in their order; empty without any.
func devCommands(d devcontainer) (string, error) {
	var out strings.Builder
	for _, c := range []struct {
		name string
		raw  json.RawMessage
	}{{"onCreateCommand", d.OnCreate}, {"updateContentCommand", d.UpdateContent}, {"postCreateCommand", d.PostCreate}} {
		if c.raw == nil {
			continue
		}
		named := map[string]json.RawMessage{c.name: c.raw}
		if c.raw[0] == '{' {
			named = nil
			if err := json.Unmarshal(c.raw, &named); err != nil {
				return "", refused("%s cannot be read: %v.", c.name, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			line, err := devCommand(named[name])
			if err != nil {
				return "", refused("%s is neither a text nor a list of texts.", c.name)
			}
			if line != "" {
				fmt.Fprintf(&out, "echo %s\n%s\n", quoted(c.name+": "+name), line)
			}
		}
	}
	if out.Len() == 0 {
		return "", nil
	}
	return "set -e\n" + out.String(), nil
}

// devCommand is a line of a shell script: a text is for a shell, a list is a program with its arguments.
func devCommand(raw json.RawMessage) (string, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return "", nil
		}
		return "/bin/sh -c " + quoted(text), nil
	}
	var argv []string
	if err := json.Unmarshal(raw, &argv); err != nil || len(argv) == 0 {
		return "", errors.Join(err)
	}
	for i := range argv {
		argv[i] = quoted(argv[i])
	}
	return strings.Join(argv, " "), nil
}

// quoted is a word of a shell.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", `'\''`) + "'"
}
