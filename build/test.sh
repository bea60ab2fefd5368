#!/usr/bin/env bash
# make test: everything CI runs, in stages, with the time of each at the end.
#
#   test.sh             all stages
#   test.sh STAGE…      only these (and what they need must have been built before)
#
# Stages that later ones build on end the run when they fail; the others go on,
# so that one run shows everything that is wrong. An engine that was started
# here is stopped at the end, by its process id; one that answered before is not
# touched.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/group.sh
. "$(dirname "$0")/group.sh"

cd "$ROOT"
logs=$CACHE/log
tags=docker,claude

# Loop's own folder for these tests; a person's ~/.loop is never read.
export LOOP_HOME=$CACHE/test-home
# Nor is their keyring; the tests that need one start their own.
export LOOP_KEYRING=file
export LOOP_BIN=$BIN/loop LOOP_CLAUDE_BIN=$CACHE/claude
LOOP_GUEST_BIN=$ROOT/agentimage/bin/loop-linux-$(go env GOARCH 2>/dev/null || true)
export LOOP_GUEST_BIN

# --- stages: each runs as a process of its own, so that errexit holds in it ---

stage_setup() { build/setup.sh test; }

stage_build() { build/binaries.sh all; }

stage_frontend() { build/frontend.sh test; }

# The server's terminal state against headless xterm.js, from the packages of the
# stage before.
stage_xterm() { go_test xterm -tags xterm ./backend/terminal/vt/...; }

stage_static() {
  build/check.sh static
  build/lint.sh go
  if have shellcheck; then build/lint.sh shell; fi
}

# The rules of the repository were checked in the stage "static"; they only read
# files, which the race detector makes slow.
# shellcheck disable=SC2046 # a list of packages
stage_unit() { go_test unit -race $(go list ./... | grep -vx loop/backend/internal/archtest); }

stage_cross() { build/cross.sh; }

stage_image() {
  build/image.sh ensure
  build/claude.sh "$LOOP_CLAUDE_BIN"
}

# shellcheck disable=SC2046 # a list of packages
# -count=1: an engine and an image are no part of what go keeps results by.
# The test left out needs neither, takes a minute, and the stage "unit" has run it.
stage_docker() { go_test docker -count=1 -tags "$tags" -skip '^TestFaultAtEveryStoreCall$' $(engine_packages); }

# The stage "docker" has run all of these as root. What is the same whoever runs
# Loop is not repeated (build/as-user.skip says what and why): five minutes in
# which nothing new was learnt.
stage_user() {
  if is_root; then
    # shellcheck disable=SC2046
    build/as-user.sh "$tags" $(engine_packages)
  else
    note "Already an ordinary user: the stage docker was this one, with all its tests."
  fi
}

stage_page() { build/frontend.sh e2e; }

stage_window() {
  if [ -x "$BIN/loop-desktop" ]; then build/window-test.sh; else note "No window was built here."; fi
}

# --- parts ---

# go_test NAME ARG…: run go test, keep its output for the closing lines.
go_test() {
  local name=$1
  shift
  step "go test $*"
  # 40 minutes bound a hang; the whole suite is meant to end well before, also on a
  # computer that is busy with other things.
  go test -timeout 40m "$@" 2>&1 | tee "$logs/$name.log"
}

# engine_packages lists the packages with tests that need an engine or the CLI,
# first the one that takes as long as all others together: those run beside it.
engine_packages() {
  say ./backend/e2e
  grep -rlE --include='*_test.go' '^//go:build .*(docker|claude)' backend agentimage |
    while IFS= read -r f; do printf './%s\n' "$(dirname "$f")"; done | sort -u | grep -vx ./backend/e2e
}

needed='setup build image' # others build on these
# The page comes before anything makes containers: their network interfaces come and
# go, and Chromium breaks off requests when that happens.
all='setup build static frontend xterm page unit cross image docker user window'

# --- the driver ---

if [ "${1:-}" = _stage ]; then
  "stage_$2"
  exit
fi

stages=${*:-$all}
for s in $stages; do
  case " $all " in *" $s "*) ;; *) die "There is no stage called $s." "Stages: $all" ;; esac
done

# Setup comes first and outside the stages: joining the engine's group replaces this process.
case " $stages " in
  *" setup "*)
    build/setup.sh test
    join_engine_group build/test.sh "$@"
    ;;
esac

had_engine=0
if [ -f "$CACHE/engine.started" ] || build/engine.sh status >/dev/null; then had_engine=1; fi
rm -rf "$logs"
mkdir -p "$logs"
table=''
failed=''

finish() {
  local code=$?
  trap - EXIT INT TERM
  if [ $had_engine = 0 ]; then build/engine.sh stop || true; fi
  rm -rf "$LOOP_HOME"
  if ls "$logs"/*.log >/dev/null 2>&1; then
    step "go test"
    grep -hE '^(ok|FAIL|--- FAIL|panic:)' "$logs"/*.log || true
  fi
  step "Stages"
  printf '%s' "$table"
  printf '    %-10s %4d s\n' total $SECONDS
  if [ -n "$failed" ]; then
    warn "Failed:$failed"
    exit 1
  fi
  [ $code -ne 0 ] || step "All passed"
  exit $code
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for s in $stages; do
  began=$SECONDS
  step "Stage $s"
  code=0
  "$0" _stage "$s" || code=$?
  mark=ok
  [ $code = 0 ] || mark=FAILED
  table="$table$(printf '    %-10s %4d s  %s' "$s" $((SECONDS - began)) $mark)
"
  if [ $code != 0 ]; then
    failed="$failed $s"
    case " $needed " in
      *" $s "*)
        warn "Stage $s failed, and the rest builds on it."
        break
        ;;
    esac
  fi
done
