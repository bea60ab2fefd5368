package chrome

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"loop/backend/core"
)

func FuzzReadPopup(f *testing.F) {
	for _, s := range []string{
		`{"kind":"select","x":1,"y":2,"width":3,"height":4,"options":[{"label":"One","chosen":true},{"label":"Two","group":"g","disabled":true}]}`,
		`{"kind":"input","input":"color","value":"#336699"}`, `{"kind":"menu","x":1e9,"y":-1,"link":"javascript:1"}`,
		`{"kind":"cursor","value":"pointer"}`, `{"kind":"cursor","value":"url(http://x)"}`, `{"kind":7}`, `[]`, ``,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		p, cursor, ok := readPopup(payload)
		if !ok {
			return
		}
		if (cursor != "") == (p.Kind != "") {
			t.Fatalf("cursor %q and popup %+v", cursor, p)
		}
		if len(p.Options) > maxOptions || len(p.Link) > maxURL || len(p.Value) > 100 || strings.ContainsAny(p.Link, "\r\n") {
			t.Fatalf("not bounded: %+v", p)
		}
		for _, o := range p.Options {
			if len(o.Label) > maxOption || len(o.Group) > maxOption {
				t.Fatalf("not bounded: %+v", o)
			}
		}
		if p.Link != "" && !strings.HasPrefix(p.Link, "http://") && !strings.HasPrefix(p.Link, "https://") {
			t.Fatalf("a link of a menu is opened and copied: %q", p.Link)
		}
	})
}

func TestAPopupIsBounded(t *testing.T) {
	many := core.BrowserPopup{Kind: "select"}
	for range 1000 {
		many.Options = append(many.Options, core.BrowserOption{Label: strings.Repeat("x", 300)})
	}
	raw, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	p, _, ok := readPopup(string(raw))
	if !ok || len(p.Options) != maxOptions || len(p.Options[0].Label) > maxOption {
		t.Errorf("%v, %d options", ok, len(p.Options))
	}
	if _, _, ok := readPopup(`{"kind":"menu","value":"` + strings.Repeat("x", maxPopup) + `"}`); ok {
		t.Error("a flood was read")
	}
}
