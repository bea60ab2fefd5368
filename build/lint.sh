#!/usr/bin/env bash
# Linters: lint.sh [go|frontend|shell]…
#
# golangci-lint is compiled through the module proxy at the version below: about
# two minutes the first time, twenty seconds when Go and it have their caches.
# "make test" runs it in the stage "static"; backend/internal/archtest says the
# same of the layers and decides.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
golangci=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

lint_go() {
  step "golangci-lint"
  CGO_ENABLED=0 go run "$golangci" run ./...
}

lint_frontend() {
  build/frontend.sh deps
  step "oxlint"
  npm --prefix frontend run --silent lint
}

lint_shell() {
  have shellcheck || die "shellcheck is missing." "Install it (Debian, Ubuntu: apt-get install shellcheck; macOS: brew install shellcheck)."
  step "shellcheck"
  shellcheck -x build/*.sh .ci/run
}

[ $# -gt 0 ] || set -- go frontend shell
for part in "$@"; do
  case $part in
    go) lint_go ;;
    frontend) lint_frontend ;;
    shell) lint_shell ;;
    *) die "Usage: build/lint.sh [go|frontend|shell]…" ;;
  esac
done
