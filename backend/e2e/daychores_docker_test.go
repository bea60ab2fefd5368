//go:build docker

package e2e

import "loop/backend/soaktest"

// chore is one tool call of a day's work. Its text must not depend on where or when it
// runs, as it is compared with what the same call prints without the gate.
type chore struct {
	what   string
	step   step
	asks   []string // rules, each with why it is reasonable that it asks: “rule: why”
	denied []string // rules that deny at once
	varies bool     // what it prints has names that are made up
}

// shell is a chore in the project's folder, of which everything printed counts, and how it
// ends.
func shell(what, script string, asks ...string) chore {
	return chore{what: what, asks: asks, step: step{"Bash", map[string]any{"description": what, "timeout": 600_000,
		"command": "cd \"$PROJECT\"; (\n" + script + "\n) 2>&1; echo \"exit $?\""}}}
}

// dayFiles are the project as a person has it: a Go module, a package of npm, one of
// Python and a little C.
var dayFiles = map[string]string{
	".gitignore":        "/node_modules/\n/.venv/\n/out/\n__pycache__/\n*.egg-info/\n/build/\n",
	"CLAUDE.md":         "Run make before a commit.\n",
	"go.mod":            "module example.org/app\n\ngo 1.21\n",
	"sum/sum.go":        "package sum\n\n// Of adds.\nfunc Of(a ...int) (n int) {\n\tfor _, x := range a {\n\t\tn += x\n\t}\n\treturn n\n}\n",
	"sum/sum_test.go":   "package sum\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif Of(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
	"cmd/app/main.go":   "package main\n\nimport \"example.org/app/sum\"\n\nfunc main() { println(sum.Of(40, 2)) }\n",
	"package.json":      `{"name":"app","version":"1.0.0","private":true,"type":"module","scripts":{"test":"node --test","build":"node build.js","postinstall":"echo installed > out.txt"}}` + "\n",
	"build.js":          "import fs from 'node:fs';\nfs.mkdirSync('out', { recursive: true });\nfs.writeFileSync('out/bundle.js', fs.readFileSync('server.js'));\n",
	"server.js":         "import http from 'node:http';\nhttp.createServer((q, a) => a.end('served ' + q.url)).listen(8801, '127.0.0.1');\n",
	"app.test.js":       "import test from 'node:test';\nimport assert from 'node:assert';\ntest('adds', () => assert.equal(1 + 2, 3));\n",
	"main.c":            "#include <stdio.h>\nint main(void) { puts(\"from c\"); return 0; }\n",
	"Makefile":          "out/main: main.c\n\tmkdir -p out\n\tgcc -o $@ $<\n.PHONY: check\ncheck: out/main\n\t./out/main\n",
	"py/pyproject.toml": "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n",
	"py/setup.cfg": "[metadata]\nname = greet\nversion = 1.0\n[options]\npackages = greet\n[options.entry_points]\nconsole_scripts =\n" +
		"    greet = greet:main\n",
	"py/greet/__init__.py": "def main():\n    print('hello')\n",
	"py/test_greet.py":     "import unittest, greet\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertIsNone(greet.main())\n",
	"registry.js":          npmRegistry,
}

// npmRegistry serves the packages that npm itself is made of: real ones, with
// dependencies and commands, and always there.
const npmRegistry = `import http from 'node:http';
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
const root = '/usr/local/lib/node_modules/npm/node_modules/', balls = {};
http.createServer((q, a) => {
  const path = decodeURIComponent(q.url.split('?')[0]).slice(1), name = path.replace(/\/-\/.*/, '');
  if (!fs.existsSync(root + name + '/package.json')) return a.writeHead(404).end('{}');
  const ball = balls[name] ??= execFileSync('tar', ['-C', root + name, '--transform', 's,^\\.,package,', '--exclude=./node_modules', '-cz', '.'], { maxBuffer: 1 << 28 });
  if (path !== name) return a.end(ball);
  const p = JSON.parse(fs.readFileSync(root + name + '/package.json'));
  p.dist = { tarball: 'http://127.0.0.1:8802/' + name + '/-/x.tgz', integrity: 'sha512-' + createHash('sha512').update(ball).digest('base64') };
  a.setHeader('content-type', 'application/json');
  a.end(JSON.stringify({ name, 'dist-tags': { latest: p.version }, versions: { [p.version]: p } }));
}).listen(8802, '127.0.0.1');
`

// waits is a function of a shell that waits until a command succeeds.
const waits = `waits() { i=0; until "$@" >/dev/null 2>&1; do i=$((i+1)); [ $i -lt 600 ] || { echo "waited for $* in vain"; exit 1; }; sleep 0.1; done; }
`

// longChores compile or install something, for which “make test” has no time.
var longChores = map[string]bool{"go build": true, "go test": true, "npm install": true, "npm scripts": true, "npx of something new": true, "pnpm": true,
	"watch mode": true, "venv": true, "pip": true, "venv again": true, "pip for the user": true}

// day is what an agent does in a working day, at the request of a developer.
func day(goroot string) []chore {
	chores := gitChores()
	for _, c := range buildChores(goroot) {
		if soaktest.Whole() || !longChores[c.what] {
			chores = append(chores, c)
		}
	}
	return append(chores, agentChores()...)
}

