# What work needs, as the agent under the read-only root: each program answers, and
# each writes only where it may. Ends with a line for each step that failed.
set -u
failed=
try() { # name command…
  name=$1
  shift
  if ! said=$("$@" 2>&1 </dev/null); then failed="$failed $name"; printf '%s\n' "$said" | tail -5; fi
}
cd "$(mktemp -d "$HOME/tools.XXXXXX")" || exit 1
for p in gcc g++ make node npm pnpm python python3 pip git vim nano less rg; do try "$p" "$p" --version; done
try tmux tmux -V
try htop htop --version

printf '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n' >a.c
printf '#include <iostream>\nint main() { std::cout << "hello\\n"; }\n' >b.cc
printf 'all:\n\tgcc -o a a.c && ./a | grep -qx hello\n\tg++ -o b b.cc && ./b | grep -qx hello\n' >Makefile
try compile make
try venv sh -c 'python3 -m venv v && v/bin/pip --version && v/bin/python -c "import ssl, sqlite3, venv"'
try tmux-session sh -c 'tmux new-session -d "sleep 60" && tmux has-session && tmux kill-server'
try git-commit sh -c 'git init -q g && cd g && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m x'
try vim-edit vim -es -u NONE +'normal ihello' +'wq! edited' a.txt
mkdir package && printf '{"name":"greeting","version":"1.0.0","bin":{"greeting":"x.js"}}' >package/package.json
printf '#!/usr/bin/env node\nconsole.log("hello")\n' >package/x.js
try npm-global sh -c 'cd package && npm install --offline --no-audit --no-fund -g . && [ "$(command -v greeting)" = "$HOME/.local/bin/greeting" ] && greeting | grep -qx hello'
try pnpm-store sh -c 'mkdir p && cd p && echo "{}" >package.json && pnpm add --offline ../package && case $(pnpm store path) in "$HOME"/*) ;; *) pnpm store path; exit 1 ;; esac'
printf 'tools:%s %s\n' "${failed:- all work}" over
