# shellcheck shell=bash
# Sourced by every script here: where the repository is, and how to talk.
#
# Bash 3.2 is enough (macOS ships it), so no associative arrays and no mapfile.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=$ROOT/build/cache
BIN=$ROOT/build/bin
export ROOT CACHE BIN
mkdir -p "$CACHE" "$BIN"

# Colour only for a person: a log keeps plain text.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$(printf '\033[1m') dim=$(printf '\033[2m') red=$(printf '\033[31m') off=$(printf '\033[0m')
else
  bold='' dim='' red='' off=''
fi

say() { printf '%s\n' "$*"; }
step() { printf '%s==> %s%s\n' "$bold" "$*" "$off"; }
note() { printf '%s    %s%s\n' "$dim" "$*" "$off"; }
warn() { printf '%s    %s%s\n' "$red" "$*" "$off" >&2; }

# die CAUSE [REMEDY]: two sentences, then exit 1.
die() {
  printf '%sLoop: %s%s\n' "$red" "$1" "$off" >&2
  [ -z "${2:-}" ] || printf '      %s\n' "$2" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

is_linux() { [ "$(uname -s)" = Linux ]; }
is_macos() { [ "$(uname -s)" = Darwin ]; }
is_root() { [ "$(id -u)" = 0 ]; }
has_display() { ! is_linux || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; }

# may_ask: a person is there who has not agreed in advance.
may_ask() { [ "${YES:-}" != 1 ] && [ -t 0 ] && [ -t 1 ] && [ -z "${CI:-}" ]; }

# as_root CMD…: run as root, by sudo where needed. Fails (1) when that is not
# possible; without a terminal sudo must not wait for a password.
as_root() {
  if is_root; then
    "$@"
  elif ! have sudo; then
    return 1
  elif [ -t 0 ] && [ -t 1 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

can_be_root() {
  is_root || { have sudo && { { [ -t 0 ] && [ -t 1 ]; } || sudo -n true 2>/dev/null; }; }
}

# git with this checkout trusted: a clone owned by somebody else (a bind mount,
# a copy made by root) must still build.
repo_git() { git -c safe.directory="$ROOT" -C "$ROOT" "$@"; }
