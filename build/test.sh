#!/usr/bin/env bash
# make test: everything CI runs, in stages, with the time of each at the end.
#
#   test.sh             all stages
#   test.sh STAGE…      only these; the stages they build on must have run before
#
# Stages run in two lanes side by side (build/lanes.sh). One that fails ends its lane
# if the rest builds on it; the others go on, so that one run shows everything that is
# wrong. An engine that was started here is stopped at the end, by its process id; one
# that answered before is not touched.
#
# Tests with an engine or a browser, page flows and the window are tried again when they fail. Those
# that passed on a later try are listed at the end as unsteady. Unit tests are never
# tried twice.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/group.sh
. "$(dirname "$0")/group.sh"
# shellcheck source=build/lanes.sh
. "$(dirname "$0")/lanes.sh"

cd "$ROOT"
tags=docker,claude

# Loop's own folder for these tests; a person's ~/.loop is never read.
export LOOP_HOME=$CACHE/test-home
# Nor is their keyring; the tests that need one start their own.
export LOOP_KEYRING=file
export LOOP_BIN=$BIN/loop LOOP_CLAUDE_BIN=$CACHE/claude
LOOP_GUEST_BIN=$ROOT/agentimage/bin/loop-linux-$(go env GOARCH 2>/dev/null || true)
export LOOP_GUEST_BIN

# --- stages ---

stage_setup() { build/setup.sh test; }

stage_build() { build/binaries.sh all; }

stage_frontend() { build/frontend.sh test; }

# The server's terminal state against headless xterm.js, from the packages of the
# stage before.
stage_xterm() { build/unit.sh -tags xterm ./backend/terminal/vt/...; }

stage_static() {
  build/check.sh static
  build/lint.sh go
  if have shellcheck; then build/lint.sh shell; fi
}

# The rules of the repository were checked in the stage "static"; they only read
# files, which the race detector makes slow. That stage vets all of these, too.
# shellcheck disable=SC2046 # a list of packages
stage_unit() { build/unit.sh -race -vet=off $(go list ./... | grep -vx loop/backend/internal/archtest); }

# A real Chromium on pages of our own, without an engine. Two packages at a time would
# measure each other.
stage_browser() {
  step "Tests with a browser"
  build/retest.sh browser --packages="$(build/engine-tests.sh packages chrome | paste -sd ' ' -)" -- \
    -exec "$ROOT/build/alone.sh" -p 1 -timeout 20m -count=1 -vet=off -tags chrome -run "^($(build/engine-tests.sh names chrome | paste -sd '|' -))\$"
}

stage_cross() { build/cross.sh; }

stage_image() {
  build/image.sh ensure
  build/claude.sh "$LOOP_CLAUDE_BIN"
}

# Unit tests of the same packages are left out: the stage "unit" runs them.
# -count=1: go's cache of results knows nothing of engine and image. The stage "static"
# vets these packages with these tags. Three packages and three tests of each run at a time,
# on two cores too, because they mostly wait.
stage_docker() {
  step "Tests with an engine"
  build/retest.sh docker --packages="$(engine_packages | paste -sd ' ' -)" -- \
    -p 3 -parallel 3 -timeout 55m -count=1 -vet=off -tags "$tags" -run "^($(build/engine-tests.sh | paste -sd '|' -))\$"
}

# The stage "docker" has run all of these as root. Tests whose result does not depend
# on the user are not repeated, which saves five minutes (build/as-user.skip).
stage_user() {
  if is_root; then
    # shellcheck disable=SC2046
    build/as-user.sh "$tags" $(engine_packages)
  else
    note "Already an ordinary user: the stage docker was this one, with all its tests."
  fi
}

stage_page() { LOOP_UNSTEADY=$logs/page.unsteady build/frontend.sh e2e; }

stage_window() {
  if [ ! -x "$BIN/loop-desktop" ]; then
    note "No window was built here."
    return
  fi
  step "The dialog that asks while the window is out of sight"
  mkdir -p "$CACHE/window"
  build/unit.sh -count=1 -tags desktop -artifacts -outputdir "$CACHE/window" ./backend/dialog/...
  local try error=''
  for try in 1 2 3; do
    if build/window-test.sh 2>&1 | tee "$logs/window.try"; then
      [ -z "$error" ] || printf 'window\t%s\n' "$error" >"$logs/window.unsteady"
      return
    fi
    # The reason, which die prints, comes after the output of the app.
    error=${error:-$(grep -a 'Loop: ' "$logs/window.try" | head -n 1 || true)}
    error=${error:-it ended without a word}
    warn "Try $try of the window failed: $error"
  done
  return 1
}

# --- parts ---

# engine_packages lists the packages with tests that need an engine or the CLI, the one
# that takes longest first.
engine_packages() {
  say ./backend/e2e
  build/engine-tests.sh packages | grep -vx ./backend/e2e
}

# Stages that others build on run before the lanes begin. Chromium breaks off requests
# when the network interfaces of containers come and go, so the tests with a
# browser have a network of their own (build/alone.sh).
first='setup build'
compute_lane='static frontend xterm unit browser cross page'
engine_lane='image docker user window'
all="$first $compute_lane $engine_lane"

# --- the driver ---

if [ "${1:-}" = _stage ]; then
  "stage_$2"
  exit
fi

stages=${*:-$all}
for s in $stages; do
  contains "$all" "$s" || die "There is no stage called $s." "Stages: $all"
done

# Setup comes first and outside the stages: joining the engine's group replaces this process.
if contains "$stages" setup; then
  build/setup.sh test
  join_engine_group build/test.sh "$@"
fi

had_engine=0
if [ -f "$CACHE/engine.started" ] || build/engine.sh status >/dev/null; then had_engine=1; fi
rm -rf "$logs"
mkdir -p "$logs"

# shellcheck disable=SC2317 # the trap calls it
finish() {
  local code=$?
  trap - EXIT INT TERM
  end_lanes
  if [ $had_engine = 0 ]; then build/engine.sh stop || true; fi
  rm -rf "$LOOP_HOME"
  if ls "$logs"/*.out >/dev/null 2>&1; then
    step "go test"
    grep -hE '^(ok|FAIL|--- FAIL|panic:|DONE)' "$logs"/*.out || true
  fi
  step "Tests that passed on a later try"
  node build/unsteady.mjs "$logs" || code=1
  failures || true
  stage_table || code=1
  if [ $code = 0 ]; then step "All passed"; else warn "Failed."; fi
  exit $code
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# shellcheck disable=SC2086 # a list of stages
lane $first || exit 1
computing='' waiting=''
for s in $stages; do
  if contains "$compute_lane" "$s"; then computing=1; fi
  if contains "$engine_lane" "$s"; then waiting=1; fi
done
if [ -n "$computing" ] && [ -n "$waiting" ]; then
  live=0
  both_lanes
else
  # shellcheck disable=SC2086
  lane $compute_lane && lane $engine_lane || exit 1
fi
