package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Window   bool   `json:"window"` // this binary can open one
}

func (a *app) versionCommand() *cobra.Command {
	return jsonFlag(&cobra.Command{
		Use: "version", Short: "Print the version", Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionInfo{Version: a.deps.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Window: a.deps.Window != nil}
			if b, ok := debug.ReadBuildInfo(); ok {
				for _, s := range b.Settings {
					if s.Key == "vcs.revision" {
						v.Revision = s.Value
					}
				}
			}
			if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
				return a.printValue(v)
			}
			a.out.line("loop %s (%s, %s/%s)", v.Version, v.Go, v.OS, v.Arch)
			return nil
		},
	})
}
