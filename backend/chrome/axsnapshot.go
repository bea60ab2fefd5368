package chrome

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"loop/backend/core"
)

// Bounds of what is read of a page.
const (
	maxSnapshot = 40_000 // characters
	maxAXNodes  = 50_000 // of a page
	maxName     = 200
	maxBoxes    = 500 // elements whose boxes are asked for
	maxIndent   = 12
	maxInPage   = 200 // frames that are read
)

// axNode is what is used of a node of the accessibility tree; cdproto's would keep all of it.
type axNode struct {
	NodeID      string       `json:"nodeId"`
	Ignored     bool         `json:"ignored"`
	Role        axValue      `json:"role"`
	Name        axValue      `json:"name"`
	Description axValue      `json:"description"`
	Value       axValue      `json:"value"`
	Properties  []axProperty `json:"properties"`
	ChildIDs    []string     `json:"childIds"`
	Backend     int64        `json:"backendDOMNodeId"`
}

type axValue struct {
	Value jsontext.Value `json:"value"`
}

type axProperty struct {
	Name  string  `json:"name"`
	Value axValue `json:"value"`
}

func (v axValue) text(most int) string {
	if len(v.Value) == 0 {
		return ""
	}
	var s string
	if v.Value.Kind() == '"' {
		if json.Unmarshal(v.Value, &s, loose) != nil {
			return ""
		}
	} else {
		s = string(v.Value)
	}
	return line(s, most)
}

// interactive are the roles of what can be acted on.
var interactive = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "listbox": true, "option": true,
	"checkbox": true, "radio": true, "switch": true, "slider": true, "spinbutton": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "tab": true, "treeitem": true, "gridcell": false,
	"Date": true, "DateTime": true, "InputTime": true, "ColorWell": true, "Canvas": true, "DisclosureTriangle": true,
	"PopUpButton": true, "MenuListPopup": false, "textField": true, "TextFieldWithComboBox": true, "Video": true, "Audio": true,
}

// silent are roles that say nothing by themselves.
var silent = map[string]bool{"generic": true, "none": true, "presentation": true, "InlineTextBox": true, "LineBreak": true,
	"ListMarker": true}

// states are the properties that are shown, with what they are when nothing is to be said.
var states = []struct{ name, usual string }{
	{"checked", ""}, {"pressed", ""}, {"selected", "false"}, {"expanded", ""}, {"disabled", "false"}, {"required", "false"},
	{"invalid", "false"}, {"readonly", "false"}, {"focused", "false"}, {"level", ""}, {"multiselectable", "false"},
}

// axFrame is a frame's tree.
type axFrame struct {
	session, id string
	nodes       map[string]*axNode
	root        *axNode
	inside      map[int64]*axFrame // by the element that holds it
}

// reading makes lines out of a page.
type reading struct {
	t        *tab
	out      strings.Builder
	elements []core.BrowserElement
	cut      int // lines that did not fit
	want     func(role, name, description string) bool
	most     int    // elements; 0 for no bound
	loader   string // of the document that is read
}

type frameTree struct {
	Frame struct {
		ID string `json:"id"`
	} `json:"frame"`
	ChildFrames []frameTree `json:"childFrames"`
}

// tree reads the accessibility trees of a page's frames. Those that cannot be read are
// left out.
func (t *tab) tree(ctx context.Context) (*axFrame, error) {
	budget, frames := maxAXNodes, maxInPage
	main, err := t.trees(ctx, t.session, &budget, &frames)
	if err != nil {
		return nil, err
	}
	t.b.mu.Lock()
	sessions := make([]string, 0, len(t.frames))
	for _, s := range t.frames {
		sessions = append(sessions, s)
	}
	t.b.mu.Unlock()
	all := map[string]map[int64]*axFrame{t.session: main.inside}
	type placed struct {
		owner node
		f     *axFrame
	}
	var others []placed
	for _, s := range sessions { // frames with a process of their own
		o, err := t.owner(ctx, s)
		if err != nil {
			continue
		}
		f, err := t.trees(ctx, s, &budget, &frames)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		all[s] = f.inside
		others = append(others, placed{o, f})
	}
	for _, p := range others {
		if in := all[p.owner.session]; in != nil {
			in[p.owner.backend] = p.f
		}
	}
	return main, nil
}

