#!/usr/bin/env bash
# Makes sure the tools are there: setup.sh run|build|test
#
#   build  tools that compile Loop       (go, node, npm, git; the window's libraries where a package manager has them)
#   run    those, and an engine          (docker.io unless an engine answers, debootstrap)
#   test   those, and tools of the tests (C compiler, Xvfb, xdotool, ImageMagick, Chromium, D-Bus, shells)
#
# Installs with apt on Debian and Ubuntu and with brew on macOS; elsewhere, or
# without the right to install, it names what is missing and ends with 1.
# At a terminal it shows the list once and asks. YES=1 agrees in advance.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

want=${1:-build}
case $want in build | run | test) ;; *) die "Usage: build/setup.sh build|run|test" ;; esac

go_needed=1.26   # the go line of go.mod
node_needed=20   # Vite and Vitest need it
packages=''      # what the package manager shall install
missing=''       # what we cannot install, one "name: remedy" a line
optional_gone='' # what is worked around, one line each

add() {
  local p
  for p in "$@"; do
    case " $packages " in *" $p "*) ;; *) packages="$packages $p" ;; esac
  done
}
lack() { missing="$missing$1
"; }

is_apt() { is_linux && have apt-get; }
is_brew() { is_macos && have brew; }

go_version() {
  # Asked inside the module: a Go with GOTOOLCHAIN=auto fetches the version go.mod wants by itself.
  (cd "$ROOT" && go env GOVERSION 2>/dev/null) | sed 's/^go//'
}

# at_least HAVE WANT: compares major.minor.
at_least() {
  local hmaj hmin wmaj wmin
  hmaj=${1%%.*} hmin=${1#*.} wmaj=${2%%.*} wmin=${2#*.}
  hmin=${hmin%%[!0-9]*}
  case $2 in *.*) ;; *) wmin=0 ;; esac
  [ -n "$hmaj" ] && [ "$hmaj" -eq "$hmaj" ] 2>/dev/null || return 1
  [ "$hmaj" -gt "$wmaj" ] || { [ "$hmaj" -eq "$wmaj" ] && [ "${hmin:-0}" -ge "${wmin:-0}" ]; }
}

# Linux distributions ship older Go than we need, so Go is named, not installed.
check_go() {
  local v=''
  if have go; then v=$(go_version); fi
  at_least "$v" "$go_needed" && return
  if is_brew; then
    add go
  else
    lack "Go $go_needed or newer${v:+ (here: $v)}: unpack it from https://go.dev/dl/ to /usr/local/go and put /usr/local/go/bin on PATH."
  fi
}

check_node() {
  local v=''
  if have node && have npm; then v=$(node --version 2>/dev/null | sed 's/^v//'); fi
  at_least "$v" "$node_needed" && return
  if is_brew; then
    add node
  elif is_apt && at_least "$(apt_candidate nodejs)" "$node_needed"; then
    add nodejs npm
  else
    lack "Node.js $node_needed or newer with npm${v:+ (here: $v)}: see https://nodejs.org/en/download."
  fi
}

apt_candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}//p' | head -n 1; }
apt_lists() { [ -n "$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)" ]; }
apt_has() { apt-cache show "$1" >/dev/null 2>&1; }

# tool COMMAND APT BREW: a plain program.
tool() {
  PATH=$PATH:/usr/sbin:/sbin have "$1" && return
  if is_apt; then
    add "$2"
  elif is_brew && [ -n "$3" ]; then
    add "$3"
  elif is_macos && [ -z "$3" ]; then
    return # not needed there
  else
    lack "$1 (package $2 or its like)."
  fi
}

# The window: WebKitGTK 4.1 on Linux, the system's own web view elsewhere.
check_window_libraries() {
  is_linux || return 0
  if have pkg-config && pkg-config --exists webkit2gtk-4.1 gtk+-3.0 && have gcc; then return; fi
  # Without package lists no package can be called absent.
  if is_apt && { apt_has libwebkit2gtk-4.1-dev || ! apt_lists; }; then
    add pkg-config gcc libc6-dev libgtk-3-dev libwebkit2gtk-4.1-dev
  elif is_apt; then
    optional_gone="${optional_gone}This system has no WebKitGTK 4.1, so there is no window; the page in a browser does the same.
"
  else
    lack "GTK 3 and WebKitGTK 4.1 with headers, pkg-config, gcc (Fedora: gtk3-devel webkit2gtk4.1-devel; Arch: gtk3 webkit2gtk-4.1)."
  fi
}

