// Package agentimage carries what containers are made of: the build context of
// the agent image and the in-container binary for each architecture, embedded in
// the app. Package imagebuild and main may import it.
package agentimage

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"

	"loop/backend/core"
)

// Names of the files of the build context; the ca directory is filled per build.
const (
	Dockerfile     = "Dockerfile"
	InstallScript  = "install-claude.sh"
	ToolsScript    = "install-tools.sh"
	MissingProgram = "missing-program.bash"
	CADir          = "ca"
)

//go:embed Dockerfile install-claude.sh install-tools.sh missing-program.bash ca/README
var context embed.FS

// The placeholder README makes the pattern match before "make guest" ran.
//
//go:embed all:bin
var bin embed.FS

// contextFiles are in the order they are hashed.
var contextFiles = []string{Dockerfile, InstallScript, ToolsScript, MissingProgram, CADir + "/README"}

// Files returns the build context: path to content. The map is the caller's.
func Files() map[string][]byte {
	out := map[string][]byte{}
	for _, name := range contextFiles {
		b, err := context.ReadFile(name)
		if err != nil {
			panic("embedded file is missing: " + name) // the compiler put it there
		}
		out[name] = b
	}
	return out
}

// Hash names the content of the build context and the parts it is built without,
// 16 hex digits. An image carries the one it was built from; another one means it
// is stale. The in-container binary plays no part: it lives in a volume of its own.
func Hash(without []string) string {
	h := sha256.New()
	files := Files()
	for _, name := range contextFiles {
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
