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
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
step "go test $*"
if [ "${1:-}" = -race ]; then
  shift
  set -- -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc/...=-race=false -gcflags=modernc.org/memory=-race=false "$@"
fi
go test -timeout 40m "$@"
