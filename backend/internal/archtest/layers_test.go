package archtest

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// layer lists the packages of this module that a package may import, besides its own
// sub-packages. Imports go down, never sideways.
type layer struct {
	pkg string // from the module root; covers sub-packages that have no line of their own
	may []string
	why string
}

var (
	nouns = []string{"backend/core", "backend/policy", "backend/wire"}
	below = append(slices.Clone(nouns), "backend/bus")
)

// layers is the picture of ARCHITECTURE.md, bottom first.
var layers = []layer{
	{"backend/core", nil, "the nouns are what everything else is said in; they depend on nothing"},
	{"backend/policy", nil, "rules are evaluated by host and guest, and stay pure"},
	{"backend/wire", nil, "the protocol is compiled into the guest, which must not grow with the app"},
	{"backend/bus", nouns, "events are numbered below everything that publishes them"},

	{"backend/backoff", nil, "waiting between tries depends on nothing, so that every loop of tries may import it"},
	{"backend/atomicfile", nil, "replacing a file, or removing folders, depends on nothing, so that every package that keeps one may import it"},
	{"backend/config", append(slices.Clone(below), "backend/atomicfile", "backend/sandbox"), "an adapter to files; it knows no other adapter, and gives sandbox its settings as it merged them"},
	{"backend/credentials", append(slices.Clone(below), "backend/atomicfile"), "an adapter to the system's keyring and to an encrypted file; it knows no other adapter"},
	{"backend/store", below, "an adapter to SQLite; it knows no other adapter"},
	{"backend/engine", append(slices.Clone(below), "backend/backoff"), "an adapter to the container engine; it knows no other adapter"},
	{"backend/hostpty", below, "an adapter to host shells"},
	{"backend/hostrun", append(slices.Clone(below), "backend/atomicfile", "backend/hostpty"), "an adapter to this computer in the place of a container; hostpty starts and ends the programs"},
	{"backend/chrome", []string{"backend/core", "backend/policy", "backend/backoff"}, "an adapter to Chromium, on two byte streams; it knows no container"},
	{"backend/dialog", append(slices.Clone(below), "backend/backoff"), "an adapter to native dialogs"},
	{"backend/hostfacts", append(slices.Clone(below), "backend/sandbox", "backend/atomicfile"), "an adapter: it fills sandbox's Host from the real computer, so that sandbox stays pure"},
	{"backend/claudesetup", []string{"backend/core", "backend/atomicfile"}, "an adapter to the person's own Claude Code folder, and to copies of it"},
	{"backend/agentcopy", []string{"backend/core", "backend/atomicfile"}, "an adapter to the copies of folders that agents work in"},
	{"backend/egress", []string{"backend/core"}, "an adapter to the network, for what comes out of containers; it knows no container"},
	{"backend/keytrial", []string{"backend/core"}, "an adapter to a Messages API, asked about a key alone"},
	{"backend/instance", append(slices.Clone(below), "backend/atomicfile", "backend/backoff"), "an adapter to the lock and the file by which a Loop is found"},
	{"backend/signin", []string{"backend/core", "backend/hostpty", "backend/hostrun", "backend/terminal/vt"}, "an adapter to the program that signs in; vt reads its screen"},
	{"backend/filesearch", []string{"backend/atomicfile"}, "an index of names below a folder; which folder is the caller's word"},
	{"backend/checkpoints", []string{"backend/core", "backend/atomicfile", "backend/filesearch"}, "an adapter to kept files of folders; which folder, and when, is the caller's word"},
	{"backend/logfile", []string{"backend/core"}, "an adapter to the log's file, and failures said in core's words"},
	{"backend/attachments", append(slices.Clone(below), "backend/atomicfile"), "an adapter to the files of pictures that go with prompts"},
	{"backend/themes", append(slices.Clone(below), "backend/atomicfile"), "an adapter to the files of imported themes, and to their forms in other programs"},
	{"backend/openeditor", append(slices.Clone(below), "backend/hostpty"), "an adapter to the person's editor; hostpty says what a program of theirs gets, and where a file is is a port"},
	{"backend/pagememory", append(slices.Clone(below), "backend/atomicfile"), "an adapter to the file of what the page keeps"},
	{"backend/sharedfolder", []string{"backend/core"}, "an adapter to the folders of a channel's state that containers write, too"},
	{"backend/spools", nouns, "an adapter to what loop init leaves on this host"},
	{"backend/recordings", below, "an adapter to the files of recorded terminals"},
	{"backend/supportbundle", nil, "packing without what is personal is pure"},
	{"backend/redact", []string{"backend/core"}, "taking secrets out of text is pure, so that everything that writes such text may import it"},
	{"backend/runner/transcript", []string{"backend/core"}, "a pure parser: bytes in, turns out"},
	{"backend/sessions", append(slices.Clone(below), "backend/runner/transcript"), "an adapter to the transcripts the agent CLI keeps in a channel's state"},
	{"backend/sandbox", nouns, "resolving a spec is a pure function of layers and host facts"},

	{"backend/registry", append(slices.Clone(below), "backend/backoff", "backend/sandbox"), "a service; the engine is a port"},
	{"backend/provision", append(slices.Clone(below), "backend/sandbox"), "a service; settings, images, containers, links and the computer are ports"},
	{"backend/runner", append(slices.Clone(below), "backend/backoff", "backend/redact", "backend/sandbox", "backend/provision"), "a service; its containers come from provision, and everything else is a port"},
	{"backend/imagebuild", append(slices.Clone(below), "agentimage", "backend/atomicfile", "backend/backoff"), "a service; the engine is a port, the build context is agentimage's embedded files"},
	{"backend/channels", append(slices.Clone(below), "backend/atomicfile"), "a service; the store is a port"},
	{"backend/worktree", append(slices.Clone(below), "backend/sandbox", "backend/provision"), "a service; its programs run in containers that provision makes"},
	{"backend/callbacks", below, "a service; channels, runs and the store are ports"},
	{"backend/doctor", append(slices.Clone(below), "backend/provision", "backend/keytrial"), "a service; each probe's parts are handed in, and a trial is a container that provision makes"},
	{"backend/terminal", append(slices.Clone(below), "backend/atomicfile", "backend/backoff"), "a service, and the files that it keeps of sessions"},
	{"backend/terminal/programs", append(slices.Clone(below), "backend/sandbox", "backend/hostpty", "backend/atomicfile", "backend/backoff", "backend/terminal", "backend/runner", "backend/registry", "backend/provision"), "above terminals: what starts programs stands on the adapters and services that do"},
	{"backend/eagerstart", append(slices.Clone(below), "backend/sandbox", "backend/provision"), "a service: what a run will need, ready before it"},
	{"backend/inventory", append(slices.Clone(below), "backend/backoff"), "a service; the registry, the engine and provision are ports"},
	{"backend/workspace", append(slices.Clone(below), "backend/provision"), "a service: copies and originals; the files are a port"},
	{"backend/review", append(slices.Clone(below), "backend/atomicfile", "backend/provision"), "a service; its git runs in containers that provision makes, and it keeps what was taken out"},
	{"backend/filebridge", append(slices.Clone(below), "backend/atomicfile", "backend/filesearch", "backend/sharedfolder", "backend/provision"), "a service: files by a container's paths; mounts, containers and links are ports"},
	{"backend/talks", append(slices.Clone(below), "backend/backoff", "backend/runner/transcript"), "a service: what is said in terminals; store, transcripts and terminals are ports"},
	{"backend/slashcommands", append(slices.Clone(below), "backend/sandbox"), "a service: commands of channels; files and channels are ports, sandbox says where the Claude folder is"},
	{"backend/rewind", append(slices.Clone(below), "backend/atomicfile", "backend/checkpoints"), "a service: checkpoints and going back to them; rows, sessions, folders and the queue are ports"},
	{"backend/browser", below, "a service"},
	{"backend/footage", below, "a service, and the files that it keeps of what browsers showed"},
	{"backend/runexport", append(slices.Clone(below), "backend/redact"), "a service; the store, pictures, recordings and secrets are ports"},
	{"backend/sidecar", append(slices.Clone(below), "backend/provision", "backend/egress", "backend/sandbox", "backend/sharedfolder"), "a service: what a browser's container is started with and connected to"},
	{"backend/hostchrome", []string{"backend/core", "backend/atomicfile", "backend/chrome", "backend/browser"}, "a service: the browser of a channel in a Chrome that the person started"},
	{"backend/gate", below, "a service"},
	{"backend/dockergate", below, "a service"},

	{"backend/guestlink", append(slices.Clone(below), "backend/atomicfile", "backend/backoff"), "the host end of the link speaks wire and returns core types; it needs no service"},
	{"backend/rulebook", append(slices.Clone(below), "backend/config", "backend/atomicfile", "backend/gate"), "puts a spawn's policy together from the settings and from answers that the gate remembers"},
	{"backend/bind", append(slices.Clone(below), "backend/doctor", "backend/sharedfolder"), "what the window may call: views of services, and no adapter but the folder that pasted files go to"},
	{"backend/settings", append(slices.Clone(below), "backend/config", "backend/credentials", "backend/themes", "backend/bind", "backend/redact", "backend/sandbox", "backend/keytrial", "backend/signin"), "the one service that owns settings files and keys, in the words the window knows"},
	{"backend/closing", append(slices.Clone(below), "backend/bind", "backend/terminal"), "how a Loop with a window ends, in the words the window knows"},
	{"backend/api", append(slices.Clone(below), "backend/bind"), "the loopback listener serves bind's structs; it knows no service and no adapter"},
	{"backend/demo", []string{"backend/backoff"}, "the scripted model is an http.Handler and could be its own program"},

	{"backend/daemon", []string{"backend", "agentimage", "!backend/cli"}, "the one place that assembles; only cli is above it"},
	{"backend/cli", []string{"backend/core", "backend/daemon", "backend/bind", "backend/doctor", "backend/config", "backend/demo", "backend/instance", "backend/supportbundle", "backend/terminal/vt"}, "commands drive daemon, or a running instance over api, which instance finds; demo for script names and the model on its own; supportbundle to pack without what is personal; vt to read a program's output as the page does"},
	{"backend/e2e", []string{"backend/core"}, "black-box tests: only what a person could do"},
	{"backend/leaktest", nil, "how long TestMain of any package waits for goroutines"},
	{"backend/soaktest", nil, "how much of a long test is done"},
	{"backend/internal", nil, "the rules of the repository read files, not packages"},
	{"build/seccomp", nil, "a tool of the build, in a module of its own, so that nothing of Loop needs cgo for it"},
	{"agentimage", []string{"backend/core"}, "embedded files, and failures said in core's words"},
	{"agentimage/guest/mcp", []string{"backend/wire"}, "the agent's tools: part of the in-container binary, and of Loop's own for runs without a container"},
	{"agentimage/guest", []string{"backend/wire", "backend/policy"}, "the in-container binary holds nothing of the host's side"},
	{".", []string{"agentimage/guest/mcp", "backend/cli", "backend/daemon", "backend/core", "backend/bind", "backend/config", "backend/dialog"}, "main names the parts; daemon assembles them (config only to say where Loop's folder is)"},
}

