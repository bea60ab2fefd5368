#!/bin/sh
# install-extras.sh REGISTRY USER PNPM BUN BREW: installs what Debian has no package of, where
# its argument is 1. Homebrew belongs to USER, as it does not run as root.
set -eu
registry=${1%/} user=$2 pnpm=$3 bun=$4 brew=$5

# shellcheck source=agentimage/npm-fetch.sh
. "$(dirname "$0")/npm-fetch.sh"

if [ "$pnpm" = 1 ]; then
  command -v node >/dev/null || { echo "pnpm needs Node.js: add nodejs to PACKAGES, or build with INSTALL_PNPM=0." >&2; exit 1; }
  dir=/usr/local/lib/node_modules/pnpm
  fetch pnpm 10.24.0 $dir # the last line of versions that the Node.js of Debian runs
  chmod -R go+rX $dir
  ln -sf "$dir/$(jq -er .bin.pnpm $dir/package.json)" /usr/local/bin/pnpm
  chmod +x /usr/local/bin/pnpm
  pnpm --version
fi

if [ "$bun" = 1 ]; then
  case $(uname -m) in
    x86_64) cpu=x64-baseline ;;
    aarch64) cpu=aarch64 ;;
    *) echo "Bun has no binary for $(uname -m): build with INSTALL_BUN=0." >&2; exit 1 ;;
  esac
  fetch "@oven/bun-linux-$cpu" latest /tmp/bun
  install -m 0755 /tmp/bun/bin/bun /usr/local/bin/bun
  ln -sf bun /usr/local/bin/bunx
  rm -rf /tmp/bun
  bun --version
fi

if [ "$brew" = 1 ]; then
  command -v git >/dev/null || { echo "Homebrew needs git: add it to PACKAGES, or build with INSTALL_BREW=0." >&2; exit 1; }
  prefix=/home/linuxbrew/.linuxbrew
  mkdir -p $prefix/bin
  git clone --quiet --depth 1 https://github.com/Homebrew/brew $prefix/Homebrew || {
    echo "Homebrew could not be fetched from github.com. Build with INSTALL_BREW=0 to go without it." >&2
    exit 1
  }
  ln -s ../Homebrew/bin/brew $prefix/bin/brew
  chown -R "$user:" /home/linuxbrew
fi
