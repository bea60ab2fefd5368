# $1 path below the current folder, $2 safe or force
export GIT_TERMINAL_PROMPT=0 LC_ALL=C
if [ ! -e "$1" ] && [ ! -L "$1" ]; then
  git worktree prune
  exit 0
fi
[ ! -L "$1" ] && [ -f "$1/.git" ] || exit 203
[ "$(git -C "$1" rev-parse --path-format=absolute --git-common-dir)" = "$(git rev-parse --path-format=absolute --git-common-dir)" ] || exit 203
if [ "$2" = force ]; then
  git worktree remove --force --force -- "$1" </dev/null || exit 1
else
  changes=$(git -C "$1" status --porcelain --untracked-files=normal) || exit 1
  if [ -n "$changes" ]; then
    printf '%s\n' "$changes" | head -20 >&2
    exit 205
  fi
  git worktree remove -- "$1" </dev/null || exit 1
fi