// trees reads the frames of one session. The frames inside the first one are found by the
// elements that hold them, however deep.
func (t *tab) trees(ctx context.Context, session string, budget, frames *int) (*axFrame, error) {
	var got struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err := t.callIn(ctx, session, page.CommandGetFrameTree, nil, &got); err != nil {
		return nil, err
	}
	inside := map[int64]*axFrame{}
	var first *axFrame
	var walk func(ft frameTree) error
	walk = func(ft frameTree) error {
		if *frames--; *frames < 0 || *budget <= 0 {
			return nil
		}
		f, err := t.axTree(ctx, session, ft.Frame.ID, budget)
		if err != nil {
			if first == nil || ctx.Err() != nil {
				return err
			}
			return nil
		}
		f.inside = inside
		if first == nil {
			first = f
		} else {
			var o struct {
				Backend int64 `json:"backendNodeId"`
			}
			if err := t.callIn(ctx, session, dom.CommandGetFrameOwner, obj{"frameId": ft.Frame.ID}, &o); err == nil {
				inside[o.Backend] = f
			}
		}
		for _, c := range ft.ChildFrames {
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(got.FrameTree); err != nil {
		return nil, err
	}
	return first, nil
}

func (t *tab) axTree(ctx context.Context, session, frame string, budget *int) (*axFrame, error) {
	var got struct {
		Nodes []*axNode `json:"nodes"`
	}
	if err := t.callIn(ctx, session, accessibility.CommandGetFullAXTree, obj{"frameId": frame}, &got); err != nil {
		return nil, err
	}
	f := &axFrame{session: session, id: frame, nodes: make(map[string]*axNode, len(got.Nodes))}
	for i, n := range got.Nodes {
		if n == nil {
			continue
		}
		if *budget--; *budget < 0 {
			break
		}
		if i == 0 {
			f.root = n
		}
		f.nodes[n.NodeID] = n
	}
	return f, nil
}

// read goes through a frame's tree. Every node is visited once, whatever the tree says.
func (r *reading) read(f *axFrame, n *axNode, depth int, above string) {
	if n == nil || depth > 400 {
		return
	}
	if _, ok := f.nodes[n.NodeID]; !ok {
		return
	}
	delete(f.nodes, n.NodeID)
	role, name := n.Role.text(40), n.Name.text(maxName)
	next := depth
	if !n.Ignored && (!silent[role] || n.has("focusable")) {
		if r.node(f, n, role, name, depth, above) {
			next = depth + 1
			// A name or value that was said is not said again by the text it is made of.
			if value := n.Value.text(maxName); name+value != "" {
				above = name + "\n" + value
			}
		}
	}
	if in := f.inside[n.Backend]; in != nil && n.Backend != 0 {
		delete(f.inside, n.Backend)
		r.read(in, in.root, next, "")
	}
	for _, id := range n.ChildIDs {
		r.read(f, f.nodes[id], next, above)
	}
}

// node writes the line of one node, if it has something to say.
func (r *reading) node(f *axFrame, n *axNode, role, name string, depth int, above string) bool {
	description := n.Description.text(maxName)
	value := n.Value.text(maxName)
	if role == "StaticText" && (name == "" || strings.Contains(above, name)) {
		return false
	}
	acts := role != "StaticText" && (interactive[role] || n.has("editable") || n.has("focusable") && role != "RootWebArea" && role != "Iframe")
	if r.want != nil {
		said := role
		if role == "StaticText" {
			said = "" // nobody looks for text by that word
		}
		if !r.want(said, name, description) {
			return false
		}
		acts = true
	}
	if !acts && name == "" && value == "" && role != "Iframe" && role != "table" && role != "list" && role != "form" && role != "dialog" {
		return false
	}
	if r.out.Len() > maxSnapshot || r.most > 0 && len(r.elements) >= r.most {
		r.cut++
		return true
	}
	var number int
	if acts && n.Backend != 0 {
		t := r.t
		t.b.mu.Lock()
		if t.loader == r.loader { // or the number would be one of the page that came meanwhile
			number = t.refs.number(ref{node{f.session, f.id, n.Backend}, role, name})
		}
		t.b.mu.Unlock()
	}
	indent := min(depth, maxIndent)
	if r.want != nil {
		indent = 0
	}
	r.out.WriteString(strings.Repeat(" ", indent))
	if number > 0 {
		fmt.Fprintf(&r.out, "[%d] ", number)
		r.elements = append(r.elements, core.BrowserElement{Ref: number, Role: role, Name: name, Value: value, Description: description})
	}
	if role == "StaticText" {
		r.out.WriteString("text " + strconv.Quote(name))
	} else {
		if role == "RootWebArea" {
			role = "page"
		}
		r.out.WriteString(role)
		if name != "" {
			r.out.WriteString(" " + strconv.Quote(name))
		}
	}
	if value != "" && value != name {
		r.out.WriteString(" value=" + strconv.Quote(value))
	}
	if description != "" && description != name {
		r.out.WriteString(" description=" + strconv.Quote(description))
	}
	for _, s := range states {
		if v := n.property(s.name); v != "" && v != s.usual {
			if v == "true" {
				r.out.WriteString(" " + s.name)
			} else {
				r.out.WriteString(" " + s.name + "=" + v)
			}
		}
	}
	r.out.WriteByte('\n')
	return true
}

func (n *axNode) property(name string) string {
	for _, p := range n.Properties {
		if p.Name == name {
			return p.Value.text(40)
		}
	}
	return ""
}

func (n *axNode) has(name string) bool {
	v := n.property(name)
	return v != "" && v != "false"
}

// snapshot is a page as lines of text, and its elements with their boxes. want chooses
// among the nodes; nil takes all.
func (t *tab) snapshot(ctx context.Context, want func(role, name, description string) bool, most int) (string,
	[]core.BrowserElement, error) {
	t.b.mu.Lock()
	loader := t.loader
	t.b.mu.Unlock()
	f, err := t.tree(ctx)
	if errors.Is(err, errTooLarge) {
		return "", nil, core.Fail(core.CodeTooMany, err, "The page has too many elements to be read at a time.",
			"Use get_page_text, a screenshot, or evaluate with a script that looks for what you need.")
	}
	if err != nil {
		return "", nil, err
	}
	r := &reading{t: t, want: want, most: most, loader: loader}
	r.read(f, f.root, 0, "")
	if len(r.elements) > maxBoxes {
		t.boxes(ctx, r.elements[:maxBoxes])
	} else {
		t.boxes(ctx, r.elements)
	}
	s := r.out.String()
	switch {
	case r.cut > 0 && most > 0:
		s += fmt.Sprintf("… %d more fit the query; make it longer.\n", r.cut)
	case r.cut > 0:
		s += fmt.Sprintf("… %d more lines were cut; use find for what is not here, or get_page_text.\n", r.cut)
	}
	return s, r.elements, nil
}