func gitChores() []chore {
	return []chore{
		shell("name", `git config user.name Ada && git config user.email ada@example.org && git config --get user.name`),
		shell("server", waits+`git clone -q --bare . ~/srv/app.git && git -C ~/srv/app.git config http.receivepack true
git daemon --detach --reuseaddr --listen=127.0.0.1 --enable=receive-pack --export-all --base-path="$HOME/srv" --pid-file="$HOME/daemon.pid"
waits git ls-remote git://127.0.0.1/app.git; git -C ~/srv/app.git update-server-info
(cd ~/srv && setsid python3 -m http.server --bind 127.0.0.1 8803 >/dev/null 2>&1 & echo $! >~/http.pid); waits curl -sf http://127.0.0.1:8803/`),
		shell("clone", `git clone -q "file://$HOME/srv/app.git" ~/a && git clone -q git://127.0.0.1/app.git ~/b && git clone -q http://127.0.0.1:8803/app.git ~/c &&
git clone -q --depth 1 "file://$HOME/srv/app.git" out/shallow && cat ~/a/CLAUDE.md ~/b/CLAUDE.md ~/c/CLAUDE.md out/shallow/CLAUDE.md && git -C ~/a config --list --local | sort`),
		shell("commit", `git switch -q -c work && echo one >>notes.md && git add notes.md && git commit -q -m one && echo two >>notes.md && git commit -qam two &&
git commit -q --amend -m 'two, better' && git log --format='%h %s'; git status --short --branch`),
		shell("push", `git push -q -u origin work && git fetch -q --all --prune && git pull -q --rebase && git status --short --branch; git branch -vv`),
		shell("rebase", `git switch -q -c side HEAD~1 && echo other >>notes.md && git commit -qam other && git rebase work >/dev/null 2>&1; git status --short
printf 'one\ntwo\nother\n' >notes.md && git add notes.md && GIT_EDITOR=true git rebase --continue >/dev/null && git log --format='%h %s' && cat notes.md
GIT_SEQUENCE_EDITOR='sed -i s/^pick/reword/' GIT_EDITOR='sed -i 1s/$/!/' git rebase -q -i HEAD~2; git log --format='%h %s'`),
		shell("stash", `echo dirty >>notes.md; git stash -q && git stash list && git stash pop -q && git diff --stat && git checkout -q -- notes.md && git cherry-pick work 2>&1 | tail -1; git cherry-pick --skip 2>/dev/null; git status --short`),
		shell("worktree", `git worktree add -q -b tree out/tree && echo x >out/tree/x && git -C out/tree add x && git -C out/tree commit -q -m x && git worktree list | wc -l && git worktree remove out/tree && git branch -q -D tree; git worktree prune; git branch`),
		shell("tag and gc", `git tag v1 && git tag -a -m two v2 && git describe && git gc -q && git count-objects -v | grep -E 'packs|^count' && git fsck 2>&1 | grep -v dangling; git repack -qad; git reflog expire --expire=now --all; git prune`),
		shell("patches", `git format-patch -q -o out/p work~1..work && git switch -q -c patched work~1 && git am -q out/p/*.patch && git log --format=%s -1 && git bundle create -q out/b.bundle work && git archive -o out/a.tar work && tar tf out/a.tar | wc -l
git switch -q work && git merge -q --no-ff -m merged side && git log --format=%s -1; git revert --no-edit HEAD~1 >/dev/null 2>&1; git revert --abort 2>/dev/null; git reset -q --hard && git clean -qfd; git notes add -m note && git notes show; git bisect start -q HEAD HEAD~2 >/dev/null && git bisect run true >/dev/null; git bisect reset -q`),
		shell("branches", `git branch -q -m side aside && git branch -q --set-upstream-to=origin/work aside && git branch -q -D aside && git push -q origin --tags && git push -q origin work && git push -q --delete origin v1 && git ls-remote origin | cut -f2; git config --list --local | grep ^branch | sort`),
		shell("settings of git", `git config pull.rebase true && git config core.autocrlf false && git config rebase.autosquash true && git config commit.gpgsign false && git config rerere.enabled true && git config fetch.prune true && git config --local color.ui false && git config push.default current && git config merge.conflictstyle diff3 && git config diff.algorithm histogram; git config --list --local | wc -l`),
		shell("settings of git for all", `git config --global user.name Ada && git config --global user.email ada@example.org && git config --global init.defaultBranch main && git config --global --add safe.directory "$PWD" && cat ~/.gitconfig | sed "s,$PWD,DIR,"`,
			"startup.git-home: git then trusts a repository of another user, in every project"),
		shell("new repository", `mkdir -p out/new && cd out/new && git init -q -b main && echo x >x && git add . && git commit -q -m x && git log --format='%h %s'; cp -r .git ../copied.git; git -C ../copied.git config core.bare`),
		shell("submodule", `git -c protocol.file.allow=always submodule -q add https://example.org/app.git third && git commit -q -m 'add a submodule' && git submodule status | cut -c1-60; git submodule -q update --init && git submodule foreach -q 'git log --format=%s -1'; git submodule -q update --remote; git submodule -q deinit -f third && git rm -qf third && git commit -q -m 'and not' && git status --short`,
			"startup.git-config: it names a folder that git then works in"),
		shell("remote", `git remote add up https://example.org/up/app.git && git remote -v | sort; git remote rename up upper && git remote remove upper; git remote`,
			"startup.git-config: where a remote leads is where pushes go"),
		shell("sparse", `git clone -q --filter=blob:none --sparse "file://$HOME/srv/app.git" out/sparse && git -C out/sparse sparse-checkout set sum && ls out/sparse; git sparse-checkout set sum py && ls; git sparse-checkout disable && ls | wc -l`),
	}
}
