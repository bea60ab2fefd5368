# $1 safe or force, then paths below the current folder. Every one is looked at
# before the first is removed; the path that is the reason to stop is printed last.
# An agent may write to folders of its home that come first in PATH.
export GIT_TERMINAL_PROMPT=0 LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
how=$1
shift
stop() {
  printf '\n%s\n' "$tree"
  exit "$1"
}
common=$(git rev-parse --path-format=absolute --git-common-dir) || exit 1
gone=
for tree; do
  if [ ! -e "$tree" ] && [ ! -L "$tree" ]; then
    gone=1
    continue
  fi
  [ ! -L "$tree" ] && [ -f "$tree/.git" ] || stop 203
  [ "$(git -C "$tree" rev-parse --path-format=absolute --git-common-dir)" = "$common" ] || stop 203
  if [ "$how" != force ]; then
    changes=$(git -C "$tree" status --porcelain --untracked-files=normal) || stop 1
    if [ -n "$changes" ]; then
      printf '%s\n' "$changes" | head -20 >&2
      stop 205
    fi
  fi
done
[ -z "$gone" ] || git worktree prune
for tree; do
  if [ ! -e "$tree" ]; then continue; fi
  if [ "$how" = force ]; then
    git worktree remove --force --force -- "$tree" </dev/null || stop 1
  else
    git worktree remove -- "$tree" </dev/null || stop 1
  fi
done
