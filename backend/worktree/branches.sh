# $1 the folder whose changes count, below the current one
# An agent may write to folders of its home that come first in PATH.
export GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
cd -- "$1" || exit 200
g() { git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c submodule.recurse=false "$@"; }
g rev-parse --is-inside-work-tree >/dev/null || exit 200
g rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null || exit 201
g for-each-ref --count=1001 --sort=-committerdate \
  --format='%(refname:lstrip=2)%00%(HEAD)%00%(worktreepath)%00%(committerdate:unix)%00%(subject)%00' refs/heads | head -c 524288
# No name of a branch has this character.
printf '\n\036\n'
g status --porcelain -z --no-renames --untracked-files=normal --ignore-submodules=dirty | head -c 262144
