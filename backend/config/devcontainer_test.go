package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDevcontainer: what is used makes a build, and what is not is named.
func TestDevcontainer(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	dir := t.TempDir()
	source(t, dir, ".devcontainer/devcontainer.json", `{
	  // made for another tool
	  "name": "ours", "customizations": {"vscode": {}},
	  "build": {"dockerfile": "tools.Dockerfile", "target": "dev", "args": {"GO": "1.26"}, "cacheFrom": "x"},
	  "features": {"ghcr.io/devcontainers/features/go:1": {}}, "runArgs": ["--privileged"], "privileged": true, "mounts": [], "odd": 1,
	  "forwardPorts": [3000], "remoteUser": "vscode", "initializeCommand": "rm -rf ~",
	  "onCreateCommand": {"b": ["echo", "it's"], "a": "make 'tools' && true"}, "postCreateCommand": "npm install -g x",
	  "containerEnv": {"GREETING": "say \"$x\" \\", "LD_PRELOAD": "/x.so", "PATH": "/x", "MY_TOKEN": "x", "HERE": "${containerWorkspaceFolder}", "N": 1},
	  "remoteEnv": {"EDITOR": "vi"},
	}`)
	source(t, dir, ".devcontainer/tools.Dockerfile", "FROM debian:bookworm AS dev\n")
	source(t, dir, ".devcontainer/extra", "x")
	e := ForDir(g, trust, dir, "")
	tc := one(t, e)
	notes := strings.Join(tc.Notes, "\n")
	for _, want := range []string{
		"features", "runArgs", "privileged", "odd", "forwardPorts", "remoteUser", "initializeCommand", "build.cacheFrom", "“LD_PRELOAD”", "“PATH”", "“MY_TOKEN”",
		"“HERE”", "“N”", "without the project's files",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("%s is not named in\n%s", want, notes)
		}
	}
	for _, no := range []string{"“name”", "customizations", "mounts", "GREETING"} {
		if strings.Contains(notes, no) {
			t.Errorf("%s is named in\n%s", no, notes)
		}
	}
	for _, want := range []string{`=== "tools.Dockerfile"`, "FROM debian:bookworm", `=== "extra"`, "initializeCommand"} {
		if !strings.Contains(tc.Text, want) {
			t.Errorf("the person does not see %q in\n%s", want, tc.Text)
		}
	}
	var file File
	for _, f := range ProjectFile(dir).Toolchains() {
		if f.Path == tc.Path {
			file = f
		}
	}
	if err := trust.Approve(file, tc.SHA256); err != nil {
		t.Fatal(err)
	}
	e = ForDir(g, trust, dir, "")
	c := e.Child
	if c == nil || c.Below == nil || c.Below.Target != "dev" || c.Below.Args["GO"] != "1.26" || c.Below.Image != "" ||
		string(c.Below.Files[dockerfile]) != "FROM debian:bookworm AS dev\n" || c.Below.Files["extra"] == nil || c.Below.Files["tools.Dockerfile"] != nil {
		t.Fatalf("%+v", c)
	}
	if got := string(c.Files[dockerfile]); !strings.Contains(got, `ENV GREETING="say \"\$x\" \\"`+"\n") || !strings.Contains(got, "ENV EDITOR=\"vi\"\n") ||
		strings.Contains(got, "PATH") || strings.Contains(got, "LD_") {
		t.Errorf("Dockerfile\n%s", got)
	}
	want := "set -e\necho 'onCreateCommand: a'\n/bin/sh -c 'make '\\''tools'\\'' && true'\necho 'onCreateCommand: b'\n'echo' 'it'\\''s'\n" +
		"echo 'postCreateCommand: postCreateCommand'\n/bin/sh -c 'npm install -g x'\n"
	if got := string(c.Files[devScript]); got != want {
		t.Errorf("commands\n%s", got)
	}
	source(t, dir, ".devcontainer/extra", "y")
	if e = ForDir(g, trust, dir, ""); e.Undecided == "" {
		t.Error("a byte of what the build gets changed, and nobody is asked")
	}
}

// TestDevcontainersThatAreRefused: each says why.
func TestDevcontainersThatAreRefused(t *testing.T) {
	g, trust := global(t, `{}`), OpenTrust(filepath.Join(t.TempDir(), TrustFileName))
	for text, want := range map[string]string{
		`{"dockerComposeFile": "x.yml", "service": "a"}`: "several containers",
		`{}`: "an image or a Dockerfile",
		`{"image": "a", "build": {"dockerfile": "b"}}`:                                 "an image or a Dockerfile",
		`{"image": "--privileged"}`:                                                    "not a name of an image",
		`{"image": "a${localEnv:X}"}`:                                                  "not a name of an image",
		`{"build": {"dockerfile": "Dockerfile", "context": ".."}}`:                     "nothing else of the project",
		`{"build": {"dockerfile": "../Dockerfile"}}`:                                   "is not in .devcontainer/",
		`{"build": {"dockerfile": "Dockerfile", "args": {"A": "${x}"}}}`:               "plain text",
		`{"build": {"dockerfile": "Dockerfile", "args": {"https_Proxy": "http://x"}}}`: "steers the builder",
		`{"build": {"dockerfile": "Dockerfile", "args": {"BUILDKIT_SYNTAX": "evil"}}}`: "steers the builder",
		`{"dockerFile": "D", "build": {"target": "a b"}}`:                              "not a name of a stage",
		`{"image": "a", "postCreateCommand": 5}`:                                       "neither a text nor a list",
		`[]`:                                                                           "not a devcontainer.json",
		`null`:                                                                         "not a devcontainer.json",
		`{"image": "a"`:                                                                "not a devcontainer.json",
		"{\"image\": \"a\xff\"}":                                                       "not a devcontainer.json",
		`{"image": "a"}` + strings.Repeat(" ", maxDevFile):                             "larger than 64 KiB",
	} {
		dir := t.TempDir()
		source(t, dir, ".devcontainer/devcontainer.json", text)
		e := ForDir(g, trust, dir, "")
		if e.Undecided != "" || len(e.Problems) != 1 || !strings.Contains(e.Problems[0].Message, want) || strings.Contains(e.Problems[0].Message, "nil") {
			t.Errorf("%.60s: %+v", text, e.Problems)
		}
	}
}

