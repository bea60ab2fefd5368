package browser

import (
	"encoding/json"
	"fmt"
	"strings"

	"loop/backend/core"
)

// deedOf says in a few words what the agent did, as the pane shows it after its name;
// empty for what there is nothing to show of.
func deedOf(a core.BrowserAction, t *core.BrowserTarget) string {
	var p struct {
		Action, URL, Text, Key, Value, Query string
	}
	_ = json.Unmarshal(a.Params, &p) // what is of another type stays out of the words
	on := ""
	if t != nil && t.Name != "" {
		on = " “" + cut(t.Name, 40) + "”"
	} else if t != nil && t.Role != "" {
		on = " a " + cut(t.Role, 40)
	}
	switch a.Action {
	case "navigate", "new_tab":
		return "opened " + cut(strings.TrimPrefix(strings.TrimPrefix(p.URL, "https://"), "http://"), 60)
	case "form_input":
		return "filled in" + on
	case "go_back":
		return "went back"
	case "go_forward":
		return "went forward"
	case "reload":
		return "reloaded the page"
	case "switch_tab":
		return "changed to another tab"
	case "close_tab":
		return "closed a tab"
	case "evaluate", "evaluate_js":
		return "ran a script"
	case "find":
		return fmt.Sprintf("looked for “%s”", cut(p.Query, 40))
	case "read_page", "get_page_text", "get_element_refs":
		return "read the page"
	case "screenshot":
		return "took a screenshot"
	case "read_console_messages", "read_console":
		return "read the console"
	case "read_network_requests", "read_network":
		return "read the network log"
	case "resize_window":
		return "changed the size"
	case "mouse_click", "click_ref":
		return "clicked" + on
	case "type_text":
		return "typed"
	case "key_press":
		return "pressed " + cut(p.Key, 20)
	case "mouse_scroll", "scroll_into_view":
		return "scrolled"
	case "computer":
		return pointerDeed(p.Action, p.Text, on)
	}
	return ""
}

func pointerDeed(action, text, on string) string {
	switch action {
	case "click", "right_click", "double_click", "triple_click":
		return strings.TrimSuffix(strings.ReplaceAll(action, "_click", "-click"), "click") + "clicked" + on
	case "type":
		return "typed" + on
	case "key":
		return "pressed " + cut(text, 20)
	case "scroll", "scroll_to":
		return "scrolled" + on
	case "move", "hover":
		return "pointed at" + on
	case "left_click_drag":
		return "dragged" + on
	case "screenshot":
		return "took a screenshot"
	}
	return ""
}
