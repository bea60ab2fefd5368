//go:build docker

package e2e

import "strings"

func buildChores(goroot string) []chore {
	const registry = `export npm_config_registry=http://127.0.0.1:8802/ npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false` + "\n"
	chores := []chore{
		shell("go build", `PATH=`+goroot+`/bin:$PATH; go build -o out/app ./cmd/app && out/app && go vet ./... && go fmt ./... && go mod tidy && go run ./cmd/app && go install ./cmd/app && ~/go/bin/app; git status --short`),
		shell("go test", `PATH=`+goroot+`/bin:$PATH; go test ./... | sed 's/[0-9.]*s$//'; go test -count=1 -cover ./sum | grep -o 'coverage: .*%'; go list ./...; go env -w GOFLAGS=-mod=mod; echo $?`,
			"startup.tool: settings of the Go tool hold for every project"),
		shell("make", `make -s check && make -s check && file=out/main && test -x $file && cc -g -O2 -shared -fPIC -o out/m.so main.c && ar rcs out/m.a out/m.so && nm out/main | grep -c ' T main'`),
		shell("text", `sed -i 's/make/make check/' CLAUDE.md && perl -pi -e 's/commit/push/' CLAUDE.md && cat CLAUDE.md && cp -a CLAUDE.md out/ && touch -r main.c out/CLAUDE.md && diff -u main.c CLAUDE.md >out/d.patch; cp main.c out/m.c && patch -s out/m.c out/d.patch && cmp out/m.c CLAUDE.md && git checkout -q CLAUDE.md
find . -name '*.py' -not -path './.git/*' | sort | xargs grep -l main; rg -l main -g '*.py' | sort; find out -name '*.c' -exec chmod 600 {} + -delete; ln -sf ../main.c out/link && readlink out/link && cat out/link | head -1`),
		shell("archives", `tar czf out/all.tgz --exclude=./out --exclude=./.git --sort=name . && mkdir -p out/x && tar xzf out/all.tgz -C out/x && diff -r --exclude=out --exclude=.git . out/x && mv out/x out/y && rm -rf out/y && gzip -k out/d.patch && zcat out/d.patch.gz | tail -1 && xz -k out/d.patch && python3 -m zipfile -c out/z.zip py && unzip -qo out/z.zip -d out/z && ls out/z/py; split -b 100 Makefile out/part. && cat out/part.* | cmp - Makefile; install -D -m 755 main.c out/i/main.c; truncate -s 1M out/big; dd if=/dev/zero of=out/big bs=1k count=4 conv=notrunc 2>/dev/null; stat -c %s out/big; mkfifo out/fifo; (echo piped >out/fifo &); cat out/fifo; rm out/fifo`),
		shell("npm install", waits+registry+`(setsid node registry.js >/dev/null 2>&1 & echo $! >~/registry.pid); waits curl -sf http://127.0.0.1:8802/semver
npm install glob semver >/dev/null && npm install -D tar >/dev/null; npm ls --all --parseable | sed "s,$PWD,," | sort | md5sum; cat out.txt; rm out.txt; jq -c .dependencies package.json; git status --short`),
		shell("npm scripts", registry+`npm test 2>&1 | grep -E '^. (pass|fail)'; npm run -s build && cmp out/bundle.js server.js && npx semver 1.2.3 -i minor && npm exec -- semver 2.0.0 && npm pkg set description=day && npm version -s --no-git-tag-version patch >/dev/null; npm pack -s --pack-destination out && npm ci >/dev/null; rm -f out.txt; npm uninstall tar >/dev/null; rm -f out.txt; ls node_modules | wc -l; jq -c '[.version,.devDependencies]' package.json`),
		shell("npx of something new", registry+`npx --yes which node && npm install -g semver >/dev/null && semver 3.2.1 && npm install -g semver >/dev/null && semver 3.2.1 && npm update -g >/dev/null && npm uninstall -g semver >/dev/null; ls ~/.local/bin; npm cache verify >/dev/null; npm init -y -w pkgs/one >/dev/null; ls pkgs/one; rm -rf pkgs; git checkout -q package.json; git status --short`),
		shell("npm settings", `npm config set fund false && cat ~/.npmrc`, "startup.tool: npm takes its registry and its commands from this file, in every project"),
		shell("pnpm", registry+`mkdir -p out/pn && cd out/pn && echo '{}' >package.json && pnpm add -s glob && ls node_modules && pnpm add -s -g semver 2>/dev/null; pnpm store path >/dev/null && pnpm install -s && pnpm exec glob --help >/dev/null; ls`),
		shell("dev server", waits+`node server.js & p=$!; waits curl -sf http://127.0.0.1:8801/; curl -s http://127.0.0.1:8801/page; kill $p; wait $p 2>/dev/null; echo
python3 -m http.server --bind 127.0.0.1 8804 >out/log 2>&1 & p=$!; waits curl -sf http://127.0.0.1:8804/; curl -s http://127.0.0.1:8804/Makefile | head -1; kill $p; wait $p 2>/dev/null; grep -c GET out/log | grep -q . && echo logged`),
		shell("watch mode", waits+`node --test --watch >out/w.log 2>&1 & p=$!; waits grep -q 'pass 1' out/w.log; echo "test('twice', () => {});" >>app.test.js; waits grep -q 'pass 2' out/w.log; kill $p; wait $p 2>/dev/null; git checkout -q app.test.js
node --watch server.js >out/s.log 2>&1 & p=$!; waits curl -sf http://127.0.0.1:8801/; sed -i s/served/changed/ server.js; waits sh -c 'curl -s http://127.0.0.1:8801/ | grep -q changed'; kill $p; wait $p 2>/dev/null; git checkout -q server.js; git status --short`),
		shell("venv", `python3 -m venv .venv && . .venv/bin/activate && cd py && pip install -q --no-index --no-build-isolation -e . && greet && python -m unittest 2>&1 | tail -1; pip list --format=freeze | grep greet; cd .. && deactivate; git status --short`),
		shell("pip", `. .venv/bin/activate && pip install -q --no-index --no-build-isolation --no-deps wheel 2>/dev/null; pip wheel -q --no-index --no-build-isolation --no-deps -w out/wheels ./py; pip uninstall -q -y greet && pip install -q --no-build-isolation --no-index ./py && greet && pip install -q --no-index --no-build-isolation --force-reinstall ./py && greet && pip freeze | sed "s,$PWD,," && pip cache dir >/dev/null && pip uninstall -q -y greet; cp /usr/share/python-wheels/pip-*.whl out/ && pip install -q --no-index --force-reinstall out/pip-*.whl && pip --version | cut -d' ' -f1,2; rm -rf py/build py/*.egg-info; git status --short`),
		shell("venv again", `python3 -m venv .venv && .venv/bin/python -c 'print(1)'; python3 -m venv --clear .venv && .venv/bin/python -c 'print(2)'; python3 -m venv --upgrade .venv; rm -rf .venv && python3 -m venv --without-pip .venv && ls .venv/bin; rm -rf .venv`,
			"startup.venv: a shell sources these scripts"),
		shell("pip for the user", `pip install -q --user --no-index --no-build-isolation --break-system-packages ./py && ~/.local/bin/greet && pip install -q --user --no-index --no-build-isolation --break-system-packages --force-reinstall ./py 2>/dev/null; ~/.local/bin/greet; pip uninstall -q -y --break-system-packages greet; rm -rf py/build py/*.egg-info; ls ~/.local/bin`),
		shell("python", `python3 - <<'E'
import sqlite3, multiprocessing as m, tempfile, os, shutil, subprocess, fcntl, mmap, pathlib, json
d = sqlite3.connect('out/db'); d.execute('pragma journal_mode=wal'); d.execute('create table t(a)'); d.executemany('insert into t values(?)', [(i,) for i in range(100)]); d.commit()
print(sqlite3.connect('out/db').execute('select sum(a) from t').fetchone())
def f(x): return x * x
if __name__ == '__main__':
    with m.get_context('fork').Pool(2) as p: print(p.map(f, range(4)))
    q = m.Queue(); q.put(1); print(q.get())
    with tempfile.TemporaryDirectory() as t:
        pathlib.Path(t, 'a').write_text('x'); os.replace(t + '/a', t + '/b'); shutil.copytree(t, t + '2'); shutil.move(t + '2', 'out/moved'); print(os.listdir('out/moved'))
    with open('out/lock', 'w+') as l:
        fcntl.lockf(l, fcntl.LOCK_EX); fcntl.flock(l, fcntl.LOCK_EX); l.truncate(4096); mmap.mmap(l.fileno(), 4096)[0:1] = b'x'
    print(subprocess.run(['sh', '-c', 'echo out; echo err >&2; exit 3'], capture_output=True).returncode)
    os.chmod('out/lock', 0o640); os.utime('out/lock', (1, 2)); s = os.stat('out/lock'); print(oct(s.st_mode), s.st_mtime)
    for bad in ('/etc/hosts', '/nowhere/x', 'Makefile/x', '/proc/self/nope', ''):
        try: open(bad, 'w')
        except OSError as e: print(e.errno, e.strerror)
    try: os.rename('out', 'out/moved/out')
    except OSError as e: print(e.errno)
    try: os.rmdir('out')
    except OSError as e: print(e.errno)
    try: os.mkdir('out')
    except OSError as e: print(e.errno)
    try: os.link('Makefile', '/dev/shm/x')
    except OSError as e: print(e.errno)
E`),
		shell("node", `node -e '
const fs = require("fs"), { Worker, isMainThread } = require("worker_threads"), cp = require("child_process"), net = require("net");
fs.writeFileSync("out/n", "x"); fs.appendFileSync("out/n", "y"); fs.copyFileSync("out/n", "out/n2"); fs.renameSync("out/n2", "out/n3"); fs.rmSync("out/n3");
fs.mkdirSync("out/deep/er", { recursive: true }); fs.symlinkSync("deep", "out/sym"); fs.cpSync("out/deep", "out/deep2", { recursive: true }); fs.rmSync("out/deep", { recursive: true });
console.log(fs.readdirSync("out").includes("deep"), fs.readlinkSync("out/sym"), cp.spawnSync("nowhere").error.code);
try { fs.readFileSync("/etc/shadow-x") } catch (e) { console.log(e.code) }
const s = net.createServer(c => c.end("over a socket")).listen("out/s.sock", () => net.connect("out/s.sock").on("data", d => { console.log(String(d)); s.close() }));
const child = cp.fork("-e", [], { execArgv: ["-e", "process.send(42); process.disconnect()"] }); child.on("message", m => console.log("from a child", m));
new Worker("require(\"worker_threads\").parentPort.postMessage(7)", { eval: true }).on("message", m => console.log(m));
' | sort`),
		shell("tmux", waits+`tmux new-session -d -s agent "sh -c 'echo in tmux >out/tm; sleep 100'" && waits test -s out/tm && cat out/tm && tmux send-keys -t agent x && tmux capture-pane -p -t agent >/dev/null && tmux kill-server; script -qc 'tty >/dev/null && echo on a terminal' /dev/null; printf 'i%s\033:wq\r' hello | vim -es -u NONE +'normal ihello' +'wq! out/v.txt' CLAUDE.md; tail -1 out/v.txt`),
		shell("shells", `bash -lc 'echo login' ; sh -c 'ulimit -n >/dev/null; umask 027; mkdir out/um; touch out/um/f; stat -c %a out/um out/um/f'; timeout 1 sleep 5; echo $?; nohup true >/dev/null 2>&1; env -i /bin/true; nice true; (sleep 100 & kill $!; wait $! 2>/dev/null; echo $?); seq 5 | xargs -P 3 -I{} sh -c 'echo {}' | sort | tr '\n' ' '; cat <(echo sub) ; trap 'echo trapped' USR1; kill -USR1 $BASHPID; ps -o pid= -p $$ >/dev/null && echo ps; tee out/t </dev/null; mktemp -d >/dev/null; echo "$(nproc >/dev/null; echo ok)"; time -p true 2>/dev/null; ssh -V 2>&1 | cut -c1-7; ls /proc/self/fd >/dev/null; cat /proc/meminfo | wc -l | grep -q . && df . >/dev/null && du -s out >/dev/null && echo done`),
		shell("clean", `kill $(cat ~/registry.pid 2>/dev/null) $(cat ~/http.pid) $(cat ~/daemon.pid); rm -rf node_modules out package-lock.json; git checkout -q . ; git status --short`),
	}
	for i := range chores { // one shell in bash, whatever the CLI's is
		in := chores[i].step.in
		chores[i].varies = chores[i].what == "venv" || chores[i].what == "pip" || chores[i].what == "shells"
		in["command"] = strings.Replace(in["command"].(string), "cd \"$PROJECT\"; (\n", "cd \"$PROJECT\"; (\nmkdir -p out\n", 1)
	}
	return chores
}

