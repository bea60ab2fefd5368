package hostchrome

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const someID = "e58612dc-fe3d-4bec-b694-5e3afa8e58b7"

func TestPortFile(t *testing.T) {
	good := Endpoint{Port: 41953, Path: "/devtools/browser/" + someID}
	for _, c := range []struct {
		text string
		want Endpoint
	}{
		{"41953\n/devtools/browser/" + someID, good},
		{"41953\n/devtools/browser/" + someID + "\n", good},
		{"41953\r\n/devtools/browser/" + someID + "\r\n", good},
		{"65535\n/devtools/browser/x", Endpoint{65535, "/devtools/browser/x"}},
	} {
		if got, err := parsePortFile([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	for _, bad := range []string{
		"", "\n", "41953", "41953\n", "41953\n/devtools/page/" + someID, "80\n/devtools/browser/x", "0\n/devtools/browser/x",
		"65536\n/devtools/browser/x", "-1\n/devtools/browser/x", "+9222\n/devtools/browser/x", "09222\n/devtools/browser/x", " 9222\n/devtools/browser/x",
		"evil.example:9222\n/devtools/browser/x", "9222@evil.example\n/devtools/browser/x",
		"9222\n//evil.example/devtools/browser/x", "9222\n@evil.example/devtools/browser/x", "9222\n.evil.example/devtools/browser/x",
		"9222\nws://evil.example/devtools/browser/x", "9222\n/devtools/browser/../../json/list", "9222\n/devtools/browser/x?y=z", "9222\n/devtools/browser/x#y",
		"9222\n/devtools/browser/x\nmore", "9222\n/devtools/browser/x y", "9222\n/devtools/browser/x\r\nHost: evil.example",
		"9222\n/devtools/browser/" + strings.Repeat("x", 65), "9222\n/devtools/browser/", "9222\x00\n/devtools/browser/x",
	} {
		if got, err := parsePortFile([]byte(bad)); err == nil {
			t.Errorf("%q was taken for %v", bad, got)
		}
	}
}

func TestReadPortFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	long := "41953\n/devtools/browser/x" + strings.Repeat("\n", maxPortFile)
	if err := os.WriteFile(filepath.Join(dir, portFile), []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readPortFile(dir); err == nil {
		t.Errorf("%v of a file of %d bytes", got, len(long))
	}
	if err := os.Remove(filepath.Join(dir, portFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, portFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := readPortFile(dir); err == nil {
		t.Errorf("%v of a folder", got)
	}
}

func FuzzPortFile(f *testing.F) {
	f.Add([]byte("41953\n/devtools/browser/" + someID))
	f.Add([]byte("9222\r\n/devtools/browser/x\r\n"))
	f.Add([]byte("9222\n//evil.example/devtools/browser/x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		at, err := parsePortFile(data)
		if err != nil {
			return
		}
		again, err := parsePortFile(fmt.Appendf(nil, "%d\n%s", at.Port, at.Path))
		if err != nil || again != at || at.Port < firstPort || strings.ContainsAny(at.Path, "@:?#\\. \r\n\x00") {
			t.Errorf("%q was taken for %v; written again it is %v, %v", data, at, again, err)
		}
	})
}
