#!/bin/sh
# install-tools.sh WITHOUT REGISTRY: installs what people and agents work with,
# less the parts named in WITHOUT. The names are the fields of image_tools in the
# settings; a part may need another one, and then brings it.
set -eu
without=" $1 " registry=${2%/}
node_version=26.10.0 # the newest that the registry has for both processors
npm_version=12.2.0
pnpm_version=11.28.11 # from 12 on the package only downloads a binary

with() { case $without in *" $1 "*) return 1 ;; esac; }

packages=
add() { if with "$1"; then shift; packages="$packages $*"; fi; }
add compiler gcc g++ libc6-dev
add make make
add python python3 python3-pip python3-venv python-is-python3
add git git
add vim vim
add nano nano
add tmux tmux
add htop htop
add less less
add ripgrep ripgrep
if [ -n "$packages" ]; then
  apt-get update
  # shellcheck disable=SC2086 # a list
  apt-get install -y --no-install-recommends $packages
  apt-get clean
  rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log
fi

# shellcheck source=agentimage/npm-fetch.sh
. "$(dirname "$0")/npm-fetch.sh"

if with node || with pnpm; then
  case $(uname -m) in
    x86_64) cpu=x64 ;;
    aarch64) cpu=arm64 ;;
    *) echo "Node has no binary for $(uname -m)." >&2; exit 1 ;;
  esac
  modules=/usr/local/lib/node_modules
  fetch "node-linux-$cpu" "$node_version" /tmp/node
  install -m 0755 /tmp/node/bin/node /usr/local/bin/node
  rm -rf /tmp/node
  if with node; then
    fetch npm "$npm_version" $modules/npm
    ln -s $modules/npm/bin/npm-cli.js /usr/local/bin/npm
    ln -s $modules/npm/bin/npx-cli.js /usr/local/bin/npx
    # The root is read-only at work: what is installed “globally” goes into the home.
    # shellcheck disable=SC2016 # npm puts the variable in
    echo 'prefix=${HOME}/.local' >$modules/npm/npmrc
  fi
  if with pnpm; then
    fetch pnpm "$pnpm_version" $modules/pnpm
    main=$(jq -er '.bin.pnpm' $modules/pnpm/package.json)
    ln -s "$modules/pnpm/$main" /usr/local/bin/pnpm
  fi
  chmod -R go+rX $modules
  chmod +x /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/pnpm 2>/dev/null || true
fi
