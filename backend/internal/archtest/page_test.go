package archtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
	"loop/backend/daemon"
	"loop/backend/doctor"
)

// contractFile declares Loop's types and calls for the page.
const contractFile = "frontend/src/api/contract.gen.ts"

// pageNames renames types whose Go name says too little without its package, or means
// something else in a browser.
var pageNames = map[reflect.Type]string{
	reflect.TypeFor[core.Context]():  "ContextFill",
	reflect.TypeFor[core.Event]():    "LoopEvent",
	reflect.TypeFor[doctor.Check]():  "DoctorCheck",
	reflect.TypeFor[doctor.Report](): "DoctorReport",
	reflect.TypeFor[doctor.State]():  "DoctorState",
}

// notThePage are bound methods that the page does not call, with their callers.
var notThePage = map[string]string{
	"Channels.List":             "the command line; the page has the list in its snapshot",
	"Channels.Messages":         "the command line; the page forks at a message of its timeline",
	"Channels.Search":           "the command line and agents; the page's palette filters the list it has",
	"Channels.RemoveWorktree":   "the command line, with its --force",
	"Containers.Inspect":        "the command line: loop inspect",
	"Files.Stat":                "the command line: loop files stat",
	"Files.Write":               "the command line: loop files put",
	"Files.Mkdir":               "the command line: loop files mkdir",
	"Files.Remove":              "the command line: loop files rm",
	"Files.Rename":              "the command line: loop files mv",
	"Gate.Pending":              "the command line; the page has the list in its snapshot",
	"Gate.Status":               "the command line; the page has it in its snapshot",
	"GateLog.Read":              "the command line: loop gate log",
	"GateLog.Replay":            "the command line: loop gate replay",
	"GateLog.Suggest":           "the command line: loop gate suggest",
	"GateLog.Test":              "the command line: loop gate test",
	"GateLog.Verify":            "the command line: loop gate verify",
	"GateRules.Export":          "the command line: loop gate rules export",
	"GateRules.Import":          "the command line: loop gate rules import",
	"System.BrowserImageStatus": "the command line: loop image status browser",
	"System.BuildBrowserImage":  "the command line: loop image build browser",
	"System.ListContainers":     "the command line: loop ps; the page watches them",
	"System.ImageStatus":        "the page's bridge, to see whether its key is good",
	"System.Show":               "a second start of the app",
	"Settings.Revoke":           "the command line: loop config",
	"Terminals.Create":          "the command line; the page creates through the socket of its pane",
	"Terminals.Endpoint":        "the window's bridge, before there is anything to call through",
	"Terminals.Record":          "the command line; the page records through the socket of its pane",
}

// payloads are the types of the events' data. An event without data, or whose data has
// no Go type, is listed as nil, so a new event is a decision.
var payloads = map[core.EventType]reflect.Type{
	core.EventMessageCreated:   reflect.TypeFor[core.MessageCreated](),
	core.EventMessageUpdated:   reflect.TypeFor[core.MessageUpdated](),
	core.EventMessageDeleted:   reflect.TypeFor[core.MessageUpdated](),
	core.EventMessagesDone:     nil, // for programs; the page uses the run's status
	core.EventAgentAdded:       nil, // the same
	core.EventAgentRemoved:     nil,
	core.EventMessageStreaming: reflect.TypeFor[core.MessageStreaming](),
	core.EventThinking:         reflect.TypeFor[core.Thinking](),
	core.EventToolUse:          reflect.TypeFor[core.ToolUse](),
	core.EventToolResult:       reflect.TypeFor[core.ToolResult](),
	core.EventActivity:         reflect.TypeFor[core.Activity](),
	core.EventStatus:           reflect.TypeFor[core.Status](),
	core.EventNotice:           reflect.TypeFor[core.Notice](),
	core.EventAttempt:          reflect.TypeFor[core.Attempt](),
	core.EventBackground:       reflect.TypeFor[core.Background](),
	core.EventAskUser:          reflect.TypeFor[core.Question](),
	core.EventExitPlan:         reflect.TypeFor[core.Question](),
	core.EventAskResolved:      reflect.TypeFor[core.Question](),
	core.EventPlanResolved:     reflect.TypeFor[core.Question](),
	core.EventTodos:            nil, // the tool's input as it is
	core.EventRaw:              nil, // a line as the agent wrote it
	core.EventQueueChanged:     reflect.TypeFor[core.Run](),
	core.EventChannelCreated:   reflect.TypeFor[core.Channel](),
	core.EventChannelUpdated:   reflect.TypeFor[core.Channel](),
	core.EventChannelDeleted:   nil,
	core.EventContainerAdded:   reflect.TypeFor[core.Container](),
	core.EventContainerChanged: reflect.TypeFor[core.Container](),
	core.EventContainerRemoved: reflect.TypeFor[core.Container](),
	core.EventImageBuild:       reflect.TypeFor[core.ImageStatus](),
	core.EventEngineStatus:     reflect.TypeFor[core.EngineStatus](),
	core.EventConfigChanged:    reflect.TypeFor[bind.ConfigStatus](),
	core.EventSignIn:           reflect.TypeFor[bind.SignInState](),
	core.EventTrustRequested:   reflect.TypeFor[core.TrustRequested](),
	core.EventTerminalCreated:  reflect.TypeFor[core.TerminalInfo](),
	core.EventTerminalChanged:  reflect.TypeFor[core.TerminalInfo](),
	core.EventTerminalRemoved:  reflect.TypeFor[core.TerminalInfo](),
	core.EventGateAsked:        reflect.TypeFor[core.Approval](),
	core.EventGateChanged:      reflect.TypeFor[core.Approval](),
	core.EventGateResolved:     reflect.TypeFor[core.Approval](),
	core.EventGateDecided:      reflect.TypeFor[core.GateDecisions](),
	core.EventGateStatus:       reflect.TypeFor[core.GateStatus](),
	core.EventGateRules:        nil, // the page reads the list again, if it shows one
	core.EventBrowserHeld:      reflect.TypeFor[core.BrowserHeld](),
	core.EventRewindWent:       reflect.TypeFor[core.Rewind](),
	core.EventRewindUndone:     reflect.TypeFor[core.Rewind](),
	core.EventTalk:             reflect.TypeFor[core.TerminalTalk](),
	core.EventFrameKept:        nil, // the page reads the run's frames again, if it shows them
	core.EventReset:            nil, // the page reads a new snapshot
}

