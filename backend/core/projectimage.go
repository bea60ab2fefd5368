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

// ProjectImage is the image that a project's own Dockerfile makes of the one that its agents
// would have otherwise. The zero one stands for a project without any. Nobody changes its
// files: they may be shared.
type ProjectImage struct {
	Ref     string            // what Loop calls it
	Install string            // id of the Loop folder
	Dir     string            // the project or worktree
	Path    string            // of the Dockerfile
	Layer   string            // LayerProject or LayerWorktree
	Base    string            // the image that it begins with
	Sum     string            // SHA-256 of all files and their names
	Files   map[string][]byte // of the build context, by their paths in it, with slashes
}

// Named is the image as an install calls it: by the folder and all that is in it, so that one
// name never means two contents.
func (p ProjectImage) Named(install string) ProjectImage {
	sum := sha256.Sum256([]byte(install + "\x00" + p.Dir + "\x00" + p.Sum))
	p.Install, p.Ref = install, "loop-project-"+hex.EncodeToString(sum[:])[:20]+":latest"
	return p
}
