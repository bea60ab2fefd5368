#!/bin/sh
# npm-fetch.sh is read by the scripts that install from an npm registry; registry is its URL,
# without a slash at its end.
: "${registry:?}"

get() { curl -fsSL --retry 3 --retry-connrefused --connect-timeout 15 "$@"; }

# fetch PACKAGE VERSION DIR unpacks a package of the registry, checked against the
# checksum that the registry gives.
fetch() {
  meta=$(get "$registry/$1/$2")
  want=$(echo "$meta" | jq -er '.dist.integrity | select(startswith("sha512-")) | ltrimstr("sha512-")')
  get -o /tmp/package.tgz "$(echo "$meta" | jq -er .dist.tarball)"
  have=$(sha512sum /tmp/package.tgz | cut -d' ' -f1)
  if [ "$have" != "$(echo "$want" | base64 -d | od -An -v -tx1 | tr -d ' \n')" ]; then
    echo "The package $1 does not match the checksum of the registry." >&2
    exit 1
  fi
  mkdir -p "$3"
  tar -xzf /tmp/package.tgz -C "$3" --strip-components=1 --no-same-owner
  rm /tmp/package.tgz
}
