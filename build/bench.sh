#!/usr/bin/env bash
# Prints the figures of docs/performance.md as measured on this computer.
#
#   bench.sh          all benchmarks, with a real engine
#   bench.sh PATTERN  only those whose names match
#
# A figure is a goal to beat or to explain, never a test that fails on a slow
# machine. Run it on an idle one: two figures are compared within one run.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
pattern=${1:-.}
count=${COUNT:-5} # benchstat's own advice is 10; 5 keeps a whole run under a quarter of an hour

build/setup.sh test
build/engine.sh start
build/binaries.sh all
build/image.sh ensure
export LOOP_BIN=$BIN/loop LOOP_CLAUDE_BIN=$CACHE/claude
build/claude.sh "$LOOP_CLAUDE_BIN"
skip=()
if [ -x "$BIN/loop-desktop" ] && have Xvfb; then
  export LOOP_DESKTOP_BIN=$BIN/loop-desktop
else
  note "No figure for the window here: it takes build/bin/loop-desktop and Xvfb."
  skip=(-skip '^BenchmarkWindow$')
fi

packages() { grep -rlE --include='*_test.go' '^func Benchmark' backend agentimage | while IFS= read -r f; do printf './%s\n' "$(dirname "$f")"; done | sort -u; }

rm -f "$CACHE/bench.new"
step "Benchmarks (each $count times)"
for pkg in $(packages); do
  # One package at a time: two at once would measure each other.
  go test -tags docker,claude,chrome -run '^$' -bench "$pattern" -benchmem -count "$count" -timeout 60m "${skip[@]}" "$pkg" |
    tee -a "$CACHE/bench.new"
done
mv "$CACHE/bench.new" "$CACHE/bench.txt"
note "Kept in build/cache/bench.txt; compare two runs with benchstat."
