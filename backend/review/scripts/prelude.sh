# An agent may write to folders of its home that come first in PATH.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH LC_ALL=C
export GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none GIT_PAGER=cat GIT_EDITOR=: GIT_SEQUENCE_EDITOR=: GIT_LITERAL_PATHSPECS=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_CONFIG_PARAMETERS
command -v git >/dev/null || exit 209
g() {
  git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false -c core.bigFileThreshold=8m \
    -c core.safecrlf=false -c diff.external= -c diff.orderFile=/dev/null -c diff.suppressBlankEmpty=false -c color.ui=false -c apply.whitespace=nowarn \
    -c apply.ignoreWhitespace=no -c commit.gpgSign=false -c submodule.recurse=false -c gc.auto=0 -c maintenance.auto=false "$@"
}
if ! g rev-parse --is-inside-work-tree >/dev/null; then
  [ -f .git ] && exit 208
  exit 200
fi
[ -z "$(g rev-parse --show-prefix)" ] || exit 207
# Programs that the repository names are emptied one by one, as git has no switch for all filters.
keys=$(g config --name-only --get-regexp '^(filter\..*\.(clean|smudge|process|required)|diff\..*\.(textconv|command))$')
n=${GIT_CONFIG_COUNT:-0}
while IFS= read -r key; do
  [ -n "$key" ] || continue
  export "GIT_CONFIG_KEY_$n=$key" "GIT_CONFIG_VALUE_$n="
  n=$((n + 1))
done <<END
$keys
END
export GIT_CONFIG_COUNT=$n
t=$(mktemp -d) || exit 1
trap 'rm -rf "$t"' EXIT
here=$(g rev-parse --git-dir) && common=$(g rev-parse --git-common-dir) || exit 1
plain="--no-ext-diff --no-textconv --no-color --no-renames --no-relative --ignore-submodules=dirty --submodule=short --src-prefix=a/ --dst-prefix=b/ --inter-hunk-context=0 -O/dev/null"
# out NAME MOST PROGRAM…: a section with the first bytes of what a program prints
out() {
  name=$1 most=$2
  shift 2
  { "$@"; echo $? >"$t/code"; } | head -c "$most" >"$t/out"
  read -r code <"$t/code"
  [ "$code" = 0 ] || [ "$code" = 141 ] || exit 1
  printf '%s %s\n' "$name" "$(wc -c <"$t/out")"
  cat "$t/out"
}
# Files that are in no index are shown from a copy of it, in which they are about to be added.
# It keeps its time: git reads a file again only if it is not older than its index.
other_index() {
  index=$(g rev-parse --git-path index) || exit 1
  if [ -e "$index" ]; then cp -p -- "$index" "$t/index" || exit 1; fi
  export GIT_INDEX_FILE="$t/index"
  g add --intent-to-add --pathspec-from-file=- --pathspec-file-nul 2>/dev/null
}
state() {
  if [ -d "$here/rebase-merge" ]; then echo rebase
  elif [ -e "$here/rebase-apply/applying" ]; then echo am
  elif [ -d "$here/rebase-apply" ]; then echo rebase
  elif [ -e "$here/MERGE_HEAD" ]; then echo merge
  elif [ -e "$here/CHERRY_PICK_HEAD" ]; then echo cherry-pick
  elif [ -e "$here/REVERT_HEAD" ]; then echo revert
  elif ! g rev-parse --verify --quiet 'HEAD^{commit}' >/dev/null; then echo no-commits
  else echo none; fi
}
# own FILE MOST: the beginning of a file, and for a longer one a line that is another once the rest
# is. Beyond 1 MB the time of the last change stands for the rest: an agent cannot choose it.
own() {
  head -c "$2" <"$1" | tr -d '\000'
  size=$(wc -c <"$1")
  [ "$size" -le "$2" ] && return
  if [ "$size" -le 1048576 ]; then rest=$(g hash-object --no-filters --stdin <"$1"); else rest=$(stat -L -c 'changed %Z' "$1"); fi
  printf '\n# More of this file is not shown: %s bytes, %s\n' "$size" "$rest"
}
# What is in no difference, and has git run programs.
guarded() {
  for f in "$common/config" "$here/config.worktree" "$common/info/attributes"; do
    [ -f "$f" ] && out "guarded:.git/${f##*/.git/}" 65700 own "$f" 65536
  done
  k=0
  for f in "$common"/hooks/*; do
    case "${f##*/}" in *.sample | *[!A-Za-z0-9._-]*) continue ;; esac
    [ -f "$f" ] && [ "$k" -lt 64 ] || continue
    k=$((k + 1))
    out "guarded:.git/hooks/${f##*/}" 16500 own "$f" 16384
  done
}
# mark is another once the file $p is; empty for none.
mark() { stat -c '%f-%s-%Y-%Z-%i' "./$p" 2>/dev/null || true; }
