package archtest

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/daemon"
)

const apiDir = "frontend/src/api"

// notThePage are bound methods that the page does not call, and who does.
var notThePage = map[string]string{
	"Channels.List":           "the command line; the page has the list in its snapshot",
	"Channels.Search":         "the command line and agents; the page's palette filters the list it has",
	"Channels.RemoveWorktree": "the command line, with its --force",
	"System.Explain":          "the command line: loop explain",
	"Settings.Schema":         "the command line: loop config",
	"System.ListContainers":   "the command line; the page has the list in its snapshot",
	"System.Show":             "a second start of the app",
	"Terminals.Endpoint":      "the window's bridge, before there is anything to call through",
}

// payloads are what events carry: the Go value and its name in TypeScript. An
// event without one is written down too, so that a new event is a decision.
var payloads = map[core.EventType]struct {
	value any
	ts    string
}{
	core.EventMessageCreated:   {core.MessageCreated{}, "MessageCreated"},
	core.EventMessageUpdated:   {core.MessageUpdated{}, "MessageUpdated"},
	core.EventMessageDeleted:   {core.MessageUpdated{}, "MessageUpdated"},
	core.EventMessagesDone:     {}, // for programs; the page goes by the run's status
	core.EventAgentAdded:       {}, // the same
	core.EventAgentRemoved:     {},
	core.EventMessageStreaming: {core.MessageStreaming{}, "MessageStreaming"},
	core.EventThinking:         {core.Thinking{}, "Thinking"},
	core.EventToolUse:          {core.ToolUse{}, "ToolUse"},
	core.EventToolResult:       {core.ToolResult{}, "ToolResult"},
	core.EventActivity:         {core.Activity{}, "Activity"},
	core.EventStatus:           {core.Status{}, "Status"},
	core.EventNotice:           {core.Notice{}, "Notice"},
	core.EventAttempt:          {core.Attempt{}, "Attempt"},
	core.EventBackground:       {core.Background{}, "Background"},
	core.EventAskUser:          {core.Question{}, "Question"},
	core.EventExitPlan:         {core.Question{}, "Question"},
	core.EventAskResolved:      {core.Question{}, "Question"},
	core.EventPlanResolved:     {core.Question{}, "Question"},
	core.EventTodos:            {}, // the tool's own input
	core.EventRaw:              {}, // a line as the agent wrote it
	core.EventQueueChanged:     {core.Run{}, "Run"},
	core.EventChannelCreated:   {core.Channel{}, "Channel"},
	core.EventChannelUpdated:   {core.Channel{}, "Channel"},
	core.EventChannelDeleted:   {},
	core.EventContainerAdded:   {core.Container{}, "Container"},
	core.EventContainerChanged: {core.Container{}, "Container"},
	core.EventContainerRemoved: {core.Container{}, "Container"},
	core.EventImageBuild:       {core.ImageStatus{}, "ImageStatus"},
	core.EventEngineStatus:     {core.EngineStatus{}, "EngineStatus"},
	core.EventConfigChanged:    {bind.ConfigStatus{}, "ConfigStatus"},
	core.EventTrustRequested:   {core.TrustRequested{}, "TrustRequested"},
	core.EventTerminalCreated:  {core.TerminalInfo{}, "TerminalInfo"},
	core.EventTerminalChanged:  {core.TerminalInfo{}, "TerminalInfo"},
	core.EventTerminalRemoved:  {core.TerminalInfo{}, "TerminalInfo"},
	core.EventReset:            {}, // the page takes a snapshot
}

// TestPageAndLoopSpeakTheSame compares what may be called with what the page
// calls, and every struct that crosses with its TypeScript, field by field.
func TestPageAndLoopSpeakTheSame(t *testing.T) {
	c, calls := readPage(t)
	methods := boundMethods()
	called := map[string]bool{}
	for _, call := range calls {
		called[call.name()] = true
		c.compareCall(call, methods)
	}
	for _, name := range bareCalls(t) {
		called[name] = true
		if _, ok := methods[name]; !ok {
			c.complain("the page calls %s, which is not bound", name)
		}
	}
	for name := range methods {
		switch _, excused := notThePage[name]; {
		case !called[name] && !excused:
			c.complain("%s is bound and the page never calls it: add it to %s, or to notThePage with who calls it", name, apiDir)
		case called[name] && excused:
			c.complain("%s is listed in notThePage, but the page calls it", name)
		}
	}
	for name := range notThePage {
		if _, ok := methods[name]; !ok {
			c.complain("%s is listed in notThePage, but is not bound", name)
		}
	}
	c.comparePayloads()
	for name, d := range c.decls {
		if strings.HasPrefix(path.Base(d.file), "types") && !c.used[name] {
			c.complain("the type %s in %s stands for nothing that crosses: remove it, or move it to the part of the page that uses it", name, d.file)
		}
	}
	slices.Sort(c.problems)
	for _, p := range c.problems {
		t.Error(p)
	}
	if len(methods) < 15 || len(calls) < 15 || len(c.seen) < 20 {
		t.Errorf("%d methods, %d calls, %d structs: the test looks in the wrong place", len(methods), len(calls), len(c.seen))
	}
}

