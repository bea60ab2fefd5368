package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseRefusesWithAPlaceAndARemedy(t *testing.T) {
	for name, c := range map[string]struct {
		doc          string
		line, column int
		message      string
	}{
		"empty":                {" \n", 1, 1, "is empty"},
		"byte order mark":      {"\xef\xbb\xbf{}", 1, 1, "byte order mark"},
		"huge":                 {strings.Repeat(" ", MaxDocument+1), 1, MaxDocument + 1, "more than"},
		"not JSON":             {"{\n  \"name\": x}", 2, 11, "not JSON"},
		"cut":                  {`{"default_decision": "allow"`, 1, 29, "not JSON"},
		"invalid UTF-8":        {"{\"name\": \"\xff\"}", 1, 11, "not JSON"},
		"a list":               {"[]", 1, 1, "must be an object"},
		"null":                 {"null", 1, 1, "must be an object"},
		"no default":           {"{}", 1, 1, "no default_decision"},
		"trailing":             {"{\"default_decision\": \"allow\"}\n{}", 2, 1, "follows the policy"},
		"unknown key":          {"{\"default_decision\": \"allow\",\n\"Rules\": []}", 2, 1, `no key "Rules"`},
		"key of another case":  {`{"Default_Decision": "allow"}`, 1, 2, `no key "Default_Decision"`},
		"duplicate key":        {`{"name": "a", "name": "b"}`, 1, 15, "second time"},
		"duplicate in a rule":  {`{"default_decision": "allow", "file_rules": [{"decision": "deny", "decision": "allow"}]}`, 1, 67, "second time"},
		"decision":             {`{"default_decision": "ask"}`, 1, 22, "nobody knows this decision"},
		"decision of a rule":   {"{\"default_decision\": \"allow\", \"file_rules\": [\n {\"decision\": \"Deny\"}]}", 2, 15, "nobody knows"},
		"no decision":          {`{"default_decision": "allow", "file_rules": [{"paths": []}]}`, 1, 46, "no decision"},
		"wrong type":           {`{"default_decision": "allow", "file_rules": {}}`, 1, 45, "must be a list"},
		"null list":            {`{"default_decision": "allow", "file_rules": null}`, 1, 45, "must be a list"},
		"number":               {`{"default_decision": 1}`, 1, 22, "must be a text"},
		"operation":            {`{"default_decision": "allow", "file_rules": [{"operations": ["exec"], "decision": "deny"}]}`, 1, 62, "nobody knows this operation"},
		"glob":                 {`{"default_decision": "allow", "file_rules": [{"paths": ["/a", "/{b"], "decision": "deny"}]}`, 1, 63, "has no “}”"},
		"relative":             {`{"default_decision": "allow", "file_rules": [{"paths": ["~/a"], "decision": "deny"}]}`, 1, 57, "begins with"},
		"socket":               {`{"default_decision": "allow", "path_rules": [{"decision": "deny"}]}`, 1, 46, "no pattern"},
		"expression":           {`{"default_decision": "allow", "command_rules": [{"args_patterns": ["(?=a)"], "decision": "deny"}]}`, 1, 68, "is not valid"},
		"command":              {`{"default_decision": "allow", "command_rules": [{"commands": ["/bin/rm"], "decision": "deny"}]}`, 1, 63, "no slash"},
		"category":             {`{"default_decision": "allow", "file_rules": [{"category": "x", "decision": "deny"}]}`, 1, 59, "category"},
		"escape in message":    {`{"default_decision": "allow", "file_rules": [{"message": "\u001b[2J", "decision": "deny"}]}`, 1, 58, "control character"},
		"escape in advice":     {`{"default_decision": "allow", "file_rules": [{"advice": "\u001b[2J", "decision": "deny"}]}`, 1, 57, "control character"},
		"long id":              {`{"default_decision": "allow", "file_rules": [{"id": "` + strings.Repeat("x", maxID+1) + `", "decision": "deny"}]}`, 1, 53, "more than"},
		"long pattern":         {`{"default_decision": "allow", "file_rules": [{"paths": ["/` + strings.Repeat("x", maxPattern) + `"], "decision": "deny"}]}`, 1, 57, "at most"},
		"bidi in id":           {`{"default_decision": "allow", "file_rules": [{"id": "\u202ex", "decision": "deny"}]}`, 1, 53, "direction"},
		"tightens twice":       {`{"default_decision": "allow", "tighten": [{"tighten": []}]}`, 1, 44, `no key "tighten"`},
		"off":                  {`{"default_decision": "allow", "file_rules": [{"decision": "deny", "off": 1}]}`, 1, 74, "must be true or false"},
		"column of characters": {`{"name": "äöü", "x": 1}`, 1, 17, `no key "x"`},
	} {
		_, err := Parse([]byte(c.doc))
		var p *ParseError
		if !errors.As(err, &p) {
			t.Errorf("%s: %v, want a ParseError", name, err)
			continue
		}
		if p.Line != c.line || p.Column != c.column || !strings.Contains(p.Message, c.message) || p.Remedy == "" {
			t.Errorf("%s: %d:%d %s %s; want %d:%d … %s …", name, p.Line, p.Column, p.Message, p.Remedy, c.line, c.column, c.message)
		}
	}
}

