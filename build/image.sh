#!/usr/bin/env bash
# Loop's images: image.sh build|ensure
#
#   build   build the agent image now, with visible progress
#   ensure  build it, and the image of browsers, where one is missing or was made from
#           another agentimage/
#
# The building itself is the app's ("loop image build"), so that the window, the
# command line and this script do the same thing.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
build/setup.sh run
build/engine.sh start
[ -x "$BIN/loop" ] || build/binaries.sh all


# state IMAGE prints missing, stale, ready or another of core.ImageState.
state() {
  "$BIN/loop" image status "$1" --json | node -pe 'JSON.parse(require("fs").readFileSync(0, "utf8")).state'
}

case ${1:-build} in
  build) "$BIN/loop" image build ;;
  ensure)
    for image in agent browser; do
      case $(state $image) in
        ready) note "The image is there: $image" ;;
        *) "$BIN/loop" image build $image ;;
      esac
    done
    ;;
  *) die "Usage: build/image.sh build|ensure" ;;
esac
