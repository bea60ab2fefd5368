package hostfacts

import (
	"os"
	"regexp"
	"strings"
	"time"

	"loop/backend/atomicfile"
)

// zoneTextLimit is far above any zone's name.
const zoneTextLimit = 256

// timeZone is the IANA name of this computer's time zone; empty where nothing says
// it. It looks at $TZ, Go's location, /etc/timezone and where /etc/localtime leads, in
// this order.
func timeZone() string {
	env, set := os.LookupEnv("TZ")
	if set && strings.TrimSpace(env) == "" {
		return "UTC" // as POSIX has it
	}
	text, _, _ := atomicfile.Read("/etc/timezone", zoneTextLimit)
	// The first link's text is what names the zone: its target may itself be a
	// link to an older spelling.
	link, _ := os.Readlink("/etc/localtime")
	return zoneOf(strings.TrimPrefix(env, ":"), time.Now().Location().String(), string(text), link)
}

var zoneName = regexp.MustCompile(`^[A-Za-z]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,2}$`)

// zoneOf is the first IANA name among the texts, which may also be paths into a
// zoneinfo tree. Other texts (a POSIX rule such as CET-1CEST, a file of the person's)
// are passed over, because the container's zone files know IANA names only.
func zoneOf(texts ...string) string {
	for _, text := range texts {
		name, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if i := strings.LastIndex(name, "zoneinfo"); i >= 0 { // macOS has zoneinfo.default, too
			_, name, _ = strings.Cut(name[i:], "/")
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "posix/"), "right/")
		if zoneName.MatchString(name) && name != "Local" { // Go's word for none of its own
			return name
		}
	}
	return ""
}
