package hostchrome

import (
	"slices"
	"testing"
)

func TestFolders(t *testing.T) {
	for _, c := range []struct {
		name, system string
		env          map[string]string
		first        string
		has          []string
		n            int
	}{
		{"linux", "linux", map[string]string{"HOME": "/home/ann"}, "/home/ann/.config/google-chrome", []string{
			"/home/ann/.config/chromium", "/home/ann/.config/microsoft-edge", "/home/ann/.config/BraveSoftware/Brave-Browser",
			"/home/ann/snap/chromium/common/chromium", "/home/ann/.var/app/com.google.Chrome/config/google-chrome",
		}, 11},
		{"linux with a folder of its own", "linux", map[string]string{"HOME": "/home/ann", "XDG_CONFIG_HOME": "/conf/"}, "/conf/google-chrome",
			[]string{"/conf/chromium", "/home/ann/snap/chromium/common/chromium"}, 11},
		{"linux with a relative folder", "linux", map[string]string{"HOME": "/home/ann/", "XDG_CONFIG_HOME": "conf"}, "/home/ann/.config/google-chrome", nil, 11},
		{"linux without a home", "linux", nil, "", nil, 0},
		{"darwin", "darwin", map[string]string{"HOME": "/Users/ann", "XDG_CONFIG_HOME": "/conf"}, "/Users/ann/Library/Application Support/Google/Chrome", []string{
			"/Users/ann/Library/Application Support/Chromium", "/Users/ann/Library/Application Support/Microsoft Edge",
			"/Users/ann/Library/Application Support/BraveSoftware/Brave-Browser",
		}, 6},
		{"darwin without a home", "darwin", map[string]string{"HOME": "ann"}, "", nil, 0},
		{"windows", "windows", map[string]string{"LOCALAPPDATA": `C:\Users\ann\AppData\Local`}, `C:\Users\ann\AppData\Local\Google\Chrome\User Data`, []string{
			`C:\Users\ann\AppData\Local\Chromium\User Data`, `C:\Users\ann\AppData\Local\Microsoft\Edge\User Data`,
			`C:\Users\ann\AppData\Local\BraveSoftware\Brave-Browser\User Data`,
		}, 6},
		{"windows without a folder of programs", "windows", map[string]string{"HOME": "/home/ann"}, "", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Folders(c.system, func(name string) string { return c.env[name] })
			if len(got) != c.n || c.n > 0 && got[0] != c.first {
				t.Fatalf("%d folders: %q", len(got), got)
			}
			for _, want := range c.has {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not in %q", want, got)
				}
			}
		})
	}
}
