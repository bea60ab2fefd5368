package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tailscale/hujson"
)

// serverName is what the agent CLI takes as the name of an MCP server; it
// becomes a part of the names of its tools.
var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// servers reads the object of MCP servers. A server that is null is not set.
func servers(obj *hujson.Object) (map[string]MCPServer, error) {
	out, seen := map[string]MCPServer{}, map[string]bool{}
	for i := range obj.Members {
		m := &obj.Members[i]
		name := memberName(m)
		if seen[name] {
			return nil, &placed{offset: m.Name.StartOffset, msg: fmt.Sprintf("has “%s” twice", printable(name)), remedy: "Keep one of them."}
		}
		seen[name] = true
		if !serverName.MatchString(name) {
			msg := fmt.Sprintf("has the name “%s”, which is not made of letters, digits, - and _ (64 at most)", printable(name))
			return nil, &placed{offset: m.Name.StartOffset, msg: msg, remedy: "Choose another name."}
		}
		if lit, ok := m.Value.Value.(hujson.Literal); ok && lit.Kind() == 'n' {
			continue
		}
		inner, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, &placed{offset: m.Value.StartOffset, msg: fmt.Sprintf("must have an object for “%s”", name),
				remedy: `Write it like {"command": "npx", "args": ["-y", "some-server"]}.`}
		}
		s, err := server(name, inner, m.Name.StartOffset)
		if err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
}

func server(name string, obj *hujson.Object, offset int) (MCPServer, error) {
	var s MCPServer
	seen := map[string]bool{}
	for i := range obj.Members {
		m := &obj.Members[i]
		part := memberName(m)
		bad := func(must string) error {
			return &placed{offset: m.Value.StartOffset, msg: fmt.Sprintf("has for “%s” a %s that must be %s", name, part, must),
				remedy: "Correct it."}
		}
		if seen[part] {
			return s, &placed{offset: m.Name.StartOffset, msg: fmt.Sprintf("has for “%s” the name “%s” twice", name, printable(part)),
				remedy: "Keep one of them."}
		}
		seen[part] = true
		switch part {
		case "command":
			lit, ok := m.Value.Value.(hujson.Literal)
			if !ok || lit.Kind() != '"' || lit.String() == "" || strings.ContainsRune(lit.String(), 0) {
				return s, bad("a text")
			}
			s.Command = lit.String()
		case "args":
			arr, ok := m.Value.Value.(*hujson.Array)
			if !ok {
				return s, bad("a list of texts")
			}
			for _, e := range arr.Elements {
				lit, ok := e.Value.(hujson.Literal)
				if !ok || lit.Kind() != '"' || strings.ContainsRune(lit.String(), 0) {
					return s, bad("a list of texts")
				}
				s.Args = append(s.Args, lit.String())
			}
		case "env":
			inner, ok := m.Value.Value.(*hujson.Object)
			if !ok {
				return s, bad("an object")
			}
			values, err := freeObject(inner)
			if err != nil {
				return s, err
			}
			for key, v := range values {
				text, ok := plain(v)
				if !ok || key == "" || strings.ContainsAny(key, "=\x00") || strings.ContainsRune(text, 0) {
					return s, bad("an object of names and texts")
				}
				if s.Env == nil {
					s.Env = map[string]string{}
				}
				s.Env[key] = text
			}
		case "type":
			if lit, ok := m.Value.Value.(hujson.Literal); !ok || lit.String() != "stdio" {
				return s, bad("stdio: Loop starts servers as programs")
			}
		default:
			return s, &placed{offset: m.Name.StartOffset, msg: fmt.Sprintf("has for “%s” the unknown name “%s”", name, printable(part)),
				remedy: "A server has command, args and env."}
		}
	}
	if s.Command == "" {
		return s, &placed{offset: offset, msg: fmt.Sprintf("has no command for “%s”", name), remedy: "Name the program to start, as command."}
	}
	return s, nil
}

// plain is a value of an environment variable as a text.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}
