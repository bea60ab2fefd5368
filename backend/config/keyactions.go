package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/tailscale/hujson"
)

// keyActions are the actions whose keys a person can change, as the page's table of keys
// names them (frontend/src/model/keys/table.ts). A test of the page compares the two.
var keyActions = strings.Fields(`
page.palette page.find page.find-all page.open-folder page.stop page.prompt page.sidebar page.settings
page.previous-channel page.next-channel page.next-region page.previous-region page.next-waiting page.previous-waiting
page.desk page.shortcuts page.quit
panes.left panes.right panes.up panes.down panes.arrange panes.zoom panes.broadcast panes.previous-tab panes.next-tab
panes.split-right panes.split-down panes.new panes.close
tree.rename tree.remove
prompt.attach prompt.model prompt.effort prompt.plan prompt.fresh prompt.history
queue.earlier queue.later
timeline.next timeline.previous timeline.copy timeline.link timeline.file timeline.edit timeline.back timeline.fork timeline.review
timeline.all-lines
terminal.copy terminal.paste terminal.find terminal.zoom-in terminal.zoom-out terminal.zoom-reset terminal.clear
terminal.page-up terminal.page-down terminal.scroll-top terminal.scroll-bottom terminal.previous-command
terminal.next-command terminal.newline terminal.tab-moves
desk.next desk.previous desk.review desk.seen desk.stop
review.next review.previous review.accept review.reject review.undo review.accept-file review.comment review.open review.edit review.read
rewind.keep
files.filter files.ask files.edit files.above files.read
workspace.promote workspace.pull workspace.filter workspace.compare
containers.recreate containers.stop containers.remove containers.copy containers.sort containers.turn containers.filter
containers.log
rules.next rules.previous rules.up rules.down rules.new rules.turn rules.test rules.delete rules.undo rules.filter
decisions.next decisions.previous decisions.timeline decisions.rule decisions.copy decisions.find
playback.play playback.turn-before playback.turn-after playback.decision playback.copy
browser.baton browser.pick browser.find browser.reload browser.back browser.forward browser.larger browser.smaller browser.as-is
`)

// maxKeys is how many keys one action may have.
const maxKeys = 8

// keyForm is a key with its modifiers. keyNames are the keys that write no character.
const keyNames = `Enter|Escape|Tab|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Up|Down|Left|Right|F1\d|F2[0-4]|F[1-9]`

// keyPattern is keyForm in the language of schemas, which has no flag for case.
const keyPattern = `^((Mod|Ctrl|Alt|Shift|Cmd)\+)*(` + keyNames + `|[!-~])$`

var (
	keyForm = regexp.MustCompile(`^(?i)((?:(?:Mod|Ctrl|Alt|Shift|Cmd)\+)*)(` + keyNames + `|[!-~])$`)
	// Answers of cards have these keys: one of them on another action could allow a held
	// call, or be pressed for it.
	keyOfAnswers = regexp.MustCompile(`^(?i)((Mod|Ctrl|Cmd)\+Enter|[0-9]|Enter|Escape|Tab)$`)
)

// keyBindings reads the keys of actions. An action that nobody knows is left out with a warning:
// the file may be another version's.
func (doc *document) keyBindings(plain []byte, f Field, m *hujson.ObjectMember) {
	obj, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		doc.member(f, m, plain[m.Value.StartOffset:m.Value.EndOffset]) // which says what it must be
		return
	}
	doc.set[f.Name] = doc.places.of(m.Name.StartOffset)
	bindings := map[string][]string{}
	for i := range obj.Members {
		entry := &obj.Members[i]
		name := memberName(entry)
		at := doc.places.of(entry.Name.StartOffset)
		if !slices.Contains(keyActions, name) {
			doc.unknownAction(at, f.Name, name)
			continue
		}
		if entry.Value.Value.Kind() == 'n' { // null is “as it was at first”
			continue
		}
		var list []string
		raw := plain[entry.Value.StartOffset:entry.Value.EndOffset]
		if err := json.Unmarshal(raw, &list); err != nil {
			doc.add(doc.places.of(entry.Value.StartOffset), f.Name+"."+name, false,
				fmt.Sprintf("The keys of “%s” must be a list of texts.", name), `Write them like ["Ctrl+Shift+P"], or [] for no key.`)
			continue
		}
		if n, msg, remedy := checkKeys(list); msg != "" {
			at := entry.Value.StartOffset
			if elements, ok := entry.Value.Value.(*hujson.Array); ok {
				at = elements.Elements[n].StartOffset
			}
			doc.add(doc.places.of(at), f.Name+"."+name, false, fmt.Sprintf("“%s” %s.", name, msg), remedy)
			continue
		}
		bindings[name] = list
		doc.set[f.Name+"."+name] = at
	}
	f.in(&doc.config).Set(reflect.ValueOf(bindings))
}

func (doc *document) unknownAction(at place, field, name string) {
	doc.unknown = true
	known := make([]Field, len(keyActions))
	for i, a := range keyActions {
		known[i].Name = a
	}
	remedy := "Remove it, or take its name from docs/keys.md."
	if near := nearest(name, known); near != "" {
		remedy = "Did you mean “" + near + "”?"
	}
	doc.add(at, field+"."+printable(name), true, fmt.Sprintf("“%s” is no action whose keys can be changed.", printable(name)), remedy)
}

// checkKeys returns the place of a wrong key in a list, and what is wrong with it.
func checkKeys(list []string) (n int, msg, remedy string) {
	if len(list) > maxKeys {
		return maxKeys, fmt.Sprintf("has more than %d keys", maxKeys), "Keep those that you press."
	}
	for i, k := range list {
		parts := keyForm.FindStringSubmatch(k)
		if parts == nil || twice(parts[1]) {
			return i, fmt.Sprintf("has “%s”, which is no key", printable(k)),
				"Write it like Ctrl+Shift+P, Alt+Up, F8 or J; Mod is Cmd on a Mac and Ctrl elsewhere."
		}
		if keyOfAnswers.MatchString(k) {
			return i, fmt.Sprintf("has “%s”, which answers in cards and dialogs", printable(k)), "Choose another key."
		}
	}
	return 0, "", ""
}

// twice says that a modifier is there more than once.
func twice(modifiers string) bool {
	list := strings.Split(strings.ToLower(modifiers), "+")
	slices.Sort(list)
	return len(slices.Compact(list)) != len(strings.Split(modifiers, "+"))
}
