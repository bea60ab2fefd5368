//go:build chrome

package chrome

import (
	"testing"

	"loop/backend/core"
)

// TestWireNames does each act by the name that the original's clients have for it.
func TestWireNames(t *testing.T) {
	r := start(t, Options{})
	used := map[string]bool{}
	does := func(name string, params obj) core.BrowserResult {
		used[name] = true
		return r.must(name, params)
	}
	r.open("form.html")
	if p := does("get_page_info", nil).Page; p == nil || p.Width != 1280 || p.Title != "Form" {
		t.Errorf("page %+v", p)
	}
	refs := does("get_element_refs", nil).Elements
	var field, send core.BrowserElement
	for _, e := range refs {
		switch e.Name {
		case "Name":
			field = e
		case "Send":
			send = e
		}
	}
	if field.Width == 0 || send.Ref == 0 {
		t.Fatalf("elements %+v", refs)
	}
	does("mouse_click", obj{"x": field.X + 5, "y": field.Y + 5, "button": "left", "click_count": 3})
	does("type_text", obj{"text": "Ada"})
	does("key_press", obj{"key": "Tab"})
	r.has(does("evaluate_js", obj{"expression": `document.getElementById("name").value + document.activeElement.id`}).Result, "Adanote")
	for _, params := range []obj{{"ref": send.Ref}, {"ref_index": send.Ref}, {"refs": refs, "ref_index": index(refs, send) + 1}} {
		r.eval(`document.getElementById("out").textContent = ""`)
		does("click_ref", params)
		r.has(r.eval(`document.getElementById("out").textContent`), `"name":"Ada"`)
	}
	r.fails("needs ref", "click_ref", nil)
	r.open("canvas.html")
	does("mouse_move", obj{"x": 50, "y": 50})
	does("mouse_down", obj{"x": 50, "y": 50})
	for i := range 6 {
		does("mouse_move", obj{"x": 60 + 10*i, "y": 60})
	}
	does("mouse_up", obj{"x": 120, "y": 60})
	r.has(r.eval(`document.title`), "Canvas drawn")
	r.open("long.html")
	does("mouse_scroll", obj{"delta_x": 0, "delta_y": 300})
	r.has(r.eval(`scrollY`), "300")
	tb, err := r.current()
	if err != nil {
		t.Fatal(err)
	}
	e, err := tb.element(r.ref("At the end"))
	if err != nil {
		t.Fatal(err)
	}
	does("scroll_into_view", obj{"backend_node_id": e.backend})
	r.has(r.eval(`scrollY > 10000`), "true")
	r.fails("no visible element", "scroll_into_view", obj{"backend_node_id": 99999999})
	r.open("log.html")
	r.has(does("read_console", obj{"limit": 100}).Result, "plain")
	r.has(does("read_network", obj{"limit": 50}).Result, "log.html")
	for _, a := range wireActions {
		if !used[a.name] {
			t.Errorf("%s was not used", a.name)
		}
	}
}

func index(all []core.BrowserElement, e core.BrowserElement) int {
	for i := range all {
		if all[i].Ref == e.Ref {
			return i
		}
	}
	return -1
}
