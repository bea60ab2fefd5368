package config

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"loop/backend/core"
)

// Hidden stands for a value that is not shown. Text with it can be given back:
// the value that the file has at that place then stays (see unmask).
const Hidden = "•••hidden•••"

// mask gives the text of a settings file with every credential hidden: the
// fields made for them, environment variables named like one, and who somebody
// is in the address of a proxy or in an environment variable. The rest stays byte for byte.
func mask(data []byte) []byte {
	root, _, bad := parse("", data)
	if bad != nil {
		return maskLoosely(data)
	}
	walkSecrets(&root, func(name string, v *hujson.Value) { v.Value = hide(name, *v) })
	return packed(root, data)
}

// packed is the text of root without the line end that parse added.
func packed(root hujson.Value, data []byte) []byte {
	out := bytes.TrimSuffix(root.Pack(), []byte("\n"))
	if bytes.HasPrefix(data, bom) {
		out = append(bytes.Clone(bom), out...)
	}
	return out
}

// walkSecrets calls do for every value in the file that is to be hidden, with
// its path of names.
func walkSecrets(root *hujson.Value, do func(path string, v *hujson.Value)) {
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		return
	}
	text := func(path string, v *hujson.Value) {
		if lit, ok := v.Value.(hujson.Literal); ok && (lit.Kind() == '"' && lit.String() != "" || lit.Kind() == '0') {
			do(path, v)
		}
	}
	envs := func(path string, v *hujson.Value) {
		for _, m := range members(v) {
			lit, _ := m.Value.Value.(hujson.Literal)
			if core.NamesSecret(memberName(m)) || lit.Kind() == '"' && (core.HoldsLogin(lit.String()) || isHidden(lit.String())) {
				text(path+"."+memberName(m), &m.Value)
			}
		}
	}
	for i := range obj.Members {
		m := &obj.Members[i]
		switch name := memberName(m); name {
		case CredentialAPIKey, CredentialOAuth:
			text(name, &m.Value)
		case "envs":
			envs(name, &m.Value)
		case "proxies":
			for _, p := range members(&m.Value) {
				if lit, ok := p.Value.Value.(hujson.Literal); ok && lit.Kind() == '"' && (hasPassword(lit.String()) || isHidden(lit.String())) {
					text(name+"."+memberName(p), &p.Value)
				}
			}
		case "mcp":
			for _, s := range members(&m.Value) {
				for _, server := range members(&s.Value) {
					for _, part := range members(&server.Value) {
						if memberName(part) == "env" {
							envs("mcp.servers."+memberName(server)+".env", &part.Value)
						}
					}
				}
			}
		}
	}
}

func members(v *hujson.Value) []*hujson.ObjectMember {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	out := make([]*hujson.ObjectMember, len(obj.Members))
	for i := range obj.Members {
		out[i] = &obj.Members[i]
	}
	return out
}

func hasPassword(address string) bool {
	if !strings.Contains(address, "@") {
		return false
	}
	u, err := url.Parse(address)
	return err != nil || u.User != nil || !strings.Contains(address, "://") // me:word@host, which parses as something else
}

// hideUser hides who somebody is to a proxy and shows where the proxy is: it is
// what a person approves. An address that cannot be taken apart is hidden whole.
func hideUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return Hidden + address[strings.LastIndexByte(address, '@'):]
	}
	if u, err := url.Parse(address); err != nil || u.User == nil {
		return Hidden
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	rest = rest[strings.LastIndexByte(rest[:end], '@'):]
	if core.HoldsLogin(rest) {
		return Hidden // an address within the address
	}
	return scheme + "://" + Hidden + rest
}

// isHidden reports whether a value is one that mask made.
func isHidden(s string) bool { return s == Hidden || strings.Contains(s, Hidden+"@") }

// hide is the value that stands for the one of this name.
func hide(name string, v hujson.Value) hujson.Literal {
	lit, ok := v.Value.(hujson.Literal)
	if ok && lit.Kind() == '"' && name != CredentialAPIKey && name != CredentialOAuth && !core.NamesSecret(name) && lit.String() != Hidden {
		return hujson.String(hideUser(lit.String()))
	}
	return hujson.String(Hidden)
}

// loose finds credentials in a text that is not whole: the name of one, and
// what follows up to the end of its text or line.
var loose = regexp.MustCompile(`(?i)((?:` + CredentialAPIKey + `|` + CredentialOAuth +
	`|[A-Z0-9_-]*(?:` + core.SecretNameEndings + `))["']?` +
	`\s*[:=]\s*)("(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s,}\]]+)` +
	`|sk-ant-[A-Za-z0-9_-]+|(://)[^/@\s"]+@`)

func maskLoosely(data []byte) []byte {
	return loose.ReplaceAll(data, []byte(`${1}${3}`+Hidden))
}

// unmask puts the values of the present file back where text has Hidden.
// Where the present file has none, drop removes the member; otherwise that is
// an error with the name.
func unmask(path string, text, present []byte, drop bool) ([]byte, error) {
	if !bytes.Contains(text, []byte(Hidden)) {
		return text, nil
	}
	root, _, bad := parse(path, text)
	if bad != nil {
		return nil, core.Fail(core.CodeConfig, nil, "The text has an error in line "+strconv.Itoa(bad.Line)+": "+bad.Message, bad.Remedy)
	}
	have := map[string]hujson.Value{}
	if old, _, bad := parse(path, present); bad == nil {
		walkSecrets(&old, func(name string, v *hujson.Value) { have[name] = v.Clone() })
	}
	missing := ""
	walkSecrets(&root, func(name string, v *hujson.Value) {
		lit, _ := v.Value.(hujson.Literal)
		if !isHidden(lit.String()) {
			return
		}
		// What is hidden of a proxy is not for another one.
		if old, ok := have[name]; ok && (lit.String() == Hidden || lit.String() == hide(name, old).String()) {
			v.Value = old.Value
			return
		}
		if missing == "" {
			missing = name
		}
	})
	out := packed(root, text)
	if missing == "" {
		return out, nil
	}
	if !drop {
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is hidden in the text, and the file has no value for it.",
			printable(missing)), "Type the value in its place, or remove the line.")
	}
	return dropHidden(out)
}

// dropHidden removes the members whose value is still hidden.
func dropHidden(text []byte) ([]byte, error) {
	root, _, bad := parse("", text)
	if bad != nil {
		return nil, fmt.Errorf("parse restored text: %s", bad.Message)
	}
	var walk func(v *hujson.Value)
	walk = func(v *hujson.Value) {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			return
		}
		for i := len(obj.Members) - 1; i >= 0; i-- {
			if lit, ok := obj.Members[i].Value.Value.(hujson.Literal); ok && lit.Kind() == '"' && isHidden(lit.String()) {
				remove(obj, i)
				continue
			}
			walk(&obj.Members[i].Value)
		}
	}
	walk(&root)
	return packed(root, text), nil
}

// visible makes characters seen that a viewer would not show or would show in
// another order, so that what a person approves is what is in the file.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	odd := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Co) || unicode.IsSpace(r) && r != ' ')
	}
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if odd(r) {
			fmt.Fprintf(&b, "‹U+%04X›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
