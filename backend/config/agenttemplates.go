package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"loop/backend/core"
	"loop/backend/sandbox"
)

// Agents are templates of containers, in the words of OpenClaw's settings: those that count
// for every agent, and those of single ones. Only Loop's own file has them. A channel
// belongs to the agent that the person chose for it, or to DefaultAgent.
type Agents struct {
	Defaults AgentTemplate `json:"defaults"`
	List     []Agent       `json:"list" merge:"replace" project:"never"`
}

// DefaultAgent is the agent of channels that have none of their own.
const DefaultAgent = "main"

// Agent is one entry of the list.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"` // as it is shown; empty is the id
	AgentTemplate

	at   string    // its place, for example agents.list[0]
	said *document // what it gives a value to, by the names of agents.defaults
}

// AgentTemplate is what one level says of an agent.
type AgentTemplate struct {
	Sandbox AgentSandbox `json:"sandbox"`
}

// AgentSandbox says where the programs of an agent run. A field that no level gives a
// value is that of Loop's own settings.
type AgentSandbox struct {
	Mode            string      `json:"mode" oneof:",off,non-main,all" project:"never"`
	Scope           string      `json:"scope" oneof:",shared,agent,session,run" project:"never"`
	Layout          string      `json:"layout" oneof:",mirror,workspace" project:"never"`
	WorkspaceAccess string      `json:"workspaceAccess" oneof:",none,ro,rw" project:"never"`
	Docker          AgentDocker `json:"docker"`
	Prune           AgentPrune  `json:"prune"`
}

// AgentDocker describes the container.
type AgentDocker struct {
	Image              string         `json:"image" project:"never"`
	ContainerPrefix    string         `json:"containerPrefix" project:"never" check:"prefix"`
	Workdir            string         `json:"workdir" project:"never" check:"inside"`
	ReadOnlyRoot       bool           `json:"readOnlyRoot" default:"true" project:"never"`
	Tmpfs              []string       `json:"tmpfs" merge:"replace" project:"never" check:"tmpfs"`
	Network            string         `json:"network" project:"never"`
	User               string         `json:"user" project:"never" check:"ids"`
	CapDrop            []string       `json:"capDrop" merge:"replace" project:"never" check:"capability"`
	Env                map[string]any `json:"env" merge:"by key" project:"never"`
	SetupCommand       string         `json:"setupCommand" project:"never" check:"script"`
	SetupNetwork       string         `json:"setupNetwork" oneof:",bridge,none" project:"never"`
	PidsLimit          int            `json:"pidsLimit" min:"32" max:"4194304" project:"never"`
	Memory             string         `json:"memory" project:"never" check:"size"`
	MemorySwap         string         `json:"memorySwap" project:"never" check:"size"`
	CPUs               float64        `json:"cpus" min:"0.01" max:"1024" unit:"CPUs" project:"never"`
	Gpus               string         `json:"gpus" project:"never" check:"gpus"`
	Ulimits            map[string]any `json:"ulimits" merge:"by key" project:"never" check:"ulimits"`
	SeccompProfile     string         `json:"seccompProfile" project:"never" check:"path"`
	ApparmorProfile    string         `json:"apparmorProfile" project:"never" check:"word"`
	DNS                []string       `json:"dns" merge:"replace" project:"never" check:"ip"`
	ExtraHosts         []string       `json:"extraHosts" merge:"replace" project:"never" check:"hosts"`
	Binds              []string       `json:"binds" merge:"by target" project:"never"`
	AllowedBindSources []string       `json:"allowedBindSources" merge:"replace" project:"never"`
	AllowExternalBinds bool           `json:"dangerouslyAllowExternalBindSources" project:"never"`
}

// AgentPrune ends containers that nobody uses.
type AgentPrune struct {
	IdleHours  int `json:"idleHours" default:"24" min:"0" max:"8760" unit:"hours" project:"never"`
	MaxAgeDays int `json:"maxAgeDays" default:"7" min:"0" max:"365" unit:"days" project:"never"`
}

// agentDefaults begins the names of the fields that every agent has.
const agentDefaults = "agents.defaults."

