//go:build linux

package initd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"loop/backend/wire"
)

// maxNames bounds a passwd or group file of an image, in bytes.
const maxNames = 4 << 20

// addNames gives the agent and this process's later user entries in passwd and group. An
// entry of the image that the agent shares a name or an id with gives way, as a group does
// not: the agent has its number either way. It is for a container in which no agent has been.
func addNames(etc string, who identity) error {
	root, err := os.OpenRoot(etc)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	uid := strconv.Itoa(who.uid)
	own := []string{
		fmt.Sprintf("%s:x:%d:%d::%s:/bin/bash", who.user, who.uid, who.gid, who.home),
		fmt.Sprintf("%s:x:%d:%d::/nonexistent:/usr/sbin/nologin", wire.SupervisorName, wire.SupervisorID, wire.SupervisorID),
	}
	err = rewrite(root, "passwd", func(lines []string) []string {
		for _, line := range lines {
			f := strings.SplitN(line, ":", 4)
			if len(f) < 4 || f[0] != who.user && f[0] != wire.SupervisorName && f[2] != uid {
				own = append(own, line)
			}
		}
		return own
	})
	if err != nil {
		return err
	}
	return rewrite(root, "group", func(lines []string) []string {
		for _, g := range []struct {
			name string
			gid  int
		}{{who.user, who.gid}, {wire.SupervisorName, wire.SupervisorID}} {
			known := false
			for _, line := range lines {
				f := strings.SplitN(line, ":", 4)
				known = known || f[0] == g.name || len(f) > 2 && f[2] == strconv.Itoa(g.gid)
			}
			if !known {
				lines = append(lines, fmt.Sprintf("%s:x:%d:", g.name, g.gid))
			}
		}
		return lines
	})
}

// rewrite changes the lines of a file, which need not be there.
func rewrite(root *os.Root, name string, change func([]string) []string) error {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxNames) {
		err = fmt.Errorf("%s is no ordinary file of at most %d bytes: %w", name, maxNames, fs.ErrInvalid)
	}
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if lines[0] == "" && len(lines) == 1 {
		lines = nil
	}
	text := strings.Join(change(lines), "\n") + "\n"
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(text), 0)
	}
	return errors.Join(err, f.Sync())
}
