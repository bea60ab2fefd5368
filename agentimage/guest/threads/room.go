//go:build linux

package threads

import (
	"bytes"
	"os"
	"strconv"
)

// pidsDirs are where a container sees its own limit of processes: cgroup v2 and v1.
var pidsDirs = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/pids"}

// Room reports whether the container's limit leaves n more threads. Without a limit, or
// where the container does not see it, there is room. The answer is of this moment: what
// else runs in the container may take the room.
func Room(n int) bool {
	for _, dir := range pidsDirs {
		most, ok := pids(dir + "/pids.max")
		if !ok { // "max" as well
			continue
		}
		if now, ok := pids(dir + "/pids.current"); ok {
			return most-now >= n
		}
	}
	return true
}

func pids(path string) (int, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	return n, err == nil
}
