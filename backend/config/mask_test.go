package config

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

const secretText = `// mine
{
  "anthropic_api_key": "sk-CANARY1", // note
  "claude_code_oauth_token": "CANARY2",
  "envs": {"GITHUB_TOKEN": "CANARY3", "EDITOR": "vi", "DB_PASSWORD": 123456789, "MONKEY_BUSINESS": "shown"},
  "proxies": {"http_proxy": "http://me:CANARY4@p:1", "https_proxy": "http://p:1"},
  "mcp": {"servers": {"x": {"command": "c", "env": {"API_KEY": "CANARY5", "LANG": "C"}}}},
}`

func TestMask(t *testing.T) {
	got := string(mask([]byte(secretText)))
	if strings.Contains(got, "CANARY") || strings.Contains(got, "123456789") || strings.Count(got, Hidden) != 6 {
		t.Errorf("%s", got)
	}
	for _, kept := range []string{"// mine", "// note", `"EDITOR": "vi"`, `"MONKEY_BUSINESS": "shown"`, `"https_proxy": "http://p:1"`, `"LANG": "C"`} {
		if !strings.Contains(got, kept) {
			t.Errorf("%s is gone: %s", kept, got)
		}
	}
	if back, err := unmask("c", []byte(got), []byte(secretText), false); err != nil || string(back) != secretText {
		t.Errorf("%v\n%s", err, back)
	}
	lists := `{"envs": {"A_TOKEN": ["CANARY6"], "B_TOKEN": {"of": "CANARY7"}, "C": ["shown"]}}`
	got = string(mask([]byte(lists)))
	if strings.Contains(got, "CANARY") || !strings.Contains(got, "shown") {
		t.Errorf("%s", got)
	}
	if back, err := unmask("c", []byte(got), []byte(lists), false); err != nil || string(back) != lists {
		t.Errorf("%v\n%s", err, back)
	}
	for _, f := range leaves() {
		if text, _ := json.Marshal(f.Shown(decode("c", []byte(lists)).config)); bytes.Contains(text, []byte("CANARY")) {
			t.Errorf("%s shows %s", f.Name, text)
		}
	}
	if got := mask([]byte(`{"theme": "dark"}`)); string(got) != `{"theme": "dark"}` {
		t.Errorf("%s", got)
	}
	// In an incomplete text more may be hidden, but never less.
	for _, cut := range []int{len(secretText) - 1, len(secretText) - 60, 120, 60} {
		if got := mask([]byte(secretText[:cut])); bytes.Contains(got, []byte("CANARY")) {
			t.Errorf("%s", got)
		}
	}
	if got := mask([]byte("{ anthropic_api_key: sk-CANARY\n 'x': sk-ant-CANARY \"y\" \"http://me:CANARY@p\"")); bytes.Contains(got, []byte("CANARY")) {
		t.Errorf("%s", got)
	}
}

// TestTheHostOfAProxyIsShown: a person who approves a project's proxy sees its host.
// Only the login is hidden.
func TestTheHostOfAProxyIsShown(t *testing.T) {
	for address, want := range map[string]string{
		"http://me:CANARY@evil.example:3128":  "http://" + Hidden + "@evil.example:3128",
		"socks5h://CANARY@evil.example/p@th":  "socks5h://" + Hidden + "@evil.example/p@th",
		"http://a@good.example:CANARY@evil:1": "http://" + Hidden + "@evil:1",
		"me:CANARY@evil.example:3128":         Hidden + "@evil.example:3128",
		"http://me:CAN/ARY@evil.example:3128": Hidden,
		"http://p:1/a@b":                      "http://p:1/a@b",
		"http://evil.example:3128":            "http://evil.example:3128",
	} {
		text := `{"proxies": {"http_proxy": "` + address + `"}}`
		got := string(mask([]byte(text)))
		if got != `{"proxies": {"http_proxy": "`+want+`"}}` {
			t.Errorf("%s is shown as %s", address, got)
		}
		for _, drop := range []bool{false, true} {
			if back, err := unmask("c", []byte(got), []byte(text), drop); err != nil || string(back) != text {
				t.Errorf("%s came back as %s, %v", address, back, err)
			}
		}
	}
	// A hidden login belongs to its address. For another address it has to be typed
	// again.
	moved := []byte(`{"proxies": {"http_proxy": "http://` + Hidden + `@other:1"}}`)
	text := []byte(`{"proxies": {"http_proxy": "http://me:CANARY@p:1"}}`)
	if out, err := unmask("c", moved, text, false); err == nil {
		t.Errorf("%s", out)
	}
	if out, err := unmask("c", moved, text, true); err != nil || bytes.Contains(out, []byte("proxy")) && bytes.Contains(out, []byte(Hidden)) {
		t.Errorf("%s %v", out, err)
	}
	// In older stored texts the whole address is hidden. Such a text can still be
	// restored.
	if out, err := unmask("c", []byte(`{"proxies": {"http_proxy": "`+Hidden+`"}}`), text, false); err != nil || !bytes.Equal(out, text) {
		t.Errorf("%s %v", out, err)
	}
}

