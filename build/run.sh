#!/usr/bin/env bash
# make run: install what is needed, start an engine, build, open Loop.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/group.sh
. "$(dirname "$0")/group.sh"

cd "$ROOT"
build/setup.sh run
join_engine_group build/run.sh "$@"
build/engine.sh start
build/binaries.sh all

step "Agent image"
# In front of the window, so that its first prompt works at once. Ctrl-C stops
# the build without leaving a half-made image.
build/image.sh ensure

if has_display && [ -x "$BIN/loop-desktop" ]; then
  step "Opening Loop"
  # WebKitGTK's DMA-BUF renderer shows an empty window on several drivers.
  export WEBKIT_DISABLE_DMABUF_RENDERER=${WEBKIT_DISABLE_DMABUF_RENDERER-1}
  exec "$BIN/loop-desktop" "$@"
fi
step "No display here, so Loop serves its page; open the address below in a browser"
exec "$BIN/loop" serve "$@"