// outside lists who may import a third-party module, and why Loop uses it.
var outside = []struct {
	prefix string
	by     []string // packages with their sub-packages
	why    string
}{
	{"github.com/docker/docker", []string{"backend/engine"}, "the engine's client is kept behind one adapter, so that its types never spread and it can be replaced"},
	{"github.com/docker/go-connections", []string{"backend/engine"}, "TLS of a remote engine"},
	{"github.com/containerd/errdefs", []string{"backend/engine"}, "the client's error kinds"},
	{"github.com/opencontainers/image-spec", []string{"backend/engine"}, "platforms of an image"},
	{"github.com/wailsapp/wails/v2", []string{"."}, "the window's life is in app.go only; nothing starts before wails.Run"},
	{"modernc.org/sqlite", []string{"backend/store"}, "SQL stays in the store"},
	{"github.com/pressly/goose/v3", []string{"backend/store"}, "migrations stay in the store"},
	{"github.com/aymanbagabas/go-udiff", []string{"backend/config", "backend/gate", "backend/review", "backend/rewind"}, "what changed between two texts of a file, as a unified diff"},
	{"github.com/tailscale/hujson", []string{"backend/config", "backend/hostfacts", "backend/themes"}, "comment-keeping JSON, where a person's own file is edited; themes of VS Code have comments"},
	{"github.com/distribution/reference", []string{"backend/imagebuild"}, "names of images, as the engine's own client reads them"},
	{"github.com/zalando/go-keyring", []string{"backend/credentials"}, "the system's keyring on three systems"},
	{"github.com/godbus/dbus/v5", []string{"backend/dialog"}, "notifications of a Linux desktop; the keyring has it too"},
	{"github.com/ebitengine/purego", []string{"backend/dialog"}, "AppKit's alert and Dock without cgo, so that Linux compiles them"},
	{"golang.org/x/crypto", []string{"backend/credentials"}, "the encrypted file where there is no keyring"},
	{"golang.org/x/image", []string{"backend/attachments", "backend/chrome"}, "sizes of WebP pictures, which Go's own library cannot read"},
	{"golang.org/x/term", []string{"backend/cli"}, "reading a key without showing it"},
	{"github.com/google/jsonschema-go", []string{"backend/config"}, "validates the schema of the settings; tests only"},
	{"github.com/spf13/cobra", []string{"backend/cli"}, "commands"},
	{"github.com/mattn/go-isatty", []string{"backend/cli"}, "whether a person is watching"},
	{"github.com/coder/websocket", []string{"backend/api", "backend/cli", "backend/e2e", "backend/egress", "backend/hostchrome"}, "the event socket and its client, and the DevTools of a person's Chrome; egress only in its tests"},
	{"github.com/chromedp/cdproto", []string{"backend/chrome"}, "the types of the DevTools protocol; chromedp itself reads without bounds"},
	{"github.com/gofrs/flock", []string{"backend/instance", "backend/daemon", "backend/store", "backend/config"}, "one instance per Loop folder"},
	{"github.com/hashicorp/yamux", []string{"backend/guestlink", "backend/wire", "agentimage/guest"}, "streams on the one link"},
	{"github.com/creack/pty", []string{"backend/hostpty", "agentimage/guest"}, "pseudo-terminals"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"agentimage/guest", "backend/demo"}, "the MCP server in the container; demo only in its tests"},
	{"github.com/go-json-experiment/json", []string{"backend", "agentimage/guest"}, "strict decoding where the bytes are hostile"},
	{"golang.org/x/sys", []string{"backend", "agentimage/guest"}, "system calls the standard library lacks"},
	{"golang.org/x/net", []string{"backend", "agentimage/guest"}, "small protocol parts"},
	{"golang.org/x/sync", []string{"backend", "agentimage/guest"}, "singleflight, semaphores"},
	{"golang.org/x/text", []string{"backend/core", "backend/terminal/vt"}, "the columns that characters take, and the forms in which they are the same"},
	{"github.com/seccomp/libseccomp-golang", []string{"build/seccomp"}, "a second opinion on the numbers of system calls; not in Loop's go.mod"},
	{"go.uber.org/goleak", []string{"backend", "agentimage/guest"}, "leftover goroutines; tests only"},
	{"golang.org/x/tools", []string{"backend", "agentimage/guest"}, "txtar transcripts; tests only"},
	{"github.com/rogpeppe/go-internal", []string{"backend", "agentimage/guest"}, "scripts as tests; tests only"},
}