// TestLoginsInAddressesAreHidden: an address in an environment variable may hold a
// password, like a proxy's.
// TestMaskOfAHostileFile: a project's file is read at every start, before anybody
// approved it. It can neither end Loop nor take its memory.
func TestMaskOfAHostileFile(t *testing.T) {
	for _, address := range []string{"//u@h/a://b", "//u@h/a://b/x://c@d", "x:y@z://a", "@://", "u@h://"} {
		_ = mask([]byte(`{"envs": {"A": "` + address + `"}}`))
		if masked := string(mask([]byte(`{"proxies": {"http_proxy": "` + address + `"}}`))); strings.Contains(masked, "u@h") {
			t.Errorf("%s is shown in %s", address, masked)
		}
	}
	const depth = 99_000
	deep := []byte(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := mask(deep); !bytes.Equal(got, deep) {
		t.Error("the text is another one")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 512<<20 {
		t.Errorf("%d MiB for a text of %d KiB", took>>20, len(deep)>>10)
	}
}

func TestLoginsInAddressesAreHidden(t *testing.T) {
	text := `{"envs": {"DATABASE_URL": "postgres://me:CANARY@db:5432/x", "MONGO": "mongodb://me:CANARY@a:1,b:2/x", "GPG_PASSPHRASE": "CANARY", "PLAIN": "https://example.com/@x", "MAIL": "me@example.com", "NEXT": "http://me@a/?n=http://me:CANARY@b"},
		"mcp": {"servers": {"x": {"command": "c", "env": {"DSN": "mysql://me:CANARY@db/x"}}}}}`
	got := string(mask([]byte(text)))
	for _, part := range []string{`"postgres://` + Hidden + `@db:5432/x"`, `"https://example.com/@x"`, `"me@example.com"`, `"mysql://` + Hidden + `@db/x"`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is not in %s", part, got)
		}
	}
	if strings.Contains(got, "CANARY") {
		t.Errorf("%s", got)
	}
	if back, err := unmask("c", []byte(got), []byte(text), false); err != nil || string(back) != text {
		t.Errorf("%v\n%s", err, back)
	}
	doc := decode("c", []byte(text))
	for _, f := range leaves() {
		if shown, _ := json.Marshal(f.Shown(doc.config)); bytes.Contains(shown, []byte("CANARY")) {
			t.Errorf("%s shows %s", f.Name, shown)
		}
	}
}

func TestUnmask(t *testing.T) {
	text := `{"anthropic_api_key": "` + Hidden + `", "envs": {"A_TOKEN": "` + Hidden + `", "B": "x"}}`
	if _, err := unmask("c", []byte(text), []byte(`{"anthropic_api_key": "sk-1"}`), false); err == nil || !strings.Contains(err.Error(), "envs.A_TOKEN") {
		t.Errorf("%v", err)
	}
	out, err := unmask("c", []byte(text), []byte(`{"anthropic_api_key": "sk-1"}`), true)
	if err != nil || string(out) != `{"anthropic_api_key": "sk-1", "envs": { "B": "x"}}` {
		t.Errorf("%s %v", out, err)
	}
	if _, err := unmask("c", []byte(`{"`+Hidden), nil, true); err == nil {
		t.Error("a broken text passed")
	}
}

func TestVisible(t *testing.T) {
	if got := visible("a\r\nb\u202e\x1b[31m\u200bé\u00a0\t\n"); got != "a\nb‹U+202E›‹U+001B›[31m‹U+200B›é‹U+00A0›\t\n" {
		t.Errorf("%q", got)
	}
}

// FuzzMask: every credential of a whole text is hidden, and hiding can be undone.
func FuzzMask(f *testing.F) {
	f.Add([]byte(secretText))
	f.Add([]byte(`{"envs": {"A": "http://a@b/?http://c@d", "B": "x://u:p@h"}}`))
	f.Add([]byte(`{"envs": {"A_KEY": "x"}, "mcp": {"servers": null}}`))
	f.Add([]byte(`{"proxies": {"http_proxy": "a@b"}, "envs": 1`))
	f.Add([]byte(`{"proxies": {"http_proxy": "//u@h/a://b"}, "envs": {"A": "//u@h/a://b/x://c@d"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		masked := mask(data)
		before, _, bad := parse("", data)
		if bad != nil {
			return
		}
		after, _, bad := parse("", masked)
		if bad != nil {
			t.Fatalf("the masked text is broken: %s", masked)
		}
		var hidden []string
		eachValue(&before, nil, func(path []string, v *hujson.Value) { hidden = append(hidden, shown(path, v.Value)) })
		eachValue(&after, nil, func(path []string, v *hujson.Value) {
			if len(hidden) == 0 || plain(v.Value) != hidden[0] {
				t.Fatalf("%q is not hidden as it should be", path)
			}
			hidden = hidden[1:]
		})
		if len(hidden) != 0 {
			t.Errorf("%d more were there", len(hidden))
		}
		doc := decode("c", data)
		if failure(doc.problems) != nil {
			return
		}
		back, err := unmask("c", masked, data, false)
		if err != nil {
			t.Fatal(err)
		}
		a, b := decode("c", back), doc
		x, _ := json.Marshal(a.config.Envs)
		y, _ := json.Marshal(b.config.Envs)
		if !bytes.Equal(x, y) || a.config.AnthropicAPIKey != b.config.AnthropicAPIKey {
			t.Errorf("%s became %s", data, back)
		}
	})
}
