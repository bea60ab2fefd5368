#!/usr/bin/env bash
# Go unit tests: unit.sh [-race] PACKAGE…
#
# 40 minutes bound a hang; the whole suite is meant to end well before, also on a
# computer that is busy with other things.
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
step "go test $*"
if [ "${1:-}" = -race ]; then
  shift
  export GORACE=atexit_sleep_ms=0
  set -- -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false -gcflags=modernc.org/memory=-race=false "$@"
fi
go test -timeout 40m "$@"
