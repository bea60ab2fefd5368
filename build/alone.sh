#!/usr/bin/env bash
# Sourced by scripts whose tests have a Chromium, and run by “go test -exec”.

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

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  # shellcheck source=build/say.sh
  . "$(dirname "$0")/say.sh"
  alone "$@"
fi
