package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tailscale/hujson"

	"loop/backend/atomicfile"
)

// megabyte is a settings file of a little under 1 MiB.
func megabyte() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  // many\n  \"envs\": {\n")
	for i := 0; b.Len() < 400<<10; i++ {
		fmt.Fprintf(&b, "    \"NAME_%d\": \"value number %d\", // %d\n", i, i, i)
	}
	b.WriteString("  },\n  \"mounts\": [\n")
	for i := 0; b.Len() < 700<<10; i++ {
		fmt.Fprintf(&b, "    \"/srv/data/%d:/data/%d:ro\",\n", i, i)
	}
	b.WriteString("  ],\n  \"mcp\": {\"servers\": {\n")
	for i := 0; b.Len() < 1000<<10; i++ {
		fmt.Fprintf(&b, "    \"server_%d\": {\"command\": \"npx\", \"args\": [\"-y\", \"pkg-%d\"], \"env\": {\"A\": \"%d\"}},\n", i, i, i)
	}
	b.WriteString("  }},\n}\n")
	return b.Bytes()
}

func BenchmarkLoad1MB(b *testing.B) {
	data := megabyte()
	path := filepath.Join(b.TempDir(), FileName)
	if err := atomicfile.Keep(path, data); err != nil {
		b.Fatal(err)
	}
	b.Run("load", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, problems, err := Load(path); err != nil {
				b.Fatal(problems)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) { // the standard library, without comments, places and checks
		plain, err := hujson.Standardize(bytes.Clone(data))
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(plain, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkForDir(b *testing.B) {
	for name, text := range map[string][]byte{"usual": []byte(`{"claude_model": "opus", "envs": {"A": "1"}, "mounts": ["./a:/a"]}`), "1MB": megabyte()} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			if err := ProjectFile(dir).write(text); err != nil {
				b.Fatal(err)
			}
			trust := OpenTrust(filepath.Join(b.TempDir(), TrustFileName))
			if err := trust.Approve(ProjectFile(dir), sumOf(text)); err != nil {
				b.Fatal(err)
			}
			g := NewSource(filepath.Join(b.TempDir(), FileName)).Current()
			for b.Loop() {
				if e := ForDir(g, trust, dir, ""); e.Err != nil || len(e.Pending) != 0 {
					b.Fatal(e.Err)
				}
			}
		})
	}
}
