package hostchrome

import "strings"

// brands are the folders of user data of the usual browsers, below what the system has
// for programs; first those that most people mean.
var brands = map[string][]string{
	"linux": {
		"google-chrome", "google-chrome-beta", "google-chrome-unstable", "chromium", "microsoft-edge", "BraveSoftware/Brave-Browser",
	},
	"darwin": {
		"Google/Chrome", "Google/Chrome Beta", "Google/Chrome Canary", "Chromium", "Microsoft Edge", "BraveSoftware/Brave-Browser",
	},
	"windows": {
		`Google\Chrome\User Data`, `Google\Chrome Beta\User Data`, `Google\Chrome SxS\User Data`, `Chromium\User Data`,
		`Microsoft\Edge\User Data`, `BraveSoftware\Brave-Browser\User Data`,
	},
}

// packaged are the folders, below a home on Linux, of browsers from Snap and Flatpak.
var packaged = []string{
	"snap/chromium/common/chromium", ".var/app/com.google.Chrome/config/google-chrome", ".var/app/org.chromium.Chromium/config/chromium",
	".var/app/com.microsoft.Edge/config/microsoft-edge", ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
}

// Folders are those in which a Chrome, Chromium, Edge or Brave keeps its user data on a
// system by its name in Go, in the order in which they are looked at. env are the
// variables of the person's environment. Paths are the system's own, whichever this
// program was compiled for.
func Folders(system string, env func(string) string) (out []string) {
	switch system {
	case "windows":
		if local := env("LOCALAPPDATA"); local != "" {
			for _, b := range brands[system] {
				out = append(out, strings.TrimRight(local, `\`)+`\`+b)
			}
		}
		return out
	case "darwin":
		if home := env("HOME"); strings.HasPrefix(home, "/") {
			return below(home+"/Library/Application Support", brands[system])
		}
		return nil
	}
	home, config := env("HOME"), env("XDG_CONFIG_HOME")
	atHome := strings.HasPrefix(home, "/")
	if !strings.HasPrefix(config, "/") && atHome { // a relative one does not count, as the XDG specification has it
		config = strings.TrimRight(home, "/") + "/.config"
	}
	if strings.HasPrefix(config, "/") {
		out = below(config, brands["linux"])
	}
	if atHome {
		out = append(out, below(home, packaged)...)
	}
	return out
}

func below(root string, names []string) (out []string) {
	for _, n := range names {
		out = append(out, strings.TrimRight(root, "/")+"/"+n)
	}
	return out
}
