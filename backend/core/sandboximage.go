package core

// Kinds of sandbox images.
const (
	SandboxImagePlain  = "sandbox"
	SandboxImageCommon = "sandbox-common"
)

// SandboxImage is one of OpenClaw's images that is to be built; an empty field is the kind's
// default. The names in capitals are those of its parameters.
type SandboxImage struct {
	Kind        string   `json:"kind"`
	BaseImage   string   `json:"base_image,omitempty"`   // BASE_IMAGE: the image to begin with
	TargetImage string   `json:"target_image,omitempty"` // TARGET_IMAGE: the name that the result gets
	Packages    []string `json:"packages,omitempty"`     // PACKAGES: of Debian
	InstallPnpm string   `json:"install_pnpm,omitempty"` // INSTALL_PNPM: 0 or 1
	InstallBun  string   `json:"install_bun,omitempty"`  // INSTALL_BUN: 0 or 1
	InstallBrew string   `json:"install_brew,omitempty"` // INSTALL_BREW: 0 or 1
	FinalUser   string   `json:"final_user,omitempty"`   // FINAL_USER: of programs that say no other
}
