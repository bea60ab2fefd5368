//go:build linux

package initd

import (
	"fmt"
	"path/filepath"
	"strconv"

	"loop/backend/wire"
)

// identity is the agent's, from the container's environment.
type identity struct {
	uid, gid   int
	user, home string
}

func readIdentity(getenv func(string) string) (identity, error) {
	uid, err := readID(getenv, "LOOP_AGENT_UID")
	if err != nil {
		return identity{}, err
	}
	gid, err := readID(getenv, "LOOP_AGENT_GID")
	if err != nil {
		return identity{}, err
	}
	who := identity{uid: uid, gid: gid, user: getenv("LOOP_AGENT_USER"), home: getenv("HOME")}
	if !filepath.IsAbs(who.home) {
		who.home = "/"
	}
	return who, nil
}

// readID refuses the supervisor's own id: an agent with it could do everything.
func readID(getenv func(string) string, name string) (int, error) {
	v := getenv(name)
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, not an id", name, v)
	}
	if n == wire.SupervisorID {
		return 0, fmt.Errorf("%s is the supervisor's own id %d", name, n)
	}
	return int(n), nil
}