// TestContractOfThePage: the page's types and calls match the bound structs.
func TestContractOfThePage(t *testing.T) {
	want := pageContract(t)
	if want == read(t, contractFile) {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what backend/bind and backend/core say; run “make gen”", contractFile)
	}
	if err := os.WriteFile(filepath.Join(root, contractFile), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pageContract(t *testing.T) string {
	c := newContract(readSources(goFiles(t)))
	calls := c.calls()
	events := c.events(t)
	c.of(reflect.TypeFor[core.Failure]())      // any call may fail with it
	c.of(reflect.TypeFor[core.TerminalSpec]()) // the socket of a pane sends it
	return `// Code generated from backend/bind and backend/core by “make gen”. DO NOT EDIT.

` + c.declarations() + events + calls
}

// events lists the payload of each type of event.
func (c *contract) events(t *testing.T) string {
	c.declare(reflect.TypeFor[core.Event]())
	var b strings.Builder
	b.WriteString("/** What each event carries; unknown where Go has no type for it. */\nexport type EventData = {\n")
	names := c.src.constants(reflect.TypeFor[core.EventType]())
	for _, name := range names {
		p, ok := payloads[core.EventType(name)]
		if !ok {
			t.Errorf("the event %s is not in the table of payloads: say what it carries", name)
		}
		typ := "unknown"
		if p != nil {
			typ = c.bare(p)
		}
		fmt.Fprintf(&b, "  %q: %s;\n", name, typ)
	}
	if len(names) < len(payloads) {
		t.Errorf("%d types of events, %d payloads: the table names one that is gone", len(names), len(payloads))
	}
	b.WriteString("};\n\n")
	return b.String()
}

// calls writes functions for the bound methods that the page may use.
func (c *contract) calls() string {
	var b strings.Builder
	b.WriteString("/** Calls one bound method. */\n")
	b.WriteString("export type Call = <T>(service: string, method: string, ...args: unknown[]) => Promise<T>;\n\n")
	b.WriteString("export const bound = (call: Call) => ({\n")
	services := new(daemon.Daemon).Bound() // only the types are needed; nothing is assembled
	slices.SortFunc(services, func(a, b any) int { return cmp.Compare(serviceName(a), serviceName(b)) })
	for _, svc := range services {
		name := serviceName(svc)
		fmt.Fprintf(&b, "  %s: {\n", lowerFirst(name))
		for m := range reflect.TypeOf(svc).Methods() {
			if _, other := notThePage[name+"."+m.Name]; !other {
				b.WriteString(c.call(name, m))
			}
		}
		b.WriteString("  },\n")
	}
	b.WriteString("});\n")
	return b.String()
}

func (c *contract) call(service string, m reflect.Method) string {
	names := c.src.params["loop/backend/bind."+service+"."+m.Name]
	var params []string
	for i, name := range names {
		params = append(params, name+": "+c.of(m.Type.In(i+1))) // the first is the receiver
	}
	result := "null"
	if m.Type.NumOut() > 0 && m.Type.Out(0) != reflect.TypeFor[error]() {
		result = c.of(m.Type.Out(0))
	}
	args := strings.Join(append([]string{fmt.Sprintf("%q, %q", service, m.Name)}, names...), ", ")
	return fmt.Sprintf("    %s: (%s) => call<%s>(%s),\n", lowerFirst(m.Name), strings.Join(params, ", "), result, args)
}

func serviceName(svc any) string { return reflect.TypeOf(svc).Elem().Name() }

// lowerFirst is the name as TypeScript spells it: openURL, pickFolder.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// TestThePageUsesWhatIsBound: the page calls a method, or notThePage names its caller.
// The test looks for names only: the compiler checks the calls.
func TestThePageUsesWhatIsBound(t *testing.T) {
	var page strings.Builder
	for _, f := range allFiles(t) {
		if strings.HasPrefix(f.path, "frontend/src/") && f.path != contractFile && !strings.Contains(f.path, ".test.") {
			page.Write(f.text)
		}
	}
	bound := map[string]bool{}
	for _, svc := range new(daemon.Daemon).Bound() {
		for m := range reflect.TypeOf(svc).Methods() {
			name := serviceName(svc) + "." + m.Name
			bound[name] = true
			called := regexp.MustCompile(`\b` + lowerFirst(m.Name) + `\(`).MatchString(page.String())
			if _, other := notThePage[name]; !called && !other {
				t.Errorf("%s is bound and the page never calls it: call it, or add it to notThePage with who does", name)
			}
		}
	}
	for name := range notThePage {
		if !bound[name] {
			t.Errorf("%s is listed in notThePage, but is not bound", name)
		}
	}
	if len(bound) < 15 {
		t.Errorf("%d methods: the test looks in the wrong place", len(bound))
	}
}