// testsOnly modules may not be linked into a binary.
var testsOnly = []string{"github.com/google/jsonschema-go", "go.uber.org/goleak", "golang.org/x/tools", "github.com/rogpeppe/go-internal"}

func TestImportsGoDown(t *testing.T) {
	for _, g := range goFiles(t) {
		if g.isTest() {
			continue // a test may use neighbours, as no binary contains it
		}
		l, ok := layerOf(g.dir())
		if !ok {
			t.Errorf("%s: the package is not in the table of layers; add it with the reason for its place", g.path)
			continue
		}
		for _, imp := range g.imports() {
			rel, ours := inModule(imp)
			if !ours || within(rel, l.pkg) && !stricter(rel, l.pkg) {
				continue
			}
			if !allowed(rel, l.may) {
				t.Errorf("%s imports %s, which %s may not: %s", g.path, imp, l.pkg, l.why)
			}
		}
	}
}

func TestThirdPartyImportsHaveAReason(t *testing.T) {
	for _, g := range goFiles(t) {
		for _, imp := range g.imports() {
			if _, ours := inModule(imp); ours || !strings.Contains(strings.Split(imp, "/")[0], ".") {
				continue // this module, or the standard library
			}
			known := false
			for _, o := range outside {
				if !within(imp, o.prefix) {
					continue
				}
				known = true
				if !slices.ContainsFunc(o.by, func(by string) bool { return g.dir() == by || by != "." && within(g.dir(), by) }) {
					t.Errorf("%s imports %s, which is for %s: %s", g.path, imp, strings.Join(o.by, ", "), o.why)
				}
			}
			if !known {
				t.Errorf("%s imports %s, which is not in the table of third-party modules; add it with the reason", g.path, imp)
			}
			if !g.isTest() && slices.ContainsFunc(testsOnly, func(m string) bool { return within(imp, m) }) && !strings.HasSuffix(g.dir(), "test") {
				t.Errorf("%s imports %s, which is for tests only", g.path, imp)
			}
		}
	}
}