// readPage parses frontend/src/api.
func readPage(t *testing.T) (*contract, []pageCall) {
	t.Helper()
	c := &contract{decls: map[string]tsDecl{}, consts: stringConsts(goFiles(t)), seen: map[string]bool{}, used: map[string]bool{}}
	var calls []pageCall
	for _, f := range allFiles(t) {
		if f.dir() != apiDir || path.Ext(f.path) != ".ts" || strings.HasSuffix(f.path, ".test.ts") {
			continue
		}
		toks, err := tsTokens(string(f.text))
		if err != nil {
			t.Fatalf("%s: %v", f.path, err)
		}
		for name, d := range tsDecls(f.path, toks) {
			if other, twice := c.decls[name]; twice {
				c.complain("the type %s is in %s and in %s: keep one", name, min(other.file, d.file), max(other.file, d.file))
			}
			c.decls[name] = d
		}
		calls = append(calls, pageCalls(f.path, toks)...)
	}
	return c, calls
}

// bareCalls are the names of calls elsewhere in the page.
func bareCalls(t *testing.T) (out []string) {
	for _, f := range allFiles(t) {
		if !strings.HasPrefix(f.path, "frontend/src/") || f.dir() == apiDir || strings.Contains(f.path, ".test.") {
			continue
		}
		for _, m := range bareCall.FindAllStringSubmatch(string(f.text), -1) {
			out = append(out, m[1]+"."+m[2])
		}
	}
	return out
}

// boundMethods are the exported methods of what daemon binds, without receiver.
func boundMethods() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, svc := range new(daemon.Daemon).Bound() { // the types are enough; nothing is assembled
		v := reflect.ValueOf(svc)
		for i := range v.NumMethod() {
			out[v.Type().Elem().Name()+"."+v.Type().Method(i).Name] = v.Method(i).Type()
		}
	}
	return out
}

func (c *contract) compareCall(call pageCall, methods map[string]reflect.Type) {
	if call.err != nil {
		c.complain("%s: %v", call.where, call.err)
		return
	}
	m, ok := methods[call.name()]
	if !ok {
		c.complain("%s: the page calls %s, which is not bound", call.where, call.name())
		return
	}
	if len(call.args) != m.NumIn() {
		c.complain("%s: the page gives %s %d arguments, it takes %d", call.where, call.name(), len(call.args), m.NumIn())
		return
	}
	for i, a := range call.args {
		at := call.name() + " argument " + strconv.Itoa(i+1)
		switch {
		case a.object:
			c.compare(at, m.In(i), c.spread(at, a.fields), toLoop)
		case a.typ != nil:
			c.compare(at, m.In(i), *a.typ, toLoop)
		}
	}
	if call.result == nil {
		return
	}
	at := call.name() + "()"
	if m.NumOut() == 0 || m.Out(0) == reflect.TypeFor[error]() {
		if !isBuiltin(*call.result, "null", "void", "undefined", "unknown") {
			c.complain("%s answers nothing, and the page expects %s", at, describe(*call.result))
		}
		return
	}
	c.compare(at, m.Out(0), *call.result, toPage)
}

// spread puts the fields of “...x” in its place.
func (c *contract) spread(at string, fields []tsField) tsType {
	out := tsType{kind: tsObject}
	for _, f := range fields {
		if f.name != "..." {
			out.fields = append(out.fields, f)
			continue
		}
		more, _, ok := c.objectFields(at, f.typ)
		if !ok {
			c.complain("%s: what is spread into it is not an object", at)
		}
		out.fields = append(out.fields, more...)
	}
	return out
}

func (c *contract) comparePayloads() {
	for _, name := range c.consts(reflect.TypeFor[core.EventType]()) {
		p, ok := payloads[core.EventType(name)]
		if !ok {
			c.complain("the event %s is not in the table of payloads: say what it carries", name)
			continue
		}
		if p.value != nil {
			c.compare("event "+name, reflect.TypeOf(p.value), tsType{kind: tsName, name: p.ts}, toPage)
		}
	}
	c.compare("an event", reflect.TypeFor[core.Event](), tsType{kind: tsName, name: "LoopEvent"}, toPage)
	c.compare("a refusal", reflect.TypeFor[core.Failure](), tsType{kind: tsName, name: "Failure"}, toPage)
}

// stringConsts reads the constants of named string types from the sources:
// reflection knows none.
func stringConsts(sources []goFile) func(reflect.Type) []string {
	values := map[string][]string{} // by import path and type
	for _, g := range sources {
		if g.isTest() {
			continue
		}
		for _, d := range g.ast.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, s := range gen.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				typ, ok := spec.Type.(*ast.Ident)
				for _, v := range spec.Values {
					lit, isLit := v.(*ast.BasicLit)
					if !ok || !isLit || lit.Kind != token.STRING {
						continue
					}
					if text, err := strconv.Unquote(lit.Value); err == nil {
						key := module + "/" + g.dir() + "." + typ.Name
						values[key] = append(values[key], text)
					}
				}
			}
		}
	}
	return func(t reflect.Type) []string {
		return values[cmp.Or(t.PkgPath(), "-")+"."+t.Name()]
	}
}