// agentID is a word that stays itself in names of containers and folders.
var agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// maxAgents bounds the list. People have some ten.
const maxAgents = 1000

// agentFields are the fields of agents.defaults, with which the entries of the list are
// read, too.
var agentFields = sync.OnceValue(func() (out []Field) {
	t := reflect.TypeFor[AgentTemplate]()
	agents, _ := reflect.TypeFor[Config]().FieldByName("Agents")
	return fieldsOf(t, agentDefaults, append(slices.Clone(agents.Index), 0))
})

// agents reads the list. Each entry is read as the defaults are, by a document of its own,
// whose problems and places become those of the file.
func (doc *document) agents(plain []byte, f Field, m *hujson.ObjectMember) {
	list, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		doc.add(doc.places.of(m.Value.StartOffset), f.Name, false, "“"+f.Name+"” must be a list of agents.",
			`Write it like [{"id": "dev", "sandbox": {"docker": {"memory": "1g"}}}].`)
		return
	}
	doc.set[f.Name] = doc.places.of(m.Name.StartOffset)
	seen, out := map[string]int{}, []Agent{}
	for i := range list.Elements {
		at := doc.places.of(list.Elements[i].StartOffset)
		name := fmt.Sprintf("%s[%d]", f.Name, i)
		bad := func(msg, remedy string) { doc.add(at, name, false, "“"+name+"” "+msg+".", remedy) }
		entry, ok := list.Elements[i].Value.(*hujson.Object)
		switch {
		case i >= maxAgents:
			bad(fmt.Sprintf("is the agent after number %d", maxAgents), "Remove some agents.")
			return
		case !ok:
			bad("is no object", `Write it like {"id": "dev", "sandbox": {…}}.`)
			continue
		}
		a := doc.agent(plain, name, entry)
		switch first, twice := seen[a.ID]; {
		case a.ID == "":
			bad("has no id", "Give the agent an id: the word by which channels name it.")
		case !agentID.MatchString(a.ID):
			bad(fmt.Sprintf("has the id “%s”, which cannot be a name", printable(a.ID)),
				"Use lower-case letters, digits, - and _, 64 at most; “name” is for what is shown.")
		case twice:
			bad(fmt.Sprintf("has the id “%s”, which entry %d has", a.ID, first), "Give each agent an id of its own.")
		default:
			doc.set[name] = at
			seen[a.ID], out = i, append(out, a)
		}
	}
	doc.config.Agents.List = out
}

// agent reads one entry; name is the one that messages have for it.
func (doc *document) agent(plain []byte, name string, entry *hujson.Object) Agent {
	var a Agent
	own := &document{path: doc.path, text: doc.text, config: Defaults(), set: map[string]place{}, places: doc.places}
	rest := *entry
	rest.Members = nil
	for _, m := range entry.Members {
		lit, isText := m.Value.Value.(hujson.Literal)
		isText = isText && lit.Kind() == '"'
		switch key := memberName(&m); {
		case key != "id" && key != "name":
			rest.Members = append(rest.Members, m)
		case !isText:
			doc.add(doc.places.of(m.Value.StartOffset), name+"."+key, false, "“"+name+"."+key+"” must be a text.", "")
		default:
			text, _ := jsontext.AppendUnquote(nil, lit)
			if key == "id" {
				a.ID = string(text)
			} else {
				a.Name = string(text)
			}
		}
	}
	own.object(plain, agentFields(), &rest, agentDefaults)
	a.AgentTemplate, a.at, a.said = own.config.Agents.Defaults, name, own
	named := func(s string) string { return strings.ReplaceAll(s, agentDefaults, name+".") }
	for _, p := range own.problems {
		p.Field, p.Message, p.Remedy = named(p.Field), named(p.Message), named(p.Remedy)
		doc.problems = append(doc.problems, p)
	}
	doc.unknown = doc.unknown || own.unknown
	for key, at := range own.set {
		doc.set[named(key)] = at
	}
	return a
}

