package hostfacts

import "testing"

func TestZoneOf(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"Europe/Bucharest", "", "Asia/Tokyo"}, "Europe/Bucharest"},
		{[]string{"America/Argentina/Buenos_Aires"}, "America/Argentina/Buenos_Aires"},
		{[]string{"/usr/share/zoneinfo/Asia/Kolkata"}, "Asia/Kolkata"},
		{[]string{"CET-1CEST,M3.5.0,M10.5.0/3", "Local", "Europe/Paris\n"}, "Europe/Paris"},
		{[]string{"zone.tab", "/usr/share/zoneinfo/posix/Europe/Rome"}, "Europe/Rome"},
		{[]string{"Local", "# comment\n"}, ""},
		{[]string{"/var/db/timezone/zoneinfo/America/New_York"}, "America/New_York"},
		{[]string{"../usr/share/zoneinfo/Etc/UTC"}, "Etc/UTC"},
		{[]string{"/etc/my-own"}, ""},
		{[]string{"CET"}, "CET"},
		{[]string{"Europe/Pa ris\nX"}, ""},
		{[]string{"../../etc/passwd"}, ""},
	} {
		if got := zoneOf(c.texts...); got != c.want {
			t.Errorf("%q gave %q", c.texts, got)
		}
	}
}
