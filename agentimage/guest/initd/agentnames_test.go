//go:build linux

package initd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAddNames(t *testing.T) {
	for name, c := range map[string]struct {
		who                   identity
		passwd, group         string
		wantPasswd, wantGroup string
	}{
		"an image's user has the number": {
			identity{uid: 1000, gid: 1000, user: "mira", home: "/home/mira"},
			"root:x:0:0:root:/root:/bin/bash\nsandbox:x:1000:1000::/home/sandbox:/bin/sh\n", "root:x:0:\nsandbox:x:1000:\n",
			"mira:x:1000:1000::/home/mira:/bin/bash\nloop-init:x:64999:64999::/nonexistent:/usr/sbin/nologin\nroot:x:0:0:root:/root:/bin/bash\n",
			"root:x:0:\nsandbox:x:1000:\nloop-init:x:64999:\n",
		},
		"an image's user has the name": {
			identity{uid: 1001, gid: 100, user: "node", home: "/home/node"},
			"node:x:1000:1000::/home/node:/bin/bash\nodd line", "node:x:1000:",
			"node:x:1001:100::/home/node:/bin/bash\nloop-init:x:64999:64999::/nonexistent:/usr/sbin/nologin\nodd line\n",
			"node:x:1000:\nloop-init:x:64999:\n",
		},
		"root, and no files": {
			identity{uid: 0, gid: 0, user: "root", home: "/root"}, "", "",
			"root:x:0:0::/root:/bin/bash\nloop-init:x:64999:64999::/nonexistent:/usr/sbin/nologin\n", "root:x:0:\nloop-init:x:64999:\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			etc := t.TempDir()
			for file, text := range map[string]string{"passwd": c.passwd, "group": c.group} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(etc, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // a second time changes nothing
				if err := addNames(etc, c.who); err != nil {
					t.Fatal(err)
				}
				passwd, _ := os.ReadFile(filepath.Join(etc, "passwd"))
				group, _ := os.ReadFile(filepath.Join(etc, "group"))
				if string(passwd) != c.wantPasswd || string(group) != c.wantGroup {
					t.Fatalf("passwd:\n%sgroup:\n%s", passwd, group)
				}
			}
		})
	}
}

func TestAddNamesStaysInTheFolder(t *testing.T) {
	etc := t.TempDir()
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), filepath.Join(etc, "passwd")); err != nil {
		t.Fatal(err)
	}
	if addNames(etc, identity{uid: 1000, gid: 1000, user: "mira", home: "/home/mira"}) == nil {
		t.Fatal("a link out of the folder was followed")
	}
}