// agent puts what the file says of an agent over Loop's own settings, the defaults first. An
// agent that the list does not have is a reason to run nothing.
func (e *Effective) agent(global Snapshot, id string) {
	doc := global.doc
	there := doc != nil && slices.ContainsFunc(slices.Collect(maps.Keys(doc.set)), func(name string) bool {
		return strings.HasPrefix(name, "agents.")
	})
	n := slices.IndexFunc(e.Config.Agents.List, func(a Agent) bool { return a.ID == cmp.Or(id, DefaultAgent) })
	if n < 0 && id != "" && id != DefaultAgent {
		if e.Err == nil {
			e.Err = noAgent(id)
		}
		return
	}
	e.AgentID = cmp.Or(id, DefaultAgent)
	if !there {
		return
	}
	if !doc.has("container_scope") {
		e.Config.ContainerScope = sandbox.ScopeAgent
	}
	for _, f := range below(agentFields()) {
		if doc.has(f.Name) {
			e.template(f, &e.Config, doc.origin(core.LayerAgents, global.Path, f.Name), doc, f.Name)
		}
	}
	if n < 0 {
		return
	}
	a := e.Config.Agents.List[n]
	shared := cmp.Or(a.Sandbox.Scope, e.Config.ContainerScope) == sandbox.ScopeShared
	for _, f := range below(agentFields()) {
		own := strings.TrimPrefix(f.Name, agentDefaults)
		switch {
		case !a.said.has(f.Name):
		case shared && own != "sandbox.mode" && own != "sandbox.scope":
			e.Notices = append(e.Notices, fmt.Sprintf(
				"The agent “%s” has %s in the settings, which does not count: its container is shared with all agents.", a.ID, own))
		default:
			c := Config{Agents: Agents{Defaults: a.AgentTemplate}}
			e.template(f, &c, doc.origin(core.LayerAgent, global.Path, a.at+"."+own), doc, a.at+"."+own)
		}
	}
}

func noAgent(id string) error {
	return core.Fail(core.CodeInvalid, nil,
		fmt.Sprintf("The settings have no agent “%s”, to which this channel belongs.", core.CleanTitle(id)),
		"Add it to agents.list, or choose another agent for the channel.")
}

// flat names the settings of Loop's own that mean the same as an agent's.
var flat = map[string]string{
	"sandbox.scope": "container_scope", "sandbox.layout": "workspace_layout", "sandbox.workspaceAccess": "workspace_access",
	"sandbox.docker.image": "container_image", "sandbox.docker.network": "container_network",
	"sandbox.docker.pidsLimit": "container_pids", "sandbox.docker.memory": "container_memory_mb", "sandbox.docker.cpus": "container_cpus",
	"sandbox.docker.env":      "envs",
	"sandbox.prune.idleHours": "container_idle_hours", "sandbox.prune.maxAgeDays": "container_max_age_days",
	"sandbox.docker.binds": "mounts",
}

// template has the field that one level gives a value to in from count. place names the
// field in the file.
func (e *Effective) template(f Field, from *Config, at core.SettingsOrigin, doc *document, place string) {
	base := Config{Agents: Agents{Defaults: e.Template}}
	own := strings.TrimPrefix(f.Name, agentDefaults)
	name, said := flat[own], f.in(from)
	if name == "" {
		e.overridesTemplate(own, f.in(&base))
	}
	f.in(&base).Set(joined(f, &base, from, false))
	e.Template = base.Agents.Defaults
	if name == "" {
		e.Origins[own] = at
		return
	}
	to := leaves()[slices.IndexFunc(leaves(), func(f Field) bool { return f.Name == name })]
	var c Config
	if own == "sandbox.docker.memory" {
		bytes, _ := sizeOf(said.String()) // it was read
		said = reflect.ValueOf(int(bytes >> 20))
	}
	to.in(&c).Set(said)
	e.overrides(to, &e.Config, &c, e.Origins[name])
	to.in(&e.Config).Set(joined(to, &e.Config, &c, false))
	e.Origins[name] = at
	for _, en := range entries(to, &c) {
		o := at
		if was, ok := doc.set[place+strings.TrimPrefix(en.place, name)]; ok {
			o.Line, o.Col = was.line, was.col
		}
		e.Origins[en.name] = o
	}
}
