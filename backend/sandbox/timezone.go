package sandbox

import (
	"regexp"
	"slices"
	"strings"
)

// TimeZoneFacts are the places where a system says which time zone it is in.
type TimeZoneFacts struct {
	Env           string // $TZ
	EnvSet        bool   // $TZ exists, perhaps empty
	Location      string // time.Now().Location().String()
	EtcTimezone   string // text of /etc/timezone, bounded by the reader
	LocaltimeLink string // where /etc/localtime leads, empty when it is no link
}

// DetectTimeZone gives the IANA name and which fact gave it. The order is the
// seed's: $TZ, Go's location, /etc/timezone, the /etc/localtime link, UTC.
// What is no IANA name (a POSIX rule such as CET-1CEST, a file of one's own)
// is passed over, because the container's zone files know IANA names only.
func DetectTimeZone(f TimeZoneFacts) (name, origin string) {
	if f.EnvSet && strings.TrimSpace(f.Env) == "" {
		return "UTC", "$TZ" // POSIX: set and empty is UTC
	}
	if n, ok := zoneName(strings.TrimPrefix(strings.TrimSpace(f.Env), ":")); ok {
		return n, "$TZ"
	}
	if n, ok := zoneName(f.Location); ok {
		return n, "time.Location"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(f.EtcTimezone), "\n")
	if n, ok := zoneName(strings.TrimSpace(line)); ok {
		return n, "/etc/timezone"
	}
	if n, ok := zoneName(f.LocaltimeLink); ok {
		return n, "/etc/localtime"
	}
	return "UTC", "fallback"
}

var zonePattern = regexp.MustCompile(`^[A-Za-z]+(/[A-Za-z0-9_+-]+){1,2}$`)

// zoneAreas are the first parts of IANA names with a slash.
var zoneAreas = []string{
	"Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada", "Chile",
	"Etc", "Europe", "Indian", "Mexico", "Pacific", "US",
}

// zoneSingles are the IANA names without a slash (backward links included).
var zoneSingles = []string{
	"UTC", "UCT", "GMT", "GMT0", "GMT+0", "GMT-0", "Zulu", "Universal", "Greenwich",
	"CET", "MET", "EET", "WET", "EST", "MST", "HST", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT",
	"Cuba", "Egypt", "Eire", "GB", "GB-Eire", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein",
	"Libya", "NZ", "NZ-CHAT", "Navajo", "PRC", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey", "W-SU",
}

// zoneName reads an IANA name, or a path into a zoneinfo tree.
func zoneName(s string) (string, bool) {
	if i := strings.LastIndex(s, "zoneinfo"); i >= 0 && strings.HasPrefix(s, "/") || strings.HasPrefix(s, "..") && i >= 0 {
		// zoneinfo/Europe/Paris, and macOS' zoneinfo.default/Europe/Paris
		_, rest, ok := strings.Cut(s[i:], "/")
		if !ok {
			return "", false
		}
		s = rest
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "posix/"), "right/")
	if slices.Contains(zoneSingles, s) {
		return s, true
	}
	if len(s) > 64 || !zonePattern.MatchString(s) {
		return "", false
	}
	area, _, _ := strings.Cut(s, "/")
	return s, slices.Contains(zoneAreas, area)
}
