# $1 from or empty, $2 to or empty; files that are in no index on stdin
hunks() { g diff $plain "$@" -- | awk '/^diff --/ { if (seen) print n; seen = 1; n = 0 } /^@@/ { n++ } END { if (seen) print n }'; }
if [ -n "$1" ]; then
  [ -n "$2" ] || other_index
  out unstaged 1048576 g diff $plain --numstat -z "$1" ${2:+"$2"} --
  out unstaged-hunks 65536 hunks "$1" ${2:+"$2"}
  exit 0
fi
# The index is compared first: the copy of it has more.
out staged 1048576 g diff $plain --cached --numstat -z --
out staged-hunks 65536 hunks --cached
other_index
out unstaged 1048576 g diff $plain --numstat -z --
out unstaged-hunks 65536 hunks
