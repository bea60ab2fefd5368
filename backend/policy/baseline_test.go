package policy

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// act is one operation on a file, as a program does it; a folder is made by mkdir.
type act struct {
	op   Operation
	path string
}

// day is what a day's work does in a container, by what does it. Paths beginning with
// “ws” are in the project.
var day = map[string][]act{
	"git clone into a sub-folder": {
		{Create, "ws/lib/.git/HEAD"}, {Create, "ws/lib/.git/config.lock"}, {Create, "ws/lib/.git/config"},
		{Write, "ws/lib/.git/config"}, {Create, "ws/lib/.git/hooks/pre-commit.sample"}, {Create, "ws/lib/README.md"},
		{Chmod, "ws/lib/.git/objects/pack/pack-1.pack"}, {Link, "ws/lib/.git/objects/pack/tmp_pack"},
	},
	"git commit, branch, fetch": {
		{Create, "ws/.git/index.lock"}, {Write, "ws/.git/index"}, {Delete, "ws/.git/index.lock"},
		{Create, "ws/.git/COMMIT_EDITMSG"}, {Write, "ws/.git/logs/HEAD"}, {Create, "ws/.git/objects/ab/tmp_obj_x"},
		{Create, "ws/.git/refs/heads/hooks/fix.lock"}, {Write, "ws/.git/refs/heads/main"}, {Write, "ws/.git/FETCH_HEAD"},
		{Create, "ws/.git/config.lock"}, {Chmod, "ws/.git/config.lock"}, {Delete, "ws/.git/config.lock"},
		{Read, "/home/ada/.gitconfig"}, {Read, "/home/ada/.config/git/ignore"}, {Read, "ws/.git/hooks/pre-commit"},
		{Create, "ws/.git/modules/lib/objects/ab/x"},
	},
	"git init": {
		{Create, "ws/.git/HEAD"}, {Create, "ws/.git/hooks/pre-push.sample"}, {Create, "ws/.git/info/exclude"},
		{Create, "ws/.git/config.lock"}, {Chmod, "ws/.git/config"}, {Chmod, "/home/ada/.npmrc"},
	},
	"git worktree add": {
		{Create, "ws/.git/worktrees/x/commondir"}, {Create, "ws/.git/worktrees/x/gitdir"}, {Create, "ws/x/.git"},
	},
	"npm install": {
		{Create, "ws/node_modules/a/package.json"}, {Create, "ws/node_modules/a/.npmrc"}, {Chmod, "ws/node_modules/a/bin/a.js"},
		{Create, "ws/node_modules/.bin/a"}, {Delete, "ws/node_modules/.a-x1"}, {Write, "ws/package-lock.json"},
		{Create, "/home/ada/.npm/_cacache/tmp/x"}, {Create, "/home/ada/.npm/_logs/x.log"}, {Read, "/home/ada/.npmrc"},
		{Read, "ws/.npmrc"}, {Create, "ws/node_modules/b/.bashrc"},
	},
	"npm install --global": {
		{Create, "/home/ada/.local/bin/tsc"}, {Delete, "/home/ada/.local/bin/tsc"}, {Create, "/home/ada/.local/lib/node_modules/typescript/x.js"},
	},
	"go build and test": {
		{Create, "/home/ada/.cache/go-build/ab/x-a"}, {Create, "/home/ada/go/pkg/mod/cache/download/x.zip"},
		{Create, "/tmp/go-build1/b001/exe/main"}, {Chmod, "/tmp/go-build1/b001/exe/main"}, {Write, "ws/app"}, {Write, "ws/go.sum"},
		{Read, "/home/ada/.config/go/env"}, {Create, "/home/ada/.config/go/telemetry/local/x"}, {Create, "/home/ada/go/bin/tool"}, {Write, "/home/ada/go/bin/tool"},
		{Read, "/proc/4711/environ"}, {Read, "/proc/4711/maps"}, {Read, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"},
	},
	"pip install in a venv": {
		{Create, "ws/.venv/bin/activate"}, {Create, "ws/.venv/bin/activate.fish"}, {Create, "ws/.venv/bin/python"},
		{Chmod, "ws/.venv/bin/pip"}, {Write, "ws/.venv/bin/pip"}, {Create, "ws/.venv/lib/python3.12/site-packages/x.py"},
		{Delete, "ws/.venv/bin/activate"}, {Create, "/home/ada/.cache/pip/http/a/b"}, {Read, "/home/ada/.config/pip/pip.conf"},
	},
	"a dev server and tests": {
		{Write, "ws/dist/index.js"}, {Create, "ws/.pytest_cache/v/x"}, {Create, "ws/.next/cache/x"}, {Write, "/dev/null"},
		{Read, "/dev/urandom"}, {Write, "/dev/pts/3"}, {Write, "/dev/shm/sem.x"}, {Create, "/tmp/vite.sock"}, {Write, "ws/CLAUDE.md"},
		{Write, "ws/Makefile"}, {Create, "ws/.env"}, {Read, "ws/.env"}, {Write, "ws/.gitignore"}, {Write, "ws/.vscode/settings.json"},
	},
	"vim, tmux, a shell": {
		{Read, "/home/ada/.vimrc"}, {Create, "/home/ada/.viminfo.tmp"}, {Write, "/home/ada/.viminfo"}, {Create, "ws/.main.go.swp"},
		{Create, "/home/ada/.vim/.netrwhist"}, {Create, "/home/ada/.local/state/nvim/shada/x"}, {Create, "/tmp/tmux-1000/default"},
		{Read, "/home/ada/.bashrc"}, {Write, "/home/ada/.bash_history"}, {Write, "/home/ada/.zsh_history"},
		{Create, "/home/ada/.config/fish/fish_variables"}, {Create, "/home/ada/.zcompdump"}, {Create, "/home/ada/.lesshst"},
	},
	"the agent CLI": {
		{Create, "/opt/loop/.claude/.claude.json.tmp.1.ab"}, {Create, "/opt/loop/.claude/.claude.json.lock"},
		{Write, "/opt/loop/.claude/projects/-ws/x.jsonl"}, {Write, "/opt/loop/.claude/history.jsonl"}, {Create, "/opt/loop/.claude/todos/x.json"},
		{Create, "/opt/loop/.claude/statsig/x"}, {Create, "/opt/loop/.claude/shell-snapshots/snapshot-bash-1.sh"},
		{Create, "/opt/loop/.claude/sessions/1.json"}, {Create, "/opt/loop/.claude/telemetry/x.json"}, {Write, "/opt/loop/.claude/.credentials.json"},
		{Create, "/opt/loop/.claude/backups/.claude.json.backup.1"}, {Create, "/opt/loop/.claude/.last-cleanup"},
		{Create, "/opt/loop/.claude/plugins/store/cc-plugin-x.json"}, {Create, "/opt/loop/.claude/plugins/store/cc-plugin-x.json.lock"},
		{Delete, "/opt/loop/.claude/plugins/store/cc-plugin-x.json.lock"}, {Create, "/opt/loop/.claude/plugins/known_marketplaces.json"},
		{Create, "/opt/loop/.claude/plugins/installed_plugins.json.tmp.14b54300"}, {Create, "/opt/loop/.claude/plugins/installed_plugins.json.lock"},
		{Create, "/opt/loop/.claude/plugins/marketplaces/official/README.md"}, {Read, "/opt/loop/.claude/settings.json"},
		{Create, "/tmp/claude-1000/x"}, {Create, "/tmp/cc-socks/1.sock"}, {Create, "/home/ada/.cache/claude-cli-nodejs/x/mcp.log"},
		{Write, "/run/loop/runs/7f/mcp.json"}, {Read, "/run/loop/gate/7f.json"}, {Create, "/opt/loop/.claude/file-history/x/y"},
	},
	"ssh and keys that are granted": {
		{Read, "/home/ada/.ssh/known_hosts"}, {Read, "/home/ada/.ssh/config"}, {Read, "/home/ada/.ssh/id_ed25519.pub"},
		{Read, "/home/ada/.aws/credentials"},
	},
}

var (
	dayFolders = []string{"ws/.git", "ws/.git/hooks", "ws/lib/.git/hooks", "/home/ada/.config/fish", "/home/ada/.config/pip", "ws/.claude/skills",
		"/opt/loop/.claude/plugins", "/home/ada/.local/bin", "ws/bin"}
	dayFoldersRenamed = []string{"ws/lib", "ws/node_modules/a", "/tmp/x", "/home/ada/.npm/_cacache/tmp", "ws/.venv", "ws/.git/refs/heads/x"}
	daySockets        = []string{"/tmp/tmux-1000/default", "/var/run/docker.sock", "/run/docker.sock", "@/tmp/.X11-unix/X0", "/tmp/cc-socks/1.sock",
		"/home/ada/.gnupg/S.gpg-agent", "/var/run/nscd/socket"}
	dayCommands = []string{"git push --force", "sudo apt install x", "rm -rf dist", "npm install", "bash -c ls", "curl https://example.org", "node x.js"}
)

// at puts the project in the place of “ws”.
func at(path string) string {
	if rest, is := strings.CutPrefix(path, "ws"); is {
		return somewhere.Workspaces[0] + rest
	}
	return path
}

func TestADaysWorkIsSilent(t *testing.T) {
	for _, name := range []string{NameAgent, NamePerson, NameSystem} {
		e := compiled(t, shipped(t, name))
		for what, acts := range day {
			for _, a := range acts {
				path := at(a.path)
				if v := e.File(a.op, path); v.Decision != Allow {
					t.Errorf("%s, %s: %s %s is %s by %s", name, what, a.op, path, v.Decision, v.Rule)
				}
			}
		}
		for _, path := range dayFolders {
			if v := e.Folder(at(path)); v.Decision != Allow {
				t.Errorf("%s: mkdir %s is %s by %s", name, path, v.Decision, v.Rule)
			}
		}
		for _, path := range dayFoldersRenamed {
			for _, op := range []Operation{Delete, Create} {
				if v := e.Under(op, at(path)); v.Decision != Allow {
					t.Errorf("%s: rename of %s (%s) is %s by %s", name, path, op, v.Decision, v.Rule)
				}
			}
		}
		for _, target := range daySockets {
			if v := e.Connect(target); v.Decision != Allow {
				t.Errorf("%s: connect to %s is %s by %s", name, target, v.Decision, v.Rule)
			}
		}
		for _, line := range dayCommands {
			argv := strings.Fields(line)
			if v := e.Exec(Command{Path: "/usr/bin/" + argv[0], Argv: argv}); v.Decision != Allow {
				t.Errorf("%s: %s is %s by %s", name, line, v.Decision, v.Rule)
			}
		}
	}
}

// TestWhatTheBaselineMinds has one line for each thing that a policy must not miss:
// what the agent's, the person's, the system's and the plan's say.
func TestWhatTheBaselineMinds(t *testing.T) {
	engines := make([]*Engine, 0, 4)
	for _, name := range []string{NameAgent, NamePerson, NameSystem, NamePlan} {
		engines = append(engines, compiled(t, shipped(t, name)))
	}
	word := map[byte]Decision{'.': Allow, '?': Approve, '!': Deny}
	for _, c := range []struct {
		op    Operation
		path  string
		words string // agent, person, system, plan
	}{
		{Write, "/home/ada/.bashrc", "?.!!"},
		{Create, "/root/.profile", "?.!!"},
		{Delete, "/home/bob/.zshrc", "?.!!"},
		{Link, "/home/ada/.bash_profile", "?.!!"},
		{Chmod, "/home/ada/.config/fish/conf.d/x.fish", "?.!!"},
		{Write, "/home/ada/.config/fish/fish_variables", "?.!!"},
		{Create, "/home/ada/.vimrc", "?.!!"},
		{Write, "/home/ada/.config/nvim/lua/x.lua", "?.!!"},
		{Create, "/home/ada/.npmrc", "?.!!"},
		{Write, "/home/ada/.cargo/config.toml", "?.!!"},
		{Write, "/home/ada/.local/bin/claude", "?.!!"},
		{Write, "/home/ada/.gitconfig", "?.!!"},
		{Create, "/home/ada/.config/git/hooks/pre-commit", "?.!!"},
		{Create, "/home/ada/.config/systemd/user/x.service", "?.!!"},
		{Create, "/etc/profile.d/x.sh", "?.!!"},
		{Write, "/opt/loop/.claude/settings.json", "?.!!"},
		{Create, "/opt/loop/.claude/settings.local.json", "?.!!"},
		{Create, "/opt/loop/.claude/hooks/x", "?.!!"},
		{Create, "/opt/loop/.claude/skills/x/SKILL.md", "?.!!"},
		{Create, "/opt/loop/.claude/plugins/cache/x/hooks/hooks.json", "?.!!"},
		{Create, "/opt/loop/.claude/plugins/installed_plugins.json", "?.!!"},
		{Create, "/opt/loop/.claude/agents", "?.!!"}, // a link, which mkdir does not make
		{Write, "/opt/loop/.claude/CLAUDE.md", "?.!!"},
		{Write, "/home/ada/.claude/settings.json", "?.!!"},
		{Create, "ws/.claude/commands/x.md", "?.!!"},
		{Create, "ws/.mcp.json", "?.!!"},
		{Create, "ws/.loop/config.json", "?.!!"},
		{Create, "ws/.loop", "?.!!"},
		{Create, "ws/.envrc", "?.!!"},
		{Create, "ws/.npmrc", "?.!!"},
		{Create, "/home/ada/.bash_completion", "?.!!"},
		{Create, "/home/ada/.local/share/bash-completion/completions/git", "?.!!"},
		{Create, "/home/ada/.local/share/systemd/user/x.service", "?.!!"},
		{Create, "/home/ada/.local/share/dbus-1/services/x.service", "?.!!"},
		{Write, "/home/ada/.local/share/applications/x.desktop", "?.!!"},
		{Write, "/home/ada/.config/nushell/config.nu", "?.!!"},
		{Write, "/home/ada/.config/elvish/rc.elv", "?.!!"},
		{Write, "/home/ada/.config/powershell/profile.ps1", "?.!!"},
		{Write, "/home/ada/.config/zsh/.zshrc", "?.!!"},
		{Write, "/home/ada/.config/starship.toml", "?.!!"},
		{Create, "/home/ada/.oh-my-zsh/custom/x.zsh", "?.!!"},
		{Create, "/home/ada/.xonshrc", "?.!!"},
		{Create, "/home/ada/.config/autostart/x.desktop", "?.!!"},
		{Write, "/home/ada/.gnupg/gpg-agent.conf", "?.!!"},
		{Create, "/home/ada/.docker/cli-plugins/docker-x", "?.!!"},
		{Create, "/home/ada/.local/share/helm/plugins/x/plugin.yaml", "?.!!"},
		{Write, "/home/ada/.config/mise/config.toml", "?.!!"},
		{Write, "/home/ada/.kube/config", "!?!!"},
		{Write, "/home/ada/.ssh/config", "!?!!"},
		{Write, "/home/ada/.docker/config.json", "!?!!"},
		{Create, "/home/ada/.local/bin/git", "?.!!"},
		{Create, "/home/ada/bin/ssh", "?.!!"},
		{Create, "/home/ada/.local/bin/semver", "...!"},
		{Write, "/etc/cron.weekly/x", "?.!!"},
		{Write, "/etc/ssh/ssh_config", "?.!!"},
		{Create, "/etc/xdg/autostart/x.desktop", "?.!!"},
		{Write, "/etc/zshrc", "?.!!"},
		{Write, "ws/.cargo/config.toml", "?.!!"},
		{Create, "ws/bunfig.toml", "?.!!"},
		{Write, "ws/.mise.toml", "?.!!"},
		{Create, "ws/.vscode/tasks.json", "?.!!"},
		{Create, "ws/.idea/runConfigurations/x.xml", "?.!!"},
		{Create, "ws/.idea/startup.xml", "?.!!"},
		{Create, "ws/.devcontainer/devcontainer.json", "?.!!"},
		{Create, "ws/.devcontainer.json", "?.!!"},
		{Create, "ws/.husky/pre-commit", "?.!!"},
		{Write, "ws/.husky/_/pre-commit", "...!"}, // as npm install does
		{Write, "ws/lefthook.yml", "?.!!"},
		{Write, "ws/.pre-commit-config.yaml", "?.!!"},
		{Write, "ws/.gitattributes", "...!"}, // names filters, whose programs .git/config has
		{Write, "ws/.gitmodules", "...!"},    // git copies its addresses into .git/config
		{Write, "ws/Makefile", "...!"},
		{Write, "ws/.git/config", "?.!!"},
		{Create, "ws/.git/config.worktree", "?.!!"},
		{Write, "ws/.GIT/CONFIG", "?.!!"},
		{Write, "ws/.g\u0131t/config", "...!"}, // what other letters are the same depends on the file system
		{Write, "ws/GIT~1/config", "...!"},
		{Create, "ws/.git/hooks/pre-commit", "?.!!"},
		{Create, "ws/.git/hooks", "?.!!"},
		{Chmod, "ws/.git/hooks/pre-push", "?.!!"},
		{Create, "ws/.git", "?.!!"},
		{Write, "ws/.git/commondir", "?.!!"},
		{Create, "ws/.git/modules/lib/sub/hooks/post-checkout", "?.!!"},
		{Write, "ws/.git/modules/lib/config", "?.!!"},
		{Write, "ws/.git/worktrees/x/commondir", "?.!!"},
		{Create, "ws/.git/worktrees/x/config.worktree", "?.!!"},
		{Write, "ws/.venv/bin/activate", "?.!!"},
		{Link, "ws/sub/env/bin/activate.csh", "?.!!"},
		{Write, "/work trees/two/.git/config", "?.!!"},
		{Link, "ws/.git/hooks/pre-commit.sample", "?.!!"}, // and could then be changed by its other name
		{Link, "/opt/loop/.claude/plugins/store/x.json", "?.!!"},
		{Write, "/home/ada/.ssh/known_hosts", "!?!!"},
		{Write, "/opt/loop/.claude/local/claude", "...!"}, // a later run executes it
		{Create, "ws/.git/hooks/pre-commit.sample", "...!"},
		{Create, "ws/.git/worktrees/x/commondir", "...!"}, // as git worktree add does
		{Create, "ws/.worktrees/x/.git", "...!"},
		{Create, "ws/.worktrees/x/.claude/settings.json", "...!"},
		{Write, "ws/.git/info/exclude", "...!"},
		{Write, "ws/main.go", "...!"},
		{Create, "/usr/local/lib/x", "...!"},
		{Create, "/home/ada/notes", "...!"},
		{Write, "/tmp/x", "...."},
		{Write, "/dev/null", "...."},
		{Write, "/opt/loop/.claude/projects/x.jsonl", "...."},
		{Write, "/run/loop/runs/7f/x", "...."},
		{Read, "/home/ada/.ssh/id_ed25519", "!?!!"},
		{Write, "/home/ada/.ssh/authorized_keys", "!?!!"},
		{Read, "/Users/ada/.ssh/id_rsa", "!?!!"},
		{Read, "/c/Users/ada/.aws/credentials", "!?!!"},
		{Link, "/home/ada/.ssh/id_ed25519", "!?!!"},
		{Read, "/root/.config/gcloud/credentials.db", "!?!!"},
		{Read, "/home/bob/.netrc", "!?!!"},
		{Read, "/home/ada/.docker/config.json", "!?!!"},
		{Read, "/home/ada/.config/gh/hosts.yml", "!?!!"},
		{Read, "/home/ada/.git-credentials", "!?!!"},
		{Read, "/home/ada/.aws/credentials", "...."}, // granted
		{Write, "/home/ada/.aws/credentials", "!?!!"},
		{Read, "/etc/shadow", "!?!!"},
		{Write, "/proc/1/mem", "!!!!"},
		{Read, "/proc/4711/task/4712/mem", "!!!!"},
		{Read, "/proc/kcore", "!!!!"},
		{Write, "/proc/sys/kernel/core_pattern", "!!!!"},
		{Write, "/sys/fs/cgroup/release_agent", "!!!!"},
		{Read, "/dev/sda1", "!!!!"},
		{Read, "/dev/nvme0n1", "!!!!"},
		{Write, "/run/loop/runs/80/x", "!!!!"},
		{Delete, "/run/loop/gate/7f.json", "!!!!"},
		{Read, "/run/loop/private/spool/x", "!!!!"},
		{Write, "/opt/loop/bin/loop", "!!!!"},
		{Write, "/etc/loop/gate-policy.json", "!!!!"},
	} {
		path := at(c.path)
		for i, e := range engines {
			v := e.File(c.op, path)
			if v.Decision != word[c.words[i]] {
				t.Errorf("%d: %s %s is %s by %q, want %s", i, c.op, path, v.Decision, v.Rule, word[c.words[i]])
			}
			if v.Decision != Allow && (v.Rule == "" || v.Message == "") {
				t.Errorf("%d: %s %s: no rule or no message", i, c.op, path)
			}
		}
	}
	for target, words := range map[string]string{
		"/var/run/docker.sock.host": "!?!!", "/run/docker.sock.host": "!?!!", "/run/containerd/containerd.sock": "!?!!",
		"/home/ada/.docker/run/docker.sock": "!?!!", "/run/user/1000/bus": "!?!!", "/run/loop/private/init.sock": "!!!!", "/tmp/x": "....",
	} {
		for i, e := range engines {
			if v := e.Connect(target); v.Decision != word[words[i]] {
				t.Errorf("%d: connect %s is %s by %q", i, target, v.Decision, v.Rule)
			}
		}
	}
	for dir, words := range map[string]string{"ws/.git": "?.!!", "ws": "?.!!", "/home/ada": "!?!!", "/run/loop": "!!!!", "ws/.claude": "?.!!"} {
		for i, e := range engines {
			if v := e.Under(Delete, at(dir)); v.Decision != word[words[i]] {
				t.Errorf("%d: rename of %s is %s by %q", i, dir, v.Decision, v.Rule)
			}
		}
	}
}

func TestRulesOfTheBaselineAreWhole(t *testing.T) {
	for _, name := range []string{NameAgent, NamePerson, NameSystem, NamePlan} {
		for _, place := range []Place{somewhere, {}} {
			p, err := Baseline(name, place)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(p.Encode()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			ids := map[string]bool{}
			for _, r := range p.FileRules {
				if r.ID == "" || ids[r.ID] || len(r.Paths) == 0 || len(r.Operations) == 0 {
					t.Errorf("%s: %q stands twice, or matches everything", name, r.ID)
				}
				ids[r.ID] = true
				whole(t, r.ID, r.Decision, r.Message, r.Advice)
			}
			for _, r := range p.PathRules {
				whole(t, r.ID, r.Decision, r.Message, r.Advice)
			}
			for _, r := range p.CommandRules {
				whole(t, r.ID, r.Decision, r.Message, r.Advice)
			}
		}
	}
}

// toAgents are words that only an agent is told with, and not the person who answers.
var toAgents = regexp.MustCompile(`(^|[.:] )(Use|Ask|Show|Keep|Say|Make|Set|Create|Describe|Install|Remove|Work) |the person`)

// whole checks the words of a rule: why, for everybody, and what the agent can do instead.
func whole(t *testing.T, id string, d Decision, message, advice string) {
	t.Helper()
	if d == Allow {
		return
	}
	told := Verdict{Message: message, Advice: advice}.Told()
	if !strings.HasSuffix(told, ".") || len(told) > 300 || utf8.RuneCountInString(told) < 60 || strings.Contains(told, "!") {
		t.Errorf("%s: %q says too little or too much", id, told)
	}
	if !strings.HasSuffix(message, ".") || len(message) > 150 || toAgents.MatchString(message) {
		t.Errorf("%s: %q is not for the person who answers", id, message)
	}
}

func TestPlacesThatAreRefused(t *testing.T) {
	for name, p := range map[string]Place{
		"relative home": {Home: "ada"}, "root as home": {Home: "/"}, "root as project": {Workspaces: []string{"/"}},
		"empty project": {Workspaces: []string{""}}, "dots": {State: []string{"/a/../b"}}, "root granted": {CredentialGrants: []string{"//"}},
		"not UTF-8": {Workspaces: []string{"/\xff"}}, "another folder as run's": {RunDir: "/run/loop"}, "everybody's runs": {RunDir: "/run/loop/runs/"},
	} {
		if _, err := Baseline(NameAgent, p); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := Baseline("root", Place{}); err == nil {
		t.Error("an unknown policy is taken")
	}
	odd := Place{Workspaces: []string{"/w/[a]{b}*"}}
	p, err := Baseline(NameAgent, odd)
	if err != nil {
		t.Fatal(err)
	}
	e := compiled(t, p)
	if e.File(Write, "/w/[a]{b}*/.envrc").Decision != Approve || e.File(Write, "/w/ab/.envrc").Decision != Allow {
		t.Error("a project's name is read as a pattern")
	}
}

// TestHomeElsewhere: a home that is where no other is has the same rules.
func TestHomeElsewhere(t *testing.T) {
	p, err := Baseline(NameAgent, Place{Home: "/data/me"})
	if err != nil {
		t.Fatal(err)
	}
	e := compiled(t, p)
	for path, want := range map[string]Decision{"/data/me/.bashrc": Approve, "/data/me/.ssh/id_x": Deny, "/data/you/.bashrc": Allow} {
		if d := e.File(Write, path).Decision; d != want {
			t.Errorf("%s: %s", path, d)
		}
	}
}

func TestSuggest(t *testing.T) {
	ws := somewhere.Workspaces[0]
	for _, c := range []struct {
		op   Operation
		path string
		want []string
	}{
		{Write, "/home/ada/.bashrc", []string{"/home/ada/.bashrc"}},
		{Write, ws + "/.git/config", []string{ws + "/.git/config{,.lock}"}},
		{Create, ws + "/node_modules/a/{x}.js", []string{ws + `/node_modules/a/\{x\}.js`, ws + "/node_modules/**"}},
		{Create, "/home/ada/.cache/pip/x", []string{"/home/ada/.cache/pip/x", "/home/ada/.cache/**"}},
		{Write, ws + "/main.go", []string{ws + "/main.go"}},
		{Write, "/home/ada/.gradle/caches/x", []string{"/home/ada/.gradle/caches/x"}}, // beside what runs later
		{Write, ws + "/.tox/py3/bin/activate", []string{ws + "/.tox/py3/bin/activate"}},
		{Read, "/home/ada/.ssh/known_hosts", nil}, // allowed, and never remembered
		{Read, "/home/ada/.ssh/id_ed25519", nil},
		{Write, "/run/loop/gate/x", nil},
		{Write, "/proc/1/mem", nil},
		{Write, "/a\xff", nil},
		{Write, "/a\u202eb", nil},
		{Write, "/a\nb", nil},
		{Write, "/a/../b", nil},
		{Write, "a", nil},
		{"exec", "/a", nil},
	} {
		var got []string
		for _, r := range Suggest(c.op, c.path, somewhere) {
			got = append(got, r.Paths...)
			e := compiled(t, Policy{DefaultDecision: Deny, FileRules: []FileRule{r}})
			if e.File(c.op, c.path).Decision != Allow {
				t.Errorf("%q does not cover %s", r.Paths, c.path)
			}
			if !slices.Contains(r.Operations, c.op) {
				t.Errorf("%q is not for %s", r.Paths, c.op)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.op, c.path, got, c.want)
		}
	}
}
