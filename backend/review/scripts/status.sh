# $1 kind of the scope, $2 from, $3 to
out state 100 state
base=
if [ "$here" != "$common" ]; then base=$(sed -n 's,^ref: refs/heads/,,p' "$common/HEAD" | head -n 1); fi
out base 1000 printf %s "$base"
out branch 1000 printf %s "$(g symbolic-ref --quiet --short HEAD)"
if [ "$1" = worktree ]; then
  guarded
  out status 1048576 g status --porcelain=v2 -z --untracked-files=all --ignore-submodules=dirty --no-renames
else
  from=$2
  if [ "$1" = branch ]; then from=$(g merge-base HEAD main-worktree/HEAD) || exit 204; fi
  out from 100 printf %s "$from"
  # shellcheck disable=SC2086 # options, and an argument that may be none
  out names 1048576 g diff $plain --name-status -z "$from" ${3:+"$3"} --
  [ -n "$3" ] || out others 1048576 g ls-files --others --exclude-standard -z
fi
