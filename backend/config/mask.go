package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
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

// mask gives the text of a settings file with every credential hidden (see shown).
// The rest stays byte for byte.
func mask(data []byte) []byte {
	root, _, bad := parse("", data)
	if bad != nil {
		return loose.ReplaceAll(data, []byte(`${1}${3}`+Hidden))
	}
	eachValue(&root, nil, hide)
	return packed(root, data)
}

func hide(path []string, v *hujson.Value) {
	if text := shown(path, v.Value); text != plain(v.Value) {
		v.Value = hujson.String(text)
	}
}

// packed is the text of root without the line end that parse added.
func packed(root hujson.Value, data []byte) []byte {
	out := bytes.TrimSuffix(root.Pack(), []byte("\n"))
	if bytes.HasPrefix(data, bom) {
		out = append(bytes.Clone(bom), out...)
	}
	return out
}

// eachValue calls do for every value that is no object, with its path of names, which do
// must not keep: deep nesting would need memory by the square of its depth.
func eachValue(v *hujson.Value, path []string, do func(path []string, v *hujson.Value)) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		do(path, v)
		return
	}
	for i := range obj.Members {
		m := &obj.Members[i]
		eachValue(&m.Value, append(path, memberName(m)), do)
	}
}

// plain is a text without its quotes; of another value it is its JSON.
func plain(v hujson.ValueTrimmed) string {
	if lit, ok := v.(hujson.Literal); ok {
		return lit.String()
	}
	return hujson.Value{Value: v}.String()
}

// shown is what people see of the value at a path. Credentials are hidden: the
// fields made for them, environment variables named like one (core.NamesSecret), and
// who somebody is in the address of a proxy or in an environment variable.
func shown(path []string, v hujson.ValueTrimmed) string {
	text := plain(v)
	switch {
	case v.Kind() == 'n' || text == "" || len(path) == 0:
	case len(path) == 1 && (path[0] == CredentialAPIKey || path[0] == CredentialOAuth):
		return Hidden
	case len(path) >= 2 && path[0] == "envs":
		return shownEnv(path[1], text)
	case len(path) >= 5 && path[0] == "mcp" && path[3] == "env":
		return shownEnv(path[4], text)
	case len(path) == 2 && path[0] == "proxies" && hasPassword(text):
		return hideUser(text)
	}
	return text
}

// shownEnv is the value of an environment variable for people.
func shownEnv(name, value string) string {
	switch {
	case core.NamesSecret(name):
		return Hidden
	case core.HoldsLogin(value):
		return hideUser(value)
	}
	return value
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
	if u, err := url.Parse(address); err != nil || u.User == nil || u.Scheme == "" {
		return Hidden // without a scheme the cut was elsewhere
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
func isHidden(v hujson.ValueTrimmed) bool {
	return v.Kind() == '"' && (plain(v) == Hidden || strings.Contains(plain(v), Hidden+"@"))
}

// loose finds credentials in a text that is not whole: the name of one, and
// what follows up to the end of its text or line.
var loose = regexp.MustCompile(`(?i)((?:` + CredentialAPIKey + `|` + CredentialOAuth +
	`|[A-Z0-9_-]*(?:` + core.SecretNameEndings + `))["']?` +
	`\s*[:=]\s*)("(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[^\s,}\]]+)` +
	`|sk-ant-[A-Za-z0-9_-]+|(://)[^/@\s"]+@`)

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
	have := map[string]hujson.ValueTrimmed{}
	if old, _, bad := parse(path, present); bad == nil {
		eachValue(&old, nil, func(path []string, v *hujson.Value) { have[strings.Join(path, ".")] = v.Value })
	}
	missing := ""
	eachValue(&root, nil, func(path []string, v *hujson.Value) {
		name := strings.Join(path, ".")
		old, ok := have[name]
		switch {
		case !isHidden(v.Value):
		case ok && (plain(v.Value) == Hidden || plain(v.Value) == shown(path, old)): // else it is hidden of another proxy
			v.Value = old
		case missing == "":
			missing = name
		}
	})
	switch {
	case missing != "" && !drop:
		return nil, core.Fail(core.CodeInvalid, nil, fmt.Sprintf("“%s” is hidden in the text, and the file has no value for it.",
			printable(missing)), "Type the value in its place, or remove the line.")
	case missing != "":
		dropHidden(&root)
	}
	return packed(root, text), nil
}

// dropHidden removes the members whose value is still hidden.
func dropHidden(v *hujson.Value) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	for i := len(obj.Members) - 1; i >= 0; i-- {
		if isHidden(obj.Members[i].Value.Value) {
			remove(obj, i, "\n")
			continue
		}
		dropHidden(&obj.Members[i].Value)
	}
}

// visible makes characters seen that a viewer would not show or would show in
// another order, so that what a person approves is what is in the file.
func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	odd := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
			unicode.Co) || unicode.IsSpace(r) && r != ' ')
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

// Shown is the field's value in c for people: credentials in it are Hidden.
// The field must hold a value itself (see Leaves).
func (f Field) Shown(c Config) (out any) {
	v := f.in(&c)
	switch k := v.Kind(); {
	case k == reflect.Slice && v.IsNil():
		return []string{}
	case k == reflect.Map && v.IsNil():
		return map[string]any{}
	case k != reflect.String && k != reflect.Map:
		return v.Interface()
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return Hidden // what was read from JSON always encodes
	}
	root, _ := hujson.Parse(raw)
	eachValue(&root, strings.Split(f.Name, "."), hide)
	dec := json.NewDecoder(bytes.NewReader(root.Pack()))
	dec.UseNumber() // as it was written
	_ = dec.Decode(&out)
	return out
}

// Said is the value that the layer's file gives a field, in force or not, as it was
// written, credentials hidden.
func (l Layer) Said(f Field) (value any, from core.SettingsOrigin, ok bool) {
	if !l.doc.has(f.Name) {
		return nil, core.SettingsOrigin{}, false
	}
	return f.Shown(l.doc.written), l.doc.origin(l.Name, l.Path, f.Name), true
}