// TestLayersAreOrdered keeps the table itself correct: a package may import only
// packages above it in the table, so a cycle cannot be written.
func TestLayersAreOrdered(t *testing.T) {
	index := func(pkg string) int { return slices.IndexFunc(layers, func(l layer) bool { return l.pkg == pkg }) }
	for i, l := range layers {
		if l.why == "" {
			t.Errorf("%s has no reason", l.pkg)
		}
		for _, may := range l.may {
			at := index(may)
			// hostfacts and imagebuild import a pure package that stands later in the table.
			if at > i && may != "backend/sandbox" && may != "agentimage" && l.pkg != "agentimage/guest" {
				t.Errorf("%s may import %s, which is higher in the table", l.pkg, may)
			}
		}
	}
}

// layerOf finds the most specific line for a directory.
func layerOf(dir string) (layer, bool) {
	best, found := layer{}, false
	for _, l := range layers {
		match := dir == l.pkg || l.pkg != "." && within(dir, l.pkg)
		if match && (!found || len(l.pkg) > len(best.pkg)) {
			best, found = l, true
		}
	}
	return best, found
}

// stricter reports that rel has a line of its own below pkg. The parent may then use
// it, since a sub-package is below its parent.
func stricter(rel, pkg string) bool {
	l, ok := layerOf(rel)
	return ok && l.pkg != pkg && !within(l.pkg, pkg)
}

func allowed(rel string, may []string) bool {
	ok := false
	for _, m := range may {
		if ban, isBan := strings.CutPrefix(m, "!"); isBan {
			if within(rel, ban) {
				return false
			}
			continue
		}
		// “agentimage” means that package alone: the host may not import the guest.
		if m == "agentimage" {
			ok = ok || rel == m
			continue
		}
		ok = ok || within(rel, m)
	}
	return ok
}

func inModule(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func within(p, parent string) bool {
	p, parent = path.Clean(p), path.Clean(parent)
	return p == parent || strings.HasPrefix(p, parent+"/")
}
