#!/usr/bin/env bash
# Removes what was built in this checkout. Images, volumes and ~/.loop stay:
# they hold a person's work.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
if [ -f "$CACHE/engine.started" ]; then
  note "An engine started from here may still run; stop it with build/engine.sh stop before its note is removed."
  exit 1
fi
rm -rf build/bin build/cache frontend/node_modules
find agentimage/bin -type f -name 'loop-linux-*' -delete
find frontend/dist -mindepth 1 ! -name placeholder.txt -delete
