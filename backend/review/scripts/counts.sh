# $1 from or empty, $2 to or empty; files that are in no index on stdin
hunks() { g diff $plain "$@" -- | awk '/^diff --/ { if (seen) print n; seen = 1; n = 0 } /^@@/ { n++ } END { if (seen) print n }'; }
# $1 an expression of find; those of the names on stdin that it is true of, each with NUL behind it
named() { sed -z 's,^,./,' | xargs -0 -r sh -c 'find "$@" -prune '"$1"' -print0 2>/dev/null || true' sh | sed -z 's,^\./,,'; }
# Git would read a large file from end to end for each comparison, only to find that it has no
# lines. So large ones are not added, and those that git knows count as unchanged in the copy.
small_index() {
  cat >"$t/new"
  named '\( ! -type f -o -size -8388609c \)' <"$t/new" >"$t/small"
  named '-type f -size +8388608c' <"$t/new" >"$t/large"
  other_index <"$t/small"
  g diff-files -0 -z --name-only --diff-filter=u --ignore-submodules=dirty >"$t/dirty" || exit 1
  named '-type f -size +8388608c' <"$t/dirty" >"$t/known"
  if [ -s "$t/known" ]; then g update-index -z --assume-unchanged --stdin <"$t/known" || exit 1; fi
  out large 1048576 cat "$t/large" "$t/known"
}
if [ -n "$1" ]; then
  [ -n "$2" ] || small_index
  out unstaged 1048576 g diff $plain --numstat -z "$1" ${2:+"$2"} --
  out unstaged-hunks 65536 hunks "$1" ${2:+"$2"}
  exit 0
fi
# The index is compared first: the copy of it has more.
out staged 1048576 g diff $plain --cached --numstat -z --
out staged-hunks 65536 hunks --cached
small_index
out unstaged 1048576 g diff $plain --numstat -z --
out unstaged-hunks 65536 hunks