check_engine() {
  local code=0
  "$ROOT/build/engine.sh" status >/dev/null || code=$?
  # 3: an engine is there and refuses us; installing another would not help.
  if [ $code = 1 ] && [ -z "${DOCKER_HOST:-}" ]; then
    if is_linux; then
      tool dockerd docker.io ''
    elif is_brew && ! have colima && ! [ -d /Applications/Docker.app ]; then
      add colima docker
    fi
  fi
  # It makes the base image where no registry answers. Linux only.
  is_linux || return 0
  tool debootstrap debootstrap ''
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || ! is_apt || add debian-archive-keyring
  is_root || tool fakeroot fakeroot '' # debootstrap's first stage insists on root
}

check_test_tools() {
  is_linux || return 0
  if ! have gcc; then tool gcc gcc ''; fi # the race detector needs cgo
  [ -e /usr/include/stdlib.h ] || ! is_apt || add libc6-dev
  [ -e /usr/include/seccomp.h ] || ! is_apt || add libseccomp-dev pkg-config # build/seccomp compares its numbers
  tool Xvfb xvfb ''
  tool xdotool xdotool ''
  tool import imagemagick ''
  tool dbus-run-session dbus-x11 ''
  tool gnome-keyring-daemon gnome-keyring ''
  tool zsh zsh ''         # shells that terminals add marks to
  tool fish fish ''
  tool busybox busybox '' # the smallest shell that a foreign container has
  # Programs for the tests of terminals.
  tool zsh zsh ''
  tool fish fish ''
  tool vim vim ''
  tool tmux tmux ''
  tool htop htop ''
  tool WebKitWebDriver webkit2gtk-driver '' # the engine of the window, for its figures
  have chromium || have google-chrome || have chromium-browser || tool chromium chromium ''
  # A bare machine has no font at all, and Chromium then draws nothing.
  if have fc-list && [ -n "$(fc-list 2>/dev/null | head -n 1)" ]; then return; fi
  ! is_apt || add fonts-dejavu-core
}

look() {
  packages='' missing='' optional_gone=''
  check_go
  check_node
  tool git git git
  tool curl curl curl
  [ -e /etc/ssl/certs/ca-certificates.crt ] || ! is_apt || add ca-certificates
  case $want in
    build) check_window_libraries ;;
    run)
      # Without a display "make run" serves a page, and needs no window.
      ! has_display || check_window_libraries
      check_engine
      ;;
    test)
      check_window_libraries
      check_engine
      check_test_tools
      ;;
  esac
}

report_missing() {
  warn "Loop needs the following, and cannot install it here:"
  printf '%s' "$missing" | while IFS= read -r line; do warn "  - $line"; done
}

install_apt() {
  # shellcheck disable=SC2086 # a list of names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends $packages
}

look
if [ -n "$packages" ] && is_apt && ! apt_lists && can_be_root; then
  # A fresh machine knows no package yet, and every candidate would look absent.
  step "Reading the package lists"
  as_root apt-get update -q
  look
fi
if [ -n "$missing" ]; then
  report_missing
  [ -z "$packages" ] || warn "  - and these packages:$packages"
  exit 1
fi
[ -z "$optional_gone" ] || printf '%s' "$optional_gone" | while IFS= read -r line; do note "$line"; done
[ -n "$packages" ] || exit 0

if is_brew; then how="brew install$packages"; else how="apt-get install --no-install-recommends$packages"; fi
if is_apt && ! can_be_root; then
  die "These packages are missing and this user may not install them:$packages" "Run as root: $how"
fi
if may_ask; then
  say "Loop needs these packages:"
  say "   $packages"
  say "It would run: $how"
  printf 'Install them now? [Y/n] '
  read -r answer
  case $answer in
    '' | y | Y | yes | Yes) ;;
    *) die "Nothing was installed." "Install the packages yourself and run the command again." ;;
  esac
fi
step "Installing:$packages"
if is_brew; then
  # shellcheck disable=SC2086
  brew install $packages
else
  install_apt || {
    step "Reading the package lists again"
    as_root apt-get update -q
    install_apt
  } || die "The packages could not be installed." "Look at apt's words above, or install them yourself: $how"
fi

look
[ -z "$missing$packages" ] || {
  report_missing
  die "Still missing after the installation:$packages" "Look at the package manager's words above."
}
