#!/bin/sh
# install-claude.sh VERSION REGISTRY OUT: puts Claude Code's native binary at
# OUT/bin/claude. VERSION that is no version number (a tag or the time of the
# build, which only serves to get past the build cache) means the latest.
set -eu
version=$1 registry=${2%/} out=$3

case $(uname -m) in
  x86_64) cpu=x64 ;;
  aarch64) cpu=arm64 ;;
  *) echo "Claude Code has no binary for $(uname -m)." >&2; exit 1 ;;
esac
package=@anthropic-ai/claude-code-linux-$cpu

get() { curl -fsSL --retry 3 --retry-connrefused --connect-timeout 15 "$@"; }

if ! echo "$version" | grep -Eq '^[0-9]+\.[0-9]+\.[0-9]+'; then
  version=latest
fi
# A version is announced in one place a little before the registry has it.
meta=$(get "$registry/$package/$version") || {
  echo "Version $version is not in the registry; taking the latest." >&2
  meta=$(get "$registry/$package/latest")
}
version=$(echo "$meta" | jq -er .version)
tarball=$(echo "$meta" | jq -er .dist.tarball)
want=$(echo "$meta" | jq -er '.dist.integrity | select(startswith("sha512-")) | ltrimstr("sha512-")')

echo "Claude Code $version for $cpu"
mkdir -p "$out/bin" "$out/share/doc/claude-code" /tmp/claude
get -o /tmp/claude.tgz "$tarball"
have=$(sha512sum /tmp/claude.tgz | cut -d' ' -f1)
if [ "$have" != "$(echo "$want" | base64 -d | od -An -v -tx1 | tr -d ' \n')" ]; then
  echo "The package does not match the checksum of the registry." >&2
  exit 1
fi
tar -xzf /tmp/claude.tgz -C /tmp/claude --strip-components=1
install -m 0755 /tmp/claude/claude "$out/bin/claude"
install -m 0644 /tmp/claude/LICENSE.md "$out/share/doc/claude-code/"
rm -rf /tmp/claude /tmp/claude.tgz
