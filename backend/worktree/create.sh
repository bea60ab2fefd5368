# $1 branch, $2 path below the current folder, $3 base or empty
# An agent may write to folders of its home that come first in PATH.
export GIT_TERMINAL_PROMPT=0 LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
git rev-parse --is-inside-work-tree >/dev/null || exit 200
[ -z "$(git rev-parse --show-prefix)" ] || exit 207
git rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null || exit 201
git check-ref-format --branch "$1" >/dev/null || exit 202
if [ -e "$2" ] || [ -L "$2" ]; then
  # Made by an earlier try that was broken off before the channel was stored.
  [ ! -L "$2" ] && [ -f "$2/.git" ] && [ "$(git -C "$2" symbolic-ref --quiet --short HEAD)" = "$1" ] || exit 203
  [ "$(git -C "$2" rev-parse --path-format=absolute --git-common-dir)" = "$(git rev-parse --path-format=absolute --git-common-dir)" ] || exit 203
  here=$(git -C "$2" rev-parse --path-format=absolute --git-dir) || exit 203
  # Git writes the index when every file is there, and says until then what it is at.
  if [ -e "$here/index" ] || [ "$(cat "$here/locked" 2>/dev/null)" != initializing ]; then
    echo kept
    exit 0
  fi
  git worktree remove --force --force -- "$2" </dev/null || exit 1
fi
common=$(git rev-parse --git-common-dir) || exit 1
if ! grep -qxF '/.worktrees/' "$common/info/exclude" 2>/dev/null; then
  mkdir -p "$common/info" || exit 1
  # A last line without its end must not swallow ours.
  if [ -s "$common/info/exclude" ] && [ -n "$(tail -c 1 "$common/info/exclude")" ]; then echo >>"$common/info/exclude"; fi
  echo '/.worktrees/' >>"$common/info/exclude" || exit 1
fi
git worktree prune
if git show-ref --verify --quiet "refs/heads/$1"; then
  if git for-each-ref --format='%(worktreepath)' "refs/heads/$1" | grep -q .; then exit 206; fi
  git worktree add --quiet -- "$2" "$1" </dev/null || exit 1
else
  base=${3:-HEAD}
  git rev-parse --verify --quiet --end-of-options "$base^{commit}" >/dev/null || exit 204
  git worktree add --quiet --no-track -b "$1" -- "$2" "$base" </dev/null || exit 1
fi
