#!/usr/bin/env bash
# Compiles the app without cgo for every system it is meant for, tests included.
# Nothing is linked: the aim is that a slip in a _windows.go file is seen here.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
for os in linux darwin windows; do
  for arch in amd64 arm64; do
    step "Compiling for $os/$arch"
    # vet compiles everything and type-checks the tests too. The second
    # architecture can only differ in sizes, so compiling is enough there.
    if [ $arch = amd64 ]; then
      CGO_ENABLED=0 GOOS=$os GOARCH=$arch go vet . ./backend/...
    else
      CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build ./backend/...
    fi
  done
done
for arch in amd64 arm64; do
  step "Compiling the guest for linux/$arch"
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go vet ./agentimage/...
done
