package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"
)

// TestSchema: a text that Loop reads without a problem fits the schema. Loop refuses
// every text that the schema refuses, and the schema has every field.
func TestSchema(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	fits := func(text string) error {
		std, err := hujson.Standardize([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(std, &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	for _, text := range []string{
		`{}`, secretText, `{"$schema": "x", "theme": null, "claude_retry": {"max_attempts": 1}, "container_cpus": 1, "gates": {"agentgate": {"enabled": true, "file_rules": [{"paths": ["/x"], "decision": "deny"}]}}}`,
		`{"mcp": {"servers": {"a": null, "b": {"command": "x", "args": [], "env": {"A": 1}, "type": "stdio"}}}}`,
		`{"anthropic_base_url": "", "claude_model": "", "claude_effort": "", "font_sizes": {"chat": 13.0}}`,
	} {
		if _, problems, err := Parse("c", []byte(text)); err != nil {
			t.Errorf("%s: %v", text, problems)
		}
		if err := fits(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`[]`, `{"log_level": "pink"}`, `{"theme": "` + strings.Repeat("x", 61) + `"}`, `{"container_memory_mb": 1}`, `{"container_memory_mb": 1.5}`, `{"container_memory_mb": "x"}`, `{"mounts": "x"}`, `{"mounts": [1]}`,
		`{"font_sizes": {"chat": 200}}`, `{"font_sizes": 1}`, `{"container_image": ""}`, `{"claude_model": "-x"}`, `{"anthropic_base_url": "ftp://x"}`, `{"claude_retry": {"max_attempts": 0}}`,
		`{"mcp": {"servers": {"a b": {"command": "x"}}}}`, `{"mcp": {"servers": {"a": {}}}}`, `{"mcp": {"servers": {"a": {"command": "x", "type": "http"}}}}`, `{"envs": []}`,
		`{"container_image_autobuild": 1}`, `{"guest_transport": "udp"}`,
	} {
		if _, _, err := Parse("c", []byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
		if fits(text) == nil {
			t.Errorf("%s fits the schema", text)
		}
	}
	if fits(`{"contaner_memory_mb": 1}`) == nil {
		t.Error("a misspelt name fits the schema")
	}
	for _, f := range leaves() {
		at := &s
		for part := range strings.SplitSeq(f.Name, ".") {
			if at = at.Properties[part]; at == nil {
				t.Fatalf("%s is not in the schema", f.Name)
			}
		}
		if at.Description != f.Doc || at.Extra["x-merge"] != string(f.Merge) || at.Extra["x-project"] != string(f.Project) {
			t.Errorf("%s: %+v", f.Name, at)
		}
	}
}

func TestEveryFieldSaysItsRules(t *testing.T) {
	for _, f := range leaves() {
		merges := map[string][]Merge{
			"list": {MergeTarget, MergeAppend, MergeReplace, MergeUnion}, "object": {MergeKey},
			"text": {MergeOverride}, "integer": {MergeOverride}, "number": {MergeOverride}, "boolean": {MergeOverride},
		}[f.Type()]
		if !strings.Contains(fmt.Sprint(merges), string(f.Merge)) || f.Merge == "" {
			t.Errorf("%s merges %q", f.Name, f.Merge)
		}
		switch f.Project {
		case ProjectFree, ProjectTighten, ProjectTrust, ProjectNever:
		default:
			t.Errorf("%s: a project may %q", f.Name, f.Project)
		}
		if f.Project == ProjectTighten && f.Type() == "text" && f.Name != "container_network" && f.Name != "container_scope" && f.Name != "workspace_access" && f.Name != "claude_setup" && f.Name != "gates.agentgate.default_decision" {
			t.Errorf("%s: what is tighter is not known", f.Name)
		}
	}
}