func TestTooManyPatternsAreRefused(t *testing.T) {
	braces := "{" + strings.Repeat("x,", 15) + "y}"
	deep := strings.Repeat("/a", 200)
	p := Policy{DefaultDecision: Allow}
	for i := range 60 {
		p.FileRules = append(p.FileRules, FileRule{Decision: Deny, Paths: []string{"/" + strings.Repeat("z", i+1) + braces + braces + deep}})
	}
	for i := range p.FileRules { // other names for each alternative, so that no two share a node
		p.FileRules[i].Paths[0] = strings.NewReplacer("x,x,", "a,b,", "x", "c").Replace(p.FileRules[i].Paths[0])
	}
	p.FileRules = append(p.FileRules, distinct(700)...)
	doc := p.Encode()
	if _, err := Parse(doc); err == nil {
		t.Errorf("a policy of %d bytes that grows without bound is taken", len(doc))
	}
}

// distinct are rules whose alternatives have no node in common.
func distinct(n int) []FileRule {
	rules := make([]FileRule, n)
	for i := range rules {
		name := "/" + strings.Repeat("q", i%50+1) + string(rune('a'+i/50%26))
		rules[i] = FileRule{Decision: Deny, Paths: []string{name + "{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f}/x/y"}}
	}
	return rules
}

func TestEncodeIsReadBack(t *testing.T) {
	for _, name := range []string{NameAgent, NamePerson, NameSystem, NamePlan} {
		p := shipped(t, name)
		p = Merge(p, Policy{FileRules: []FileRule{{ID: "mine", Paths: []string{"/x\n<>"}, Decision: Allow}}},
			Policy{Name: "project", CommandRules: []CommandRule{{Commands: []string{"curl"}, Decision: Deny}}})
		back, err := Parse(p.Encode())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(back.Encode(), p.Encode()) {
			t.Errorf("%s is not what it was", name)
		}
		if len(p.Encode()) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(p.Encode()))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"default_decision": "allow", "file_rules": [{"paths": ["/{a,b}/**/[a-z]*"], "operations": ["write"], "decision": "deny"}]}`))
	f.Add([]byte(`{"default_decision": "deny", "path_rules": [{"pattern": "@x", "decision": "allow"}], "tighten": [{}]}`))
	f.Add([]byte(`{"default_decision": "approve", "command_rules": [{"commands": ["rm"], "args_patterns": ["-r"], "decision": "deny"}]}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, err := Parse(doc)
		if err != nil {
			var at *ParseError
			if !errors.As(err, &at) || at.Line < 1 || at.Column < 1 || at.Message == "" || at.Remedy == "" {
				t.Fatalf("%#v is no ParseError with a place", err)
			}
			return
		}
		e, err := Compile(p)
		if err != nil {
			t.Fatalf("parsed but not compiled: %v", err)
		}
		back, err := Parse(p.Encode())
		if err != nil || string(back.Encode()) != string(p.Encode()) {
			t.Fatalf("not read back: %v", err)
		}
		e.File(Write, "/a/b/\xff")
		e.Under(Delete, "/a")
		e.Connect("@x/../y")
		e.Exec(Command{Path: "/bin/rm", Argv: []string{"rm", "-r", "/"}})
	})
}