// TestDevcontainerNamesAreExact: what is named as left out is not used, whatever its case.
func TestDevcontainerNamesAreExact(t *testing.T) {
	d, r, err := parseDevcontainer([]byte(`{
	  "image": "debian:bookworm", "Image": "evil:1", "OnCreateCommand": "touch /x", "postcreatecommand": "touch /y",
	  "ContainerEnv": {"A": "b"}, "BUILD": {"dockerfile": "x"}
	}`))
	if err != nil || d.Image != "debian:bookworm" || len(r.files[devScript]) != 0 || strings.Contains(string(r.files[dockerfile]), "ENV") {
		t.Errorf("%+v %v\n%s%s", d, err, r.files[dockerfile], r.files[devScript])
	}
	for _, name := range []string{"Image", "OnCreateCommand", "postcreatecommand", "ContainerEnv", "BUILD"} {
		if !strings.Contains(strings.Join(r.notes, "\n"), "“"+name+"”") {
			t.Errorf("%s is not named in %q", name, r.notes)
		}
	}
	d, r, err = parseDevcontainer([]byte(`{"build": {"dockerfile": "D", "Args": {"A": "b"}, "TARGET": "x"}}`))
	if err != nil || d.Build.Target != "" || len(r.below.Args) != 0 || len(r.notes) != 2 {
		t.Errorf("%+v %q %v", d.Build, r.notes, err)
	}
}

// TestDevcontainerIsReadOnce: a file that was another one when its folder was read makes nothing.
func TestDevcontainerIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, devFile), `{"build": {"dockerfile": "Dockerfile"}}`)
	write(t, filepath.Join(dir, dockerfile), "FROM debian:bookworm\n")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for text, want := range map[string]error{
		`{"build": {"dockerfile": "Dockerfile"}}`:                            nil,
		`{"build": {"dockerfile": "Dockerfile"}, "onCreateCommand": "evil"}`: errSwapped,
	} {
		d, r, err := parseDevcontainer([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = withContext(root, d, r); !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDevcontainersDockerfileChoosesNoReader: neither in the forms that BuildKit alone knows.
func TestDevcontainersDockerfileChoosesNoReader(t *testing.T) {
	for text, want := range map[string]bool{
		"# tools\n\n# of ours\nARG V=1\nFROM debian\nRUN <<E\n# syntax=x\nE\n": true, "from debian": true, "\ufeffFROM debian\n": true,
		"# syntax=docker/dockerfile:1\nFROM debian\n": false, "#\tEscape = `\nFROM a\n": false, "# check=skip=all\nFROM a\n": false,
		"\ufeff#syntax=evil\nFROM a\n": false, "#!/x\n# syntax=evil\nFROM a\n": false, "// syntax=evil\nFROM a\n": false,
		"{\"syntax\": \"evil\"}\n": false, "": false, "# FROM a\n": false,
	} {
		dir := t.TempDir()
		source(t, dir, ".devcontainer/devcontainer.json", `{"build": {"dockerfile": "Dockerfile"}}`)
		source(t, dir, ".devcontainer/Dockerfile", text)
		e := ForDir(global(t, `{}`), new(Trust), dir, "")
		if (e.Undecided != "") != want || !want && !strings.Contains(e.Problems[0].Message, "# syntax=") {
			t.Errorf("%q: %+v", text, e.Problems)
		}
	}
}

func FuzzDevcontainer(f *testing.F) {
	f.Add(`{"image": "debian:bookworm", "postCreateCommand": ["a"], "containerEnv": {"A": "b"}}`)
	f.Add(`{"build": {"dockerfile": "Dockerfile", "args": {"A": "1"}}, "onCreateCommand": {"x": "y"}, "features": {}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, r, err := parseDevcontainer([]byte(text))
		if err != nil {
			return
		}
		if r.below == nil || len(r.files) == 0 {
			t.Errorf("%q makes nothing", text)
		}
		for line := range strings.Lines(string(r.files[dockerfile])) { // each is one that was meant
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "ARG", "FROM", "USER", "WORKDIR", "ENV", "COPY", "RUN":
			default:
				t.Errorf("%q makes the line %q", text, line)
			}
		}
	})
}
