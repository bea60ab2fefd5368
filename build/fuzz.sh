#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (30s unless set); go runs one at a time.
# New failing inputs land in the package's testdata/fuzz; commit them with the fix.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
failed=''
while IFS=: read -r f name; do
  pkg=./$(dirname "$f")
  step "$pkg $name (${FUZZTIME:-30s})"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-30s}" "$pkg" </dev/null || failed="$failed $pkg:$name"
done < <(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' backend agentimage | sed 's/:func /:/' | sort)
[ -z "$failed" ] || die "Failing targets:$failed"
