#!/usr/bin/env bash
# Compiles the app without cgo for every system it is meant for, tests included.
# Nothing is linked: the aim is that a slip in a _windows.go file is seen here.
#
# linux/amd64 is left out: the stages "build" and "static" compile it, tests included,
# without cgo.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
export CGO_ENABLED=0

# compile OS ARCH: what can differ there. Packages that import SQLite are left out, as it
# takes minutes for each architecture; their code has none of its own for any.
compile() {
  step "Compiling for $1/$2"
  # shellcheck disable=SC2046 # a list of packages
  GOOS=$1 GOARCH=$2 go build $(GOOS=$1 GOARCH=$2 go list -f '{{.ImportPath}} {{join .Deps " "}}' ./backend/... |
    sed -e '/ modernc\.org\/sqlite/d' -e 's/ .*//')
}

for os in darwin windows; do
  # vet compiles everything and type-checks the tests too. The second architecture can
  # only differ in the system's own types, so compiling is enough there.
  step "Compiling for $os/amd64"
  GOOS=$os GOARCH=amd64 go vet -tags chrome . ./backend/...
  compile $os arm64
done
# The window's own files for macOS that need no cgo: app.go and Wails do.
for arch in amd64 arm64; do
  step "Compiling for darwin/$arch with the tag desktop"
  GOOS=darwin GOARCH=$arch go vet -tags desktop ./backend/dialog
done
# On Windows all of them need no cgo.
step "Compiling for windows/amd64 with the tag desktop"
GOOS=windows GOARCH=amd64 go vet -tags desktop . ./backend/dialog
compile linux arm64
step "Compiling the guest for linux/arm64"
GOOS=linux GOARCH=arm64 go vet ./agentimage/...
