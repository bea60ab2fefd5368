// Package agentimage carries what containers are made of: the build contexts of the
// images, the filter of system calls for the browser's, and the in-container binary for
// each architecture, embedded in the app. Package imagebuild and main may import it.
package agentimage

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"loop/backend/core"
)

// Names of the files of the build contexts; the ca directory is filled per build.
const (
	Dockerfile     = "Dockerfile"
	InstallScript  = "install-claude.sh"
	ToolsScript    = "install-tools.sh"
	FetchScript    = "npm-fetch.sh" // read by the scripts that install from a registry
	MissingProgram = "missing-program.bash"
	CADir          = "ca"
)

//go:embed Dockerfile install-claude.sh install-tools.sh npm-fetch.sh missing-program.bash ca/README chrome/Dockerfile
//go:embed sandbox/Dockerfile sandbox/install-extras.sh
var context embed.FS

// ChromeSeccomp is the filter of system calls for containers of the browser, in the
// engine's JSON. It is Docker's default profile (moby/profiles v0.3.0) without what
// needs capabilities that no container of Loop has, and with what Chromium's own sandbox
// is made of: new user, PID and network namespaces, and chroot.
//
//go:embed chrome/seccomp.json
var ChromeSeccomp string

// Recipe is an image that Loop builds.
type Recipe struct {
	Name string // in sentences, without an article
	Ref  string // what it is called where the settings name no other
	Part string // value of the label loop.part, which its Dockerfile sets
	// Agents says that it is what agents work in, with the CLI and the person's git
	// configuration while it is built.
	Agents bool

	files map[string]string // of the build context: where they are embedded
	given map[string][]byte // the build context of a project's own image
	over  bool              // it begins with an image of somebody else
}

// Project is an image that a project has files of its own for. The files stay the caller's;
// nobody changes them.
func Project(name, ref string, files map[string][]byte) Recipe {
	return Recipe{Name: name, Ref: ref, Part: "project", given: files}
}

// NotDebian is printed, in whatever case, by a build of Over on an image without apt-get.
const NotDebian = "has no apt-get"

// Over is what agents need on top of an image that somebody else made. It is an image to build
// further upon.
func Over(name, ref string) Recipe {
	r := Agent
	r.Name, r.Ref, r.over = name, ref, true
	return r
}

// OverWithout are the parts of the agent image that Over leaves to the image beneath.
var OverWithout = []string{"compiler", "make", "python", "vim", "nano", "tmux", "htop", "node", "npm", "pnpm"}

const fromBase = "FROM ${BASE} AS base\n"

// overBase begins as root, whoever the image is for.
const overBase = fromBase + "USER 0:0\nWORKDIR /\n" +
	"RUN command -v apt-get >/dev/null || { echo 'This image " + NotDebian + ".' >&2; exit 1; }\n"

// Projects says that the recipe is of Project.
func (r Recipe) Projects() bool { return r.given != nil }

// Agent is the image agents work in, and Chrome the one of their browser.
var (
	Agent = Recipe{Name: "agent image", Ref: "loop-agent:latest", Part: "agent", Agents: true, files: map[string]string{
		Dockerfile: Dockerfile, InstallScript: InstallScript, ToolsScript: ToolsScript, FetchScript: FetchScript,
		MissingProgram: MissingProgram, caReadme: caReadme,
	}}
	Chrome = Recipe{Name: "browser image", Ref: "loop-chrome:latest", Part: "chrome", files: map[string]string{
		Dockerfile: "chrome/" + Dockerfile, caReadme: caReadme,
	}}
)

// Names of OpenClaw's images.
const (
	SandboxRef       = "openclaw-sandbox:bookworm-slim"
	SandboxCommonRef = "openclaw-sandbox-common:bookworm-slim"
)

// Sandbox is one of OpenClaw's images, under the name it is to have.
func Sandbox(name, ref string) Recipe {
	return Recipe{Name: name, Ref: ref, Part: "sandbox", Agents: true, files: map[string]string{
		Dockerfile: "sandbox/" + Dockerfile, InstallScript: InstallScript, "install-extras.sh": "sandbox/install-extras.sh",
		FetchScript: FetchScript, caReadme: caReadme,
	}}
}

const caReadme = CADir + "/README"

// The placeholder README makes the pattern match before "make guest" ran.
//
//go:embed all:bin
var bin embed.FS

// Files returns the build context: path to content. The map is the caller's.
func (r Recipe) Files() map[string][]byte {
	out := map[string][]byte{}
	maps.Copy(out, r.given)
	for name, at := range r.files {
		b, err := context.ReadFile(at)
		if err != nil {
			panic("embedded file is missing: " + at) // the compiler put it there
		}
		out[name] = b
	}
	if r.over {
		out[Dockerfile] = bytes.Replace(out[Dockerfile], []byte(fromBase), []byte(overBase), 1)
	}
	return out
}

// Hash names the content of the build context and the parts it is built without,
// 16 hex digits. An image carries the one it was built from; another one means it
// is stale. The in-container binary plays no part: it lives in a volume of its own.
func (r Recipe) Hash(without []string) string {
	h := sha256.New()
	files := r.Files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%s %d\n", name, len(files[name]))
		h.Write(files[name])
	}
	for _, part := range slices.Sorted(slices.Values(without)) {
		fmt.Fprintf(h, "without %s\n", part)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

var secretMount = regexp.MustCompile(`--mount=type=secret\S*[ \t]*\\?\n?[ \t]*`)

// WithoutSecrets returns the Dockerfile's text for builders that know no secret
// mounts.
func WithoutSecrets(dockerfile []byte) []byte {
	return secretMount.ReplaceAll(dockerfile, nil)
}

// GuestBinary returns the in-container binary for an architecture as Go names it
// (amd64, arm64) and the hash of its bytes, 16 hex digits. The bytes are shared
// and must not be changed.
func GuestBinary(arch string) (data []byte, hash string, err error) {
	if !slices.Contains([]string{"amd64", "arm64"}, arch) {
		return nil, "", core.Fail(core.CodeNoEngine, nil,
			fmt.Sprintf("The engine runs on %q, which Loop has no in-container program for.", arch), "Use an engine on amd64 or arm64.")
	}
	b, err := bin.ReadFile("bin/loop-linux-" + arch)
	if err != nil {
		return nil, "", core.Fail(core.CodeInternal, err,
			"This build of Loop lacks the in-container program for "+arch+".", "Run “make guest”, then build Loop again.")
	}
	sum := sha256.Sum256(b)
	return b, hex.EncodeToString(sum[:])[:16], nil
}
