package config

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// form is what a text of an agent's settings has to look like.
type form struct {
	fits        func(string) bool
	msg, remedy string
}

// minMemory is the least that container_memory_mb may be.
const minMemory = 256 << 20

var (
	sizeForm   = regexp.MustCompile(`^([0-9]{1,18})([bkmg]?)$`)
	prefixForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,21}$`)
	idsForm    = regexp.MustCompile(`^[0-9]{1,9}(:[0-9]{1,9})?$`)
	capForm    = regexp.MustCompile(`^[A-Za-z_]{1,64}$`)
)

// agentForms are the forms by the word that a field's tag has.
var agentForms = map[string]form{
	"size": {
		func(s string) bool { n, ok := sizeOf(s); return ok && n >= minMemory },
		"must be a size from 256m", "Write a whole number and one of b, k, m and g, like 512m or 2g.",
	},
	"prefix": {
		prefixForm.MatchString, "cannot begin the name of a container",
		"Use lower-case letters, digits, dots, - and _, 22 characters at most, like loop-.",
	},
	"inside": {
		func(s string) bool { return path.IsAbs(s) && path.Clean(s) == s && s != "/" },
		"must be a path in the container, from its root on", "Write it like /workspace.",
	},
	"ids": {idsForm.MatchString, "must be a user's number, or user:group", "Write it like 1000:1000; names differ between images."},
	"capability": {
		capForm.MatchString, "must be the name of a capability", "Write ALL, or a name like NET_RAW.",
	},
	"gpus": {
		func(s string) bool { return s == "all" }, "must be all, or not be there", "Loop gives a container all graphics processors, or none.",
	},
	"ip": {func(s string) bool { return net.ParseIP(s) != nil }, "must be made of addresses", "Write each like 9.9.9.9."},
	"tmpfs": {
		func(s string) bool { _, err := sandbox.ParseTmpfs(s); return err == nil },
		"has an entry that is no folder in memory", "Write it like /cache or /cache:size=64m; options are size, mode, exec and noexec.",
	},
	"hosts": {
		func(s string) bool { return sandbox.ParseExtraHost(s) == nil },
		"has an entry that is not a name and an address", "Write it like db.example.com:10.0.0.5.",
	},
}

// sizeOf reads a size as Docker writes it: a number of bytes, or one of KiB, MiB and GiB.
func sizeOf(s string) (bytes int64, ok bool) {
	m := sizeForm.FindStringSubmatch(strings.ToLower(s))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	shift := map[string]int{"": 0, "b": 0, "k": 10, "m": 20, "g": 30}[m[2]]
	if err != nil || n > math.MaxInt64>>shift {
		return 0, false
	}
	return n << shift, true
}

// ulimitNames are those that the engine knows.
var ulimitNames = []string{
	"core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice", "nofile", "nproc", "rss", "rtprio", "rttime",
	"sigpending", "stack",
}

// Ulimits reads limits of single programs: a number, the text “soft:hard”, or an object of
// soft and hard.
func Ulimits(said map[string]any) (out []core.Ulimit, err error) {
	for _, name := range slices.Sorted(maps.Keys(said)) {
		u := core.Ulimit{Name: name}
		var ok bool
		switch v := said[name].(type) {
		case nil:
			continue
		case stdjson.Number:
			u.Soft, ok = wholeNumber(v.String())
			u.Hard = u.Soft
		case string:
			soft, hard, two := strings.Cut(v, ":")
			if !two {
				hard = soft
			}
			var also bool
			u.Soft, ok = wholeNumber(soft)
			u.Hard, also = wholeNumber(hard)
			ok = ok && also
		case map[string]any:
			var also bool
			u.Soft, ok = wholeNumber(fmt.Sprint(v["soft"]))
			u.Hard, also = wholeNumber(fmt.Sprint(v["hard"]))
			ok = ok && also && len(v) == 2
		}
		// -1 is no limit.
		if !ok || u.Hard >= 0 && (u.Soft < 0 || u.Soft > u.Hard) || !slices.Contains(ulimitNames, name) {
			return nil, &wrongError{
				msg:    fmt.Sprintf("has for “%s” no limit that an engine knows", printable(name)),
				remedy: `Write it like {"nofile": 1024}, {"nofile": "1024:2048"} or {"nofile": {"soft": 1024, "hard": 2048}}.`,
			}
		}
		out = append(out, u)
	}
	return out, nil
}

func wholeNumber(s string) (int64, bool) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f == math.Trunc(f) && f >= -1 && f <= 1<<53 {
		return int64(f), true
	}
	return 0, false
}
