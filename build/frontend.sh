#!/usr/bin/env bash
# The frontend: frontend.sh deps|build|test|e2e
#
# deps and build are skipped while their content is the same.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/stamp.sh
. "$(dirname "$0")/stamp.sh"
# shellcheck source=build/alone.sh
. "$(dirname "$0")/alone.sh"

cd "$ROOT/frontend"

deps() {
  local hash
  hash=$(tree_hash frontend/package.json frontend/package-lock.json)-$(node --version)
  if [ -d node_modules ] && fresh npm "$hash"; then return; fi
  step "Installing the frontend's packages (npm ci)"
  npm ci --no-audit --no-fund
  finished npm "$hash"
}

build() {
  local hash
  hash=$(tree_hash frontend)
  if [ -f dist/index.html ] && fresh frontend "$hash"; then return; fi
  deps
  step "Building the frontend"
  npm run --silent build -- --logLevel warn # the list of a hundred chunks helps nobody
  finished frontend "$hash"
}

case ${1:-build} in
  deps) deps ;;
  build) build ;;
  test)
    deps
    step "Frontend: types, lint, unit tests"
    npm test --silent
    ;;
  e2e)
    build
    step "Frontend: in a real browser"
    # With LOOP_SOAK only the long ones, in full.
    alone npm run --silent e2e
    ;;
  *) die "Usage: build/frontend.sh deps|build|test|e2e" ;;
esac
