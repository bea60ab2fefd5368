package cli

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// filesRig is a channel with a folder of four things and a file.
func filesRig(t *testing.T) *rig {
	r := newRig(t)
	r.fake.channels = []map[string]any{{"channel_id": "ch1", "name": "one", "dir": r.dir, "kind": "project"}}
	r.fake.answers["Files.List"] = map[string]any{"path": "/p", "left": "Files whose names are not text are not listed.", "files": []map[string]any{
		{"name": "a.txt", "kind": "file", "bytes": 2048, "modified_ms": 1}, {"name": "d", "kind": "folder"},
		{"name": "l", "kind": "link", "link": "a.txt"}, {"name": "pipe", "kind": "other"},
	}}
	r.fake.answers["Files.Stat"] = map[string]any{"path": "/p/a.txt", "host_path": "/h/a.txt", "kind": "file", "bytes": 3, "read_only": true}
	r.fake.answers["Files.Read"] = map[string]any{
		"path": "/p/a.txt", "bytes": 3, "whole": true, "mark": "m1", "data": base64.StdEncoding.EncodeToString([]byte("one")),
	}
	return r
}

func TestFiles(t *testing.T) {
	for _, tc := range []struct {
		args       []string
		in         string
		code       int
		call, with string
		says       string
	}{
		{nil, "", exitOK, "List", `["ch1" ""]`, "a.txt\n"},
		{[]string{"/p"}, "", exitOK, "List", `["ch1" "/p"]`, "l -> a.txt\n"},
		{[]string{"stat", "a.txt"}, "", exitOK, "Stat", `["ch1" "a.txt"]`, "on host   /h/a.txt"},
		{[]string{"cat", "a.txt"}, "", exitOK, "Read", `["ch1" "a.txt" 8388608]`, "one"},
		{[]string{"put", "b.txt"}, "new", exitOK, "Write", `["ch1" "b.txt" "bmV3" ""]`, ""},
		{[]string{"put", "a.txt", "--over"}, "new", exitOK, "Write", `["ch1" "a.txt" "bmV3" "m1"]`, ""},
		{[]string{"mkdir", "e"}, "", exitOK, "Mkdir", `["ch1" "e"]`, ""},
		{[]string{"rm", "d"}, "", exitOK, "Remove", `["ch1" "d" false]`, ""},
		{[]string{"rm", "d", "--all"}, "", exitOK, "Remove", `["ch1" "d" true]`, ""},
		{[]string{"mv", "a", "b"}, "", exitOK, "Rename", `["ch1" "a" "b"]`, ""},
		{[]string{"mv", "a"}, "", exitUsage, "Rename", "", "the new path is missing"},
		{[]string{"put", "big"}, string(make([]byte, maxPutBytes+1)), exitUsage, "Write", "", "larger than 8 MiB"},
	} {
		t.Run(fmt.Sprint(tc.args), func(t *testing.T) {
			r := filesRig(t)
			r.in = tc.in
			for _, m := range []string{"Write", "Mkdir", "Remove", "Rename"} {
				r.fake.answers["Files."+m] = true
			}
			if code := r.run(append(append([]string{"files"}, tc.args...), "--channel", "one")...); code != tc.code {
				t.Fatal(code, r.err.String())
			}
			if got := r.fake.last["Files."+tc.call]; tc.with == "" && got != nil || tc.with != "" && fmt.Sprintf("%s", got) != tc.with {
				t.Errorf("%s was called with %s", tc.call, got)
			}
			if tc.code != exitOK {
				r.wantIn("err", tc.says)
			} else if tc.says != "" {
				r.wantIn("out", tc.says)
			}
		})
	}
}

// TestFilesInPart: a file that is larger than what Loop reads is not taken for whole.
func TestFilesInPart(t *testing.T) {
	r := filesRig(t)
	r.fake.answers["Files.Read"] = map[string]any{"bytes": 9 << 20, "whole": false, "data": "b25l"}
	if code := r.run("files", "cat", "a", "--channel", "one"); code == exitOK {
		t.Error("no word of the rest")
	}
	r.wantIn("out", "one")
	r.wantIn("err", "first 8 MiB of 9.0 MiB")
	if code := r.run("files", "put", "a", "--over", "--channel", "one"); code == exitOK || r.fake.last["Files.Write"] != nil {
		t.Error("a file was replaced of which only a part was read")
	}
}
