#!/usr/bin/env bash
# Regenerates what is generated, and fails if that differs from what is here.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
rsrc=github.com/akavel/rsrc@v0.10.2
sqlc=github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 # the version named in backend/store/sqlc.yaml

made=(backend/store/internal docs/configuration.md frontend/src/api/contract.gen.ts agentimage/guest/filter loop_windows_*.syso)
before=$(repo_git status --porcelain -- "${made[@]}")
step "sqlc generate"
(cd backend/store && CGO_ENABLED=0 go run "$sqlc" generate)
step "docs/configuration.md and the contract of the page"
go test ./backend/internal/archtest -run "TestConfigurationPage|TestContractOfThePage" -update

step "what Windows reads in a program: build/windows/loop.exe.manifest"
for arch in amd64 arm64; do
  CGO_ENABLED=0 go run "$rsrc" -manifest build/windows/loop.exe.manifest -arch "$arch" -o "loop_windows_$arch.syso"
done

if is_linux; then
  step "filters of system calls"
  if [ -e /usr/include/seccomp.h ]; then
    CGO_ENABLED=1 go run -C build/seccomp . -write
  else
    note "Their numbers were not made again: that needs libseccomp-dev (build/setup.sh test)."
  fi
  go test ./agentimage/guest/filter -run TestPrograms -update
fi

after=$(repo_git status --porcelain -- "${made[@]}")
[ "$before" = "$after" ] || {
  repo_git --no-pager diff --stat
  die "Generated files changed." "Look at the difference and commit it."
}
