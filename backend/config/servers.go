package config

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// serverName is what the agent CLI takes as the name of an MCP server; it
// becomes a part of the names of its tools.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// servers reads the object of MCP servers. A server that is null is not set.
func servers(raw []byte) (map[string]MCPServer, error) {
	var all map[string]*struct {
		Command string                    `json:"command"`
		Args    []string                  `json:"args"`
		Env     map[string]jsontext.Value `json:"env"`
		Type    string                    `json:"type"` // what other programs write, too
	}
	wrong := func(name, remedy, format string, args ...any) error {
		return &wrongError{msg: fmt.Sprintf("has for “%s” ", printable(name)) + fmt.Sprintf(format, args...), remedy: remedy}
	}
	const form = `Loop starts servers as programs. Write one like {"command": "npx", "args": ["-y", "some-server"], "env": {"NAME": "text"}}.`
	if err := json.Unmarshal(raw, &all, json.RejectUnknownMembers(true)); err != nil {
		at, ok := errors.AsType[*json.SemanticError](err)
		if !ok || at.JSONPointer == "" {
			return nil, &wrongError{msg: "must be an object", remedy: form}
		}
		name, part, _ := strings.Cut(string(at.JSONPointer[1:]), "/")
		return nil, wrong(name, form, "a value or a name at “%s” that a server does not have there", printable(part))
	}
	out := make(map[string]MCPServer, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		switch {
		case !serverName.MatchString(name):
			return nil, wrong(name, "Choose another name.", "a name that is not made of letters, digits, - and _ (64 at most)")
		case s == nil:
			continue
		case s.Type != "" && s.Type != "stdio":
			return nil, wrong(name, form, "a type other than stdio: Loop starts servers as programs")
		case s.Command == "":
			return nil, wrong(name, "Name the program to start, as command.", "no command")
		}
		server, texts := MCPServer{Command: s.Command, Args: s.Args}, append([]string{s.Command}, s.Args...)
		for key, raw := range s.Env {
			v := freeValue(raw)
			switch v.(type) {
			case string, stdjson.Number, bool:
			default:
				key = ""
			}
			if key == "" || strings.Contains(key, "=") {
				return nil, wrong(name, "Correct it.", "an env that is not made of names and texts")
			}
			if server.Env == nil {
				server.Env = make(map[string]string, len(s.Env))
			}
			server.Env[key] = fmt.Sprint(v)
			texts = append(texts, key, server.Env[key])
		}
		if slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) }) {
			return nil, wrong(name, "Remove it.", "a NUL byte in a text")
		}
		out[name] = server
	}
	return out, nil
}
