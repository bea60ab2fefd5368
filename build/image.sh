#!/usr/bin/env bash
# The agent image: image.sh build|ensure
#
#   build   build it now, with visible progress
#   ensure  build it only if it is missing or was made from another agentimage/
#
# The building itself is the app's ("loop image build"), so that the window, the
# command line and this script do the same thing.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
build/setup.sh run
build/engine.sh start
[ -x "$BIN/loop" ] || build/binaries.sh all


# state prints missing, stale, ready or another of core.ImageState.
state() {
  "$BIN/loop" image status --json | node -pe 'JSON.parse(require("fs").readFileSync(0, "utf8")).state'
}

case ${1:-build} in
  build) "$BIN/loop" image build ;;
  ensure)
    case $(state) in
      ready) note "The agent image is there" ;;
      *) "$BIN/loop" image build ;;
    esac
    ;;
  *) die "Usage: build/image.sh build|ensure" ;;
esac
