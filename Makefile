# Everything is done by the scripts in build/; this file is their index.
# "make run" and "make test" install what they need; see README.md.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.PHONY: help run test soak day gen lint race bench fuzz image guest build check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' Makefile

run: ## Install what is needed, build, and open Loop (ARGS="…" go to loop)
	@build/run.sh $(ARGS)

test: ## Everything CI runs (STAGES="unit page" for some of it)
	@build/test.sh $(STAGES)

soak: ## The long tests in full, of which "make test" does a tenth (TIMES=3 for three rounds)
	@build/soak.sh $(TIMES)

day: ## A working day in the real window, in pictures (build/cache/day); checked as it goes
	@build/day.sh

gen: ## Regenerate generated code and fail if the result differs from the commit
	@build/gen.sh

lint: ## golangci-lint, frontend lint and shellcheck
	@build/lint.sh

race: ## Go unit tests under the race detector (PKG=./backend/wire for one package)
	@build/unit.sh -race $(or $(PKG),./...)

bench: ## Print the figures of docs/performance.md as measured here
	@build/bench.sh

fuzz: ## Run every fuzz target for FUZZTIME (default 30s each)
	@build/fuzz.sh

image: ## Build the agent image with visible progress
	@build/image.sh build

guest: ## Build the in-container binary for linux/amd64 and linux/arm64
	@build/binaries.sh guest

build: ## Build build/bin/loop and, where WebKit is there, build/bin/loop-desktop
	@build/setup.sh build && build/binaries.sh all

check: ## Quick checks: formatting, vet, repository rules, unit tests
	@build/check.sh

clean: ## Remove what was built here (not images, not ~/.loop)
	@build/clean.sh