func agentChores() []chore {
	call := func(what, tool string, in map[string]any, asks ...string) chore {
		return chore{what: what, step: step{tool, in}, asks: asks}
	}
	chores := []chore{
		call("read", "Read", map[string]any{"file_path": "$PROJECT/package.json"}),
		call("edit package.json", "Edit", map[string]any{"file_path": "$PROJECT/package.json", "old_string": "1.0.0", "new_string": "1.1.0"}),
		call("write a source file", "Write", map[string]any{"file_path": "$PROJECT/src/new.js", "content": "export const a = 1;\n"}),
		call("edit it", "Edit", map[string]any{"file_path": "$PROJECT/src/new.js", "old_string": "1", "new_string": "2"}),
		call("editor's settings", "Write", map[string]any{"file_path": "$PROJECT/.vscode/settings.json", "content": "{}\n"}),
		call("read the instructions", "Read", map[string]any{"file_path": "$PROJECT/CLAUDE.md"}),
		call("the project's instructions", "Edit", map[string]any{"file_path": "$PROJECT/CLAUDE.md", "old_string": "make", "new_string": "make check"}),
		call("a workflow", "Write", map[string]any{"file_path": "$PROJECT/.github/workflows/ci.yml", "content": "on: push\n"}),
		call("a note for itself", "Write", map[string]any{"file_path": "/tmp/note.md", "content": "remember\n"}),
		call("search", "Bash", map[string]any{"command": "cd \"$PROJECT\" && git diff --stat && cat src/new.js", "description": "look"}),
		call("a list", "TodoWrite", map[string]any{"todos": []map[string]any{{"content": "a", "status": "in_progress", "activeForm": "doing a"}}}),
		shell("a key", `ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519 2>&1 | tail -1; cat ~/.ssh/id_ed25519 2>&1 | sed 's/.*: //'`),
		shell("a hook", `printf '#!/bin/sh\nmake check\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && ls .git/hooks/pre-commit`), // the folder is mounted read-only, so that it fails
		shell("husky", `mkdir .husky && echo 'make check' >.husky/pre-commit && git config core.hooksPath .husky && git config core.hooksPath`,
			"startup.git-config: git then runs the programs of a folder that the agent writes", "startup.project: every commit runs it"),
		shell("alias", `echo "alias ll='ls -l'" >>~/.bashrc && cat ~/.bashrc`, "startup.shell: every shell runs it"),
		call("the agent's own instructions", "Write", map[string]any{"file_path": "$PROJECT/.claude/CLAUDE.md", "content": "Be brief.\n"},
			"startup.agent: every later run follows it"),
		call("a server for agents", "Write", map[string]any{"file_path": "$PROJECT/.mcp.json", "content": "{\"mcpServers\":{}}\n"},
			"startup.agent: every later run starts what stands in it"),
		// Last, because a call beside others may not be known as the cause of what is denied.
		call("a subagent", "Task", map[string]any{"description": "look", "prompt": "Do-aside", "subagent_type": "general-purpose"}),
		call("in the background", "Bash", map[string]any{"command": "cd \"$PROJECT\" && echo $$ >out.pid && sleep 1000", "description": "serve", "run_in_background": true}),
		shell("end it", waits+`waits grep -qx aside notes.md; waits test -s out.pid; kill $(cat out.pid) && rm out.pid; git status --short`),
	}
	for i := range chores {
		switch chores[i].what {
		case "a subagent", "in the background":
			chores[i].varies = true
		case "a key":
			chores[i].denied = []string{"credential.home"}
		}
	}
	return chores
}
