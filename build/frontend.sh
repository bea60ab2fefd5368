#!/usr/bin/env bash
# The frontend: frontend.sh deps|build|test|e2e
#
# deps and build are skipped while their content is the same.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/stamp.sh
. "$(dirname "$0")/stamp.sh"

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

# alone COMMAND…: in a network of its own where this computer allows it. Chromium breaks
# off what is under way when a network interface comes or goes, as those of containers
# do in tests beside this one.
alone() {
  local as_own=(--net)
  is_root || as_own=(--user --map-root-user --net)
  if is_linux && have ip && unshare "${as_own[@]}" ip link set lo up 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare "${as_own[@]}" sh -c 'ip link set lo up && exec "$@"' sh "$@"
  else
    "$@"
  fi
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
