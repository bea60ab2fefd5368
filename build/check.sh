#!/usr/bin/env bash
# Quick checks before a commit; "make test" runs all of them and more.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"

step "gofmt"
unformatted=$(gofmt -l ./*.go backend agentimage)
[ -z "$unformatted" ] || die "Not formatted: $(printf '%s' "$unformatted" | tr '\n' ' ')" "Run: gofmt -w on them."

step "go.mod"
untidy=$(go mod tidy -diff 2>&1) || die "go.mod or go.sum is not tidy:
$untidy" "Run: go mod tidy"

# With the tests that need an engine or a browser; the tags leave nothing out.
step "go vet"
go vet -tags docker,claude,chrome ./...

step "Repository rules"
go test ./backend/internal/archtest

[ "${1:-}" = static ] || build/unit.sh ./...
