#!/usr/bin/env bash
# Runs Go tests that may be tried again: retest.sh NAME GOTESTSUM-ARGUMENT…
#
# A failed test is run again, alone and at most twice, if no more than five failed.
# build/cache/log/NAME.events.json keeps every try, for build/unsteady.mjs.
#
# gotestsum is what the field uses for this. A version is named here instead of in
# go.mod, so that its dependencies are not Loop's.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
gotestsum=gotest.tools/gotestsum@v1.13.0
name=$1
shift
mkdir -p "$CACHE/log"
go run "$gotestsum" --format standard-quiet --jsonfile "$CACHE/log/$name.events.json" \
  --rerun-fails=2 --rerun-fails-max-failures=5 --rerun-fails-run-root-test "$@"
