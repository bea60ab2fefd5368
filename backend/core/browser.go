package core

import "encoding/json"

// BrowserTab is one page of a channel's browser. Everything in it but the id is the
// page's own word.
type BrowserTab struct {
	ID      string `json:"target_id"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Icon    string `json:"icon,omitempty"` // a data: URL of an image, at most 16 KiB
	Active  bool   `json:"active,omitempty"`
	Loading bool   `json:"loading,omitempty"`
	Crashed bool   `json:"crashed,omitempty"`
	Back    bool   `json:"back,omitempty"` // there is a page to go back to
	Forward bool   `json:"forward,omitempty"`
}

// BrowserElement is one element of a page that a tool can name by its ref. The box is
// in CSS pixels of the viewport.
type BrowserElement struct {
	Ref         int     `json:"ref"` // from 1; valid until the page changes
	Role        string  `json:"role"`
	Name        string  `json:"name,omitempty"`
	Value       string  `json:"value,omitempty"`
	Description string  `json:"description,omitempty"`
	X           float64 `json:"x"`
	Y           float64 `json:"y"`
	Width       float64 `json:"width"`
	Height      float64 `json:"height"`
}

// BrowserPage says where a page is and how large. Lengths are in CSS pixels.
type BrowserPage struct {
	URL        string  `json:"url"`
	Title      string  `json:"title"`
	Width      float64 `json:"width"` // of the viewport
	Height     float64 `json:"height"`
	PageWidth  float64 `json:"page_width"` // of the whole document
	PageHeight float64 `json:"page_height"`
	ScrollX    float64 `json:"scroll_x"`
	ScrollY    float64 `json:"scroll_y"`
}

// BrowserAction is one act in a browser: a tool of the agent's by its name, or what a
// person does at the pane's buttons.
type BrowserAction struct {
	Action string          `json:"action"`
	Params json.RawMessage `json:"params,omitempty"` // an object; hostile

	ByPerson bool   `json:"-"` // of a person, in a pane
	Caller   Caller `json:"-"` // of the agent; zero for a person's
}

// BrowserOpening is a page that a browser is about to open. It is held before anything of
// it is sent.
type BrowserOpening struct {
	URL    string         // http or https; hostile
	Act    *BrowserAction // under way as it began; nil: none is
	Within bool           // the tab shows a page of the same site, which was let in for this agent, or by a person
}

// BrowserResult is what an action came to. Error is a sentence that an agent can act on.
type BrowserResult struct {
	Result   string           `json:"result,omitempty"`
	Error    string           `json:"error,omitempty"`
	Image    []byte           `json:"image,omitempty"` // a PNG or JPEG
	Elements []BrowserElement `json:"element_refs,omitempty"`
	Tabs     []BrowserTab     `json:"tabs,omitempty"`
	Page     *BrowserPage     `json:"page_info,omitempty"`
	Path     string           `json:"screenshot_path,omitempty"`
	Target   *BrowserTarget   `json:"target,omitempty"` // what was acted on, or looked at
}

// BrowserTarget is a place on a page. The box is in CSS pixels of the viewport.
type BrowserTarget struct {
	Role     string       `json:"role,omitempty"`
	Name     string       `json:"name,omitempty"`
	Selector string       `json:"selector,omitempty"` // CSS, as short as it still names this one
	Ref      int          `json:"ref,omitempty"`
	Text     *BrowserText `json:"text,omitempty"`
	X        float64      `json:"x"`
	Y        float64      `json:"y"`
	Width    float64      `json:"width"`
	Height   float64      `json:"height"`
}

// BrowserText is how the text of an element looks.
type BrowserText struct {
	Size     float64 `json:"size"`               // in CSS pixels
	Color    string  `json:"color"`              // #rrggbb
	Contrast float64 `json:"contrast,omitempty"` // with what is behind it, as WCAG has it; 0 where a picture is
}

// NotConnected is the title of the page that stands in for one that a browser's way out
// refused or did not reach. Its paragraphs are the cause and the remedy.
const NotConnected = "Loop did not connect"

// Kinds of BrowserInput.
const (
	InputMove    = "mousemove"
	InputDown    = "mousedown"
	InputUp      = "mouseup"
	InputScroll  = "scroll"
	InputKey     = "keydown" // with Text: what the key writes
	InputKeyUp   = "keyup"
	InputText    = "text"    // typed by an input method
	InputPaste   = "paste"   // of the person's clipboard
	InputCompose = "compose" // what an input method shows so far; text ends it
	InputTouch   = "touch"   // Button is start, move or end
)

// Modifiers of a BrowserInput, as the DevTools protocol counts them.
const (
	ModifierAlt   = 1
	ModifierCtrl  = 2
	ModifierMeta  = 4
	ModifierShift = 8
)

// BrowserInput is one movement of a person's hand. X and Y are CSS pixels of the viewport.
type BrowserInput struct {
	Kind       string  `json:"kind"`
	X          float64 `json:"x,omitempty"`
	Y          float64 `json:"y,omitempty"`
	Button     string  `json:"button,omitempty"` // left, middle, right
	ClickCount int     `json:"click_count,omitempty"`
	DeltaX     float64 `json:"delta_x,omitempty"`
	DeltaY     float64 `json:"delta_y,omitempty"`
	Key        string  `json:"key,omitempty"`      // KeyboardEvent.key
	Code       string  `json:"code,omitempty"`     // KeyboardEvent.code
	KeyCode    int     `json:"key_code,omitempty"` // KeyboardEvent.keyCode
	Text       string  `json:"text,omitempty"`
	Modifiers  int     `json:"modifiers,omitempty"`
}

// BrowserView is what a page is shown as. Width and height are in CSS pixels.
type BrowserView struct {
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Scale   float64 `json:"scale,omitempty"`   // device pixels for each CSS pixel, 1 to 3; 0 is 1
	Mobile  bool    `json:"mobile,omitempty"`  // touch, and the viewport of a phone
	Dark    bool    `json:"dark,omitempty"`    // prefers-color-scheme
	Network string  `json:"network,omitempty"` // offline, slow (3G), or empty
	Zoom    float64 `json:"zoom,omitempty"`    // of the page, 0.25 to 5; 0 is 1
}

// BrowserFrame is one picture of the active page. Ack is called once, by whoever got the
// frame, from any goroutine: the browser draws on when it is.
type BrowserFrame struct {
	JPEG  []byte
	Sharp bool  // the still of a page at rest
	Time  int64 // ms since the epoch, by the clock of this computer, when it came
	Ack   func()
}

// BrowserDialog is a question that a page stands still for.
type BrowserDialog struct {
	Kind    string `json:"kind"` // alert, confirm, prompt, beforeunload
	Message string `json:"message"`
	Default string `json:"default,omitempty"`
	URL     string `json:"url"`
}

// BrowserPopup is what a page would show in a window of its own, which a Chromium without a
// screen does not draw. The box is in CSS pixels of its frame. All of it is the page's word.
type BrowserPopup struct {
	ID       int64           `json:"id"`
	Kind     string          `json:"kind"` // select, input, menu
	X        float64         `json:"x"`
	Y        float64         `json:"y"`
	Width    float64         `json:"width"`
	Height   float64         `json:"height"`
	Options  []BrowserOption `json:"options,omitempty"`  // select; at most 300
	Input    string          `json:"input,omitempty"`    // input: color, date, time …
	Value    string          `json:"value,omitempty"`    // input: what it has
	Link     string          `json:"link,omitempty"`     // menu: where what was clicked leads
	Editable bool            `json:"editable,omitempty"` // menu: text can be typed there
}

// BrowserOption is one choice of a select.
type BrowserOption struct {
	Label    string `json:"label"`
	Group    string `json:"group,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
	Chosen   bool   `json:"chosen,omitempty"`
}

// BrowserLine is one message of a page's console.
type BrowserLine struct {
	Seq    int64  `json:"seq"`   // from 1, without gaps but for what was dropped
	Time   int64  `json:"time"`  // ms since the epoch
	Level  string `json:"level"` // debug, log, info, warning, error
	Text   string `json:"text"`
	Source string `json:"source,omitempty"` // file:line
}

// BrowserRequest is one exchange of a page with the network.
type BrowserRequest struct {
	Seq    int64  `json:"seq"`
	Rev    int64  `json:"rev"`  // grows with each change of any exchange; Seq at first
	Time   int64  `json:"time"` // ms since the epoch
	Method string `json:"method"`
	URL    string `json:"url"`
	Kind   string `json:"kind"`             // document, script, fetch …
	Status int    `json:"status,omitempty"` // 0 while it lasts
	Error  string `json:"error,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Millis int64  `json:"ms,omitempty"`
}
