#!/usr/bin/env bash
# Regenerates what is generated, and fails if that differs from what is here.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"

cd "$ROOT"
sqlc=github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 # the version named in backend/store/sqlc.yaml

made=(backend/store/internal docs/configuration.md frontend/src/api/contract.gen.ts)
before=$(repo_git status --porcelain -- "${made[@]}")
step "sqlc generate"
(cd backend/store && CGO_ENABLED=0 go run "$sqlc" generate)
step "docs/configuration.md and the contract of the page"
go test ./backend/internal/archtest -run "TestConfigurationPage|TestContractOfThePage" -update

after=$(repo_git status --porcelain -- "${made[@]}")
[ "$before" = "$after" ] || {
  repo_git --no-pager diff --stat
  die "Generated files changed." "Look at the difference and commit it."
}
