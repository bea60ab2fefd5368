#!/usr/bin/env bash
# Go unit tests: unit.sh [-race] PACKAGE…
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
step "go test $*"
go test -timeout 10m "$@"
