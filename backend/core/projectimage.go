package core

import (
	"crypto/sha256"
	"encoding/hex"
)

// Labels of an image that is made of a project's own Dockerfile. Containers inherit the labels
// of their image, so none of them is one that Loop finds containers by.
const (
	LabelProjectInstall = "loop.project-install" // id of the Loop folder that had it made
	LabelProjectDir     = "loop.project"         // the folder that has the Dockerfile in its .loop/container
	LabelParentID       = "loop.parent_id"       // the engine's id of the image that it was built on
)

// What a project's own image is made of, in the order in which it counts: its
// .loop/container/Dockerfile, its .loop/setup.sh, or its devcontainer.
const (
	ToolchainImage        = "image"
	ToolchainSetup        = "setup"
	ToolchainDevcontainer = "devcontainer"
)

// StepToolchain is where a run stands that waits for the person's word on such an image.
const StepToolchain = "toolchain"

// ProjectImage is the image that a project's own files make of the one that its agents
// would have otherwise. The zero one stands for a project without any. Nobody changes its
// files: they may be shared.
type ProjectImage struct {
	Ref     string            // what Loop calls it
	Install string            // id of the Loop folder
	Dir     string            // the project or worktree
	Source  string            // ToolchainImage, ToolchainSetup or ToolchainDevcontainer
	Path    string            // of the Dockerfile, the script or devcontainer.json
	Layer   string            // LayerProject or LayerWorktree
	Base    string            // the image that it begins with
	Sum     string            // SHA-256 of all files and their names
	Files   map[string][]byte // of the build context, by their paths in it, with slashes
	Below   *ImageBelow       // what is built first, in the place of Base; nil: nothing
}

// ProjectImagePrefix begins the names of such images.
const ProjectImagePrefix = "loop-project-"

// Named is the image as an install calls it: by the folder and all that is in it, so that one
// name never means two contents.
func (p ProjectImage) Named(install string) ProjectImage {
	sum := sha256.Sum256([]byte(install + "\x00" + p.Dir + "\x00" + p.Sum))
	p.Install, p.Ref = install, ProjectImagePrefix+hex.EncodeToString(sum[:])[:20]+":latest"
	return p
}

// ImageBelow is the image of a devcontainer. Loop puts what agents need on top of it, and the
// project's image on top of that. It is pulled, or built of files.
type ImageBelow struct {
	Image  string            // the name of the one to pull; empty if it is built
	Files  map[string][]byte // of the build context, with a Dockerfile
	Target string            // the stage of it; empty means the last
	Args   map[string]string
}
