#!/usr/bin/env bash
# The Go programs: binaries.sh guest|loop|desktop|all
#
#   guest    agentimage/bin/loop-linux-{amd64,arm64}, embedded in the app
#   loop     build/bin/loop: command line and headless server, no cgo
#   desktop  build/bin/loop-desktop: that and the window; only where WebKit is there
#   all      frontend, guest, loop, desktop
#
# Go's own cache makes an unchanged build take about a second.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"

version() { repo_git describe --tags --always --dirty 2>/dev/null || say unknown; }

guest() {
  local arch
  for arch in amd64 arm64; do
    step "Building the guest for linux/$arch"
    # No version and no build id: the same source gives the same bytes, so the
    # guest volume (named by their hash) is made again only when it must be.
    CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' \
      -o "agentimage/bin/loop-linux-$arch.new" ./agentimage/guest
    # Keep the old file, and its time, when nothing changed: go would rebuild what embeds it.
    if cmp -s "agentimage/bin/loop-linux-$arch.new" "agentimage/bin/loop-linux-$arch"; then
      rm "agentimage/bin/loop-linux-$arch.new"
    else
      mv "agentimage/bin/loop-linux-$arch.new" "agentimage/bin/loop-linux-$arch"
    fi
  done
}

loop() {
  step "Building build/bin/loop"
  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(version)" -o "$BIN/loop" .
}

has_webkit() {
  ! is_linux || { have pkg-config && have gcc && pkg-config --exists webkit2gtk-4.1 gtk+-3.0; }
}

desktop() {
  local tags=desktop,production
  if ! has_webkit; then
    note "No window here: WebKitGTK 4.1 is missing. build/bin/loop serve does the same in a browser."
    return
  fi
  if is_linux; then tags=$tags,webkit2_41; fi
  step "Building build/bin/loop-desktop"
  CGO_ENABLED=1 go build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w -X main.version=$(version)" \
    -o "$BIN/loop-desktop" .
}

case ${1:-all} in
  guest) guest ;;
  loop) loop ;;
  desktop) desktop ;;
  all)
    build/frontend.sh build
    guest
    loop
    desktop
    ;;
  *) die "Usage: build/binaries.sh guest|loop|desktop|all" ;;
esac
