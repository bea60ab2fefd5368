package core

import (
	"path"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlainFileName(t *testing.T) {
	long := strings.Repeat("a", 300)
	for given, want := range map[string]string{
		"report.pdf":              "report.pdf",
		"Bericht März 2026.pdf":   "Bericht März 2026.pdf",
		"報告.pdf":                  "報告.pdf",
		"../../etc/passwd":        "passwd",
		`..\..\autoexec.bat`:      "autoexec.bat",
		"_.._.._x.txt":            "x.txt",
		"_config.yml":             "_config.yml",
		"..":                      "download",
		".":                       "download",
		"":                        "download",
		"/":                       "download",
		"a/":                      "download",
		".bashrc":                 "bashrc",
		"-rf":                     "rf",
		"a\x00b\x1b[31mc\n.txt":   "ab[31mc .txt",
		"invoice\u202efdp.exe":    "invoicefdp.exe",
		"zero\u200bwidth.txt":     "zerowidth.txt",
		"two  spaces \t here.txt": "two spaces here.txt",
		"a:b?c*.txt":              "a_b_c_.txt",
		"con.txt":                 "_con.txt",
		"NUL":                     "_NUL",
		"console.txt":             "console.txt",
		"trailing. . ":            "trailing",
		"bad\xffbyte.txt":         "badbyte.txt",
		long + ".pdf":             strings.Repeat("a", 196) + ".pdf",
		"x." + long:               ("x." + long)[:200],
		strings.Repeat("é", 150):  strings.Repeat("é", 100),
	} {
		if got := PlainFileName(given); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}

func FuzzPlainFileName(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", "con", strings.Repeat("é.", 200), "\u202e", "a. .b", "-.-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := PlainFileName(s)
		switch {
		case got == "" || got == "." || got == ".." || path.Base(got) != got || strings.ContainsAny(got, `\<>:"|?*`):
			t.Errorf("%q is no name of a file", got)
		case len(got) > maxFileName+1 || !utf8.ValidString(got):
			t.Errorf("%q is too long, or no text", got)
		case strings.HasPrefix(got, ".") || strings.HasPrefix(got, "-"):
			t.Errorf("%q hides, or is an option", got)
		case strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }):
			t.Errorf("%q has what cannot be seen", got)
		case deviceName.MatchString(got):
			t.Errorf("%q is a device", got)
		case PlainFileName(got) != got:
			t.Errorf("%q is made plain to %q", got, PlainFileName(got))
		}
	})
}
