#!/usr/bin/env bash
# Runs in full the tests of which "make test" does a tenth: soak.sh [TIMES]
#
# They are those of files that import backend/soaktest, and the page flows with the
# option long. Each runs TIMES times (1 unless given), and none is tried again.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/group.sh
. "$(dirname "$0")/group.sh"

cd "$ROOT"
build/setup.sh test
join_engine_group build/soak.sh "$@"
build/engine.sh start
build/binaries.sh all
build/image.sh ensure
export LOOP_SOAK=1 LOOP_HOME=$CACHE/soak-home LOOP_KEYRING=file LOOP_BIN=$BIN/loop LOOP_CLAUDE_BIN=$CACHE/claude
LOOP_GUEST_BIN=$ROOT/agentimage/bin/loop-linux-$(go env GOARCH)
export LOOP_GUEST_BIN
build/claude.sh "$LOOP_CLAUDE_BIN"
# What the tests of the gate have shown, a line each.
export LOOP_ATTACK_REPORT=$CACHE/soak-report
rm -rf "$LOOP_ATTACK_REPORT"
mkdir -p "$LOOP_ATTACK_REPORT"
summary() {
  rm -rf "$LOOP_HOME"
  step "What the gate has withstood ($LOOP_ATTACK_REPORT)"
  cat "$LOOP_ATTACK_REPORT"/*.txt 2>/dev/null || note "No attack has come to its end."
}
trap summary EXIT

long() { grep -rl --include='*_test.go' '"loop/backend/soaktest"' backend agentimage; }
names=$(long | xargs sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/\1/p' | grep -vx TestMain | sort -u | paste -sd '|' -)
step "Long tests in full, ${1:-1} times"
for ((i = 0; i < ${1:-1}; i++)); do build/frontend.sh e2e; done
long | xargs -n 1 dirname | sort -u | sed 's|^|./|' |
  xargs go test -v -timeout 180m -count="${1:-1}" -p 1 -tags docker,claude,chrome -run "^($names)\$"
