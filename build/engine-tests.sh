#!/usr/bin/env bash
# Lists the tests that need more than Go: engine-tests.sh [names|packages] [TAG]
#
# They are those in files with the build tag docker or claude (an engine, the agent CLI),
# or with TAG: chrome is a browser. Their names differ from those of unit tests in the
# same packages (backend/internal/archtest), so that they can be chosen by name.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
tag=${2:-docker|claude}
tagged() { grep -rlE --include='*_test.go' "^//go:build (.*[ (])?($tag)([ )]|\$)" backend agentimage; }
case ${1:-names} in
  names) tagged | xargs sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/\1/p' | grep -vx TestMain | sort -u ;;
  packages) tagged | while IFS= read -r f; do printf './%s\n' "$(dirname "$f")"; done | sort -u ;;
  *) die "Usage: build/engine-tests.sh [names|packages] [TAG]" ;;
esac
