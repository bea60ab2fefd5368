#!/usr/bin/env bash
# Go unit tests: unit.sh [-race] [FLAG…] PACKAGE…
#
# 40 minutes bound a hang; the whole suite is meant to end well before, also on a
# computer that is busy with other things.
#
# With -race, packages in which nothing runs beside anything else are tested without the
# race detector, which is many times slower and could find nothing there.
#
# Nor are those whose order is the kernel's: a supervisor's threads hand each other work
# through calls of other programs that the kernel holds, which the detector does not see,
# and so reports as races; and it makes them too slow for programs that wait for them.
#
# The race detector looks into everything but SQLite itself, which is C translated to
# Go: its memory lies outside of Go's heap, where the detector sees nothing, and
# looking makes it many times slower. The driver, which Loop's values go through, is
# looked into.
#
# A program that was built with the detector sleeps for a second when it ends, lest a
# goroutine that is still about to do something wrong goes unseen. The tests wait for
# the end of their goroutines themselves, and start hundreds of such programs.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"

# concurrent is what begins a goroutine: a word of Go's, or a package that calls back
# from one of its own.
concurrent='(^|[[:space:];{])go (func|[A-Za-z_.]+\()|\.Go\(|AfterFunc|\.Parallel\(|iter\.Pull'
concurrent="$concurrent|\"(net/http(/[a-z]+)?|os/exec|os/signal|database/sql|testing/synctest|golang\.org/x/sync/[a-z]+)\""

kernel_ordered='loop/agentimage/guest/supervise'

# sequential PACKAGE…: those of the packages in which no goroutine begins: not in their
# code, not in their tests, and not in what they import of Loop's.
sequential() {
  {
    grep -rlE "$concurrent" --include='*.go' backend agentimage
    go list -test -f 'package {{.ImportPath}} {{join .Deps " "}}' "$@"
  } | awk '
    $1 != "package" {
      dir = "loop/" $1
      sub(/\/[^\/]*$/, "", dir)
      if ($1 ~ /_test\.go$/) tests[dir] = 1; else code[dir] = 1
      next
    }
    $2 ~ /\.test$/ {
      found = (substr($2, 1, length($2) - 5) in tests)
      for (i = 3; i <= NF; i++) if ($i in code) found = 1
      if (!found) print substr($2, 1, length($2) - 5)
    }'
}

step "go test $*"
if [ "${1:-}" != -race ]; then
  go test -timeout 40m "$@"
  exit
fi
shift
flags=() packages=()
for arg in "$@"; do
  case $arg in
    -*) flags+=("$arg") ;;
    *) packages+=("$arg") ;;
  esac
done
export GORACE=atexit_sleep_ms=0
no_race=()
for pattern in modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory; do no_race+=("-gcflags=$pattern=-race=false"); done
alone=$({
  sequential "${packages[@]}"
  go list "${packages[@]}" | grep -xF "$kernel_ordered"
} || true)
code=0
# shellcheck disable=SC2046 # lists of packages
beside=$(go list "${packages[@]}" | grep -vxF "${alone:--}" || true)
# shellcheck disable=SC2086
[ -z "$beside" ] || go test -timeout 40m -race "${no_race[@]}" ${flags[@]+"${flags[@]}"} $beside || code=1
if [ -n "$alone" ]; then
  note "Without the race detector, which could find nothing there:"
  # shellcheck disable=SC2086
  go test -timeout 40m ${flags[@]+"${flags[@]}"} $alone || code=1
fi
exit $code
