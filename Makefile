# The whole interface to building and checking loomd. Every target sets up what
# it needs: Go's own cache holds the modules and the pinned tools (go.mod), and
# editors/vscode/node_modules the packages of the lock file.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
GO_DIRS := cmd daemon diffpreview tools watch
HOST := $(shell $(GO) env GOHOSTOS)/$(shell $(GO) env GOHOSTARCH)
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

# A checkout that belongs to somebody else has no commit that git would tell.
BUILDVCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)

# How long each fuzz target of `make soak` runs, how many cases each property is
# tried on there, and how many steps the review engine's model makes with the race
# detector, which is ten times slower; without it makes all 240,000.
FUZZTIME ?= 60s
CHECKS ?= 2000
RACESTEPS ?= 20000

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  make try takes WORKSPACE=DIR, make soak FUZZTIME=60s and CHECKS=2000, make dist VERSION=v1.2.3."

.PHONY: build
build: ## Build bin/loomd.
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=$(BUILDVCS) -o bin/loomd ./cmd/loomd

.PHONY: try
try: ## Watch an agent edit a copy of a real folder, and decide what reaches it.
	@$(MAKE) --silent --no-print-directory build
	@$(GO) build -buildvcs=false -o bin/try ./cmd/loomd/try
	@bin/try -loomd bin/loomd -workspace '$(or $(WORKSPACE),.)'

.PHONY: test
test: tools lint race editor demo ## Check everything, as CI does: lint, tests with -race, a real client, make try.

.PHONY: tools
tools:
	@for tool in git patch gcc node npm; do \
		command -v $$tool >/dev/null || { echo "$$tool is missing: install it, or run .ci/run as root, which does" >&2; exit 1; }; \
	done

.PHONY: race
race: peers
	$(GO) test -race -timeout=20m ./...

# What searches are compared with: rg is the oracle of the tests in watch/index.
PEERS := daemon/searchbench/peers

.PHONY: peers
peers: $(PEERS)/node_modules/.package-lock.json

$(PEERS)/node_modules/.package-lock.json: $(PEERS)/package-lock.json
	cd $(PEERS) && npm ci --no-audit --no-fund --silent
	@touch $@

.PHONY: editor
editor: build editors/vscode/node_modules/.package-lock.json
	cd editors/vscode && npm run --silent check && LOOMD='$(CURDIR)/bin/loomd' npm test --silent

editors/vscode/node_modules/.package-lock.json: editors/vscode/package-lock.json
	cd editors/vscode && npm ci --no-audit --no-fund
	@touch $@

# The scripted form of make try. What it prints is shown when it fails.
.PHONY: demo
demo: build
	@$(GO) build -buildvcs=false -o bin/try ./cmd/loomd/try
	@out=$$(bin/try -loomd bin/loomd -script 2>&1) || { echo "$$out"; exit 1; }; echo "make try: ok"

.PHONY: lint
lint: ## Check formatting, vet for every platform, staticcheck.
	@unformatted=$$($(GO) tool gofumpt -l $(GO_DIRS)); \
		[ -z "$$unformatted" ] || { printf 'not formatted, run make fmt:\n%s\n' "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@for p in $(PLATFORMS); do \
		[ $$p != $(HOST) ] || continue; \
		echo "vet for $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet $(VETFLAGS) ./...; \
	done

# Nothing of the other platforms is run, so it need not be optimised; that takes
# a quarter off a first run.
VETFLAGS := -gcflags='all=-N -l'

.PHONY: bench
bench: ## Measure, next to the peers: a bare echo, git diff, git apply, cat.
	@{ \
		$(GO) test -run='^$$' -bench='ReadFile4KiB|EditFile100kLines' -benchtime=$(BENCHTIME) ./daemon; \
		$(GO) test -run='^$$' -bench='EditFile100MB' -benchtime=7x ./daemon; \
		$(GO) test -run='^$$' -bench='Echo/4KiB' ./daemon/rpc; \
		$(GO) test -run='^$$' -bench='Diff$$|Rebase' -benchtime=$(BENCHTIME) ./diffpreview; \
		$(GO) test -run='^$$' -bench='AcceptAll' -benchtime=9x ./diffpreview; \
		$(GO) test -run='^$$' -bench='BashTrue|ReadFile1MiB' -benchtime=$(BENCHTIME) ./tools; \
		$(GO) test -run='^$$' -bench='BashOutput' -benchtime=9x ./tools; \
		$(GO) test -run='^$$' -bench='OutputMemory' -benchtime=1x ./tools/process; \
	} | awk "$$RATIOS"

BENCHTIME ?= 3s

# Every measure is a median next to its peer's, taken turn by turn in the same
# run; the goals are those of the design.
define RATIOS
BEGIN {
	goal("ReadFile4KiB", 2, "read_file of 4 KiB over the socket", "a bare echo")
	goal("EditFile100kLines", 1, "edit_file of one line of 100,000", "git diff --no-index")
	goal("EditFile100MB", 1, "edit_file of one line of 100 MB", "git diff --no-index")
	goal("Diff/OneLine", 1, "diff of 100,000 lines, one changed", "git diff --no-index")
	goal("Diff/1Percent", 1, "diff of 100,000 lines, 1 % changed", "git diff --no-index")
	goal("Diff/5Percent", 1, "diff of 100,000 lines, 5 % changed", "git diff --no-index")
	goal("Diff/30Percent", 2, "diff of 100,000 lines, 30 % changed", "git diff --no-index")
	goal("Diff/AllLines", 2, "diff of 100,000 lines, all changed", "git diff --no-index")
	goal("Diff/MovedBlock", 2, "diff of 100,000 lines, 10,000 moved", "git diff --no-index")
	goal("Rebase", 0.05, "rebase of 1,000 hunks, a line put in on top", "the diff that made them")
	goal("AcceptAll", 2, "accept of 1,000 files", "git apply and sync -f")
	goal("BashTrue", 1.3, "bash of true", "bash -c true from os/exec")
	goal("ReadFile1MiB", 2, "read_file of 1 MiB", "cat")
	goal("BashOutput", 2, "bash of 256 MB of output", "cat >/dev/null through a pipe")
	goal("OutputMemory", 1, "memory for 2 GB of output", "64 MiB")
}
function goal(name, most, what, peer) { names[++goals] = name; limit[name] = most; label[name] = what; peers[name] = peer }
function value(unit,  i) { for (i = 2; i <= NF; i++) if ($$i == unit) return $$(i-1) }
{ print; fflush() }
/^Benchmark/ { name = $$1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$$/, "", name); ratio[name] = value("ratio-p50") }
END {
	print ""
	for (i = 1; i <= goals; i++) {
		name = names[i]
		if (!ratio[name]) { print "no figure for " label[name]; missing = 1; continue }
		printf "%-45s %6.3f times %s (p50; goal: at most %s)%s\n", label[name], ratio[name], peers[name], limit[name], \
			(ratio[name] > limit[name] ? ": MISSED" : "")
	}
	print ""
	exit missing
}
endef
export RATIOS

# Its packages for other platforms are not everywhere to be had, so that it has no
# place in a lock file.
FFF := 0.9.6

.PHONY: fff
fff: peers
	cd $(PEERS) && npm install --no-save --no-package-lock --no-audit --no-fund --silent @ff-labs/fff-node@$(FFF)

# The corpora take 3 GB under .cache/. Without csearch and fd (Debian: codesearch,
# fd-find) their columns are empty.
.PHONY: bench-search
bench-search: build peers fff ## Measure searches next to rg, git grep, fd, csearch and fff; writes docs/performance.md.
	$(GO) run ./$(PEERS:/peers=) -write docs/performance.md $(SEARCHBENCH)

.PHONY: soak
soak: export LOOMD_SOAK := 1
soak: peers ## Run the long forms: many more property cases, every fuzz target for a minute.
	LOOMD_MODEL_STEPS=$(RACESTEPS) $(GO) test -race -count=1 -timeout=120m ./...
	$(GO) test -run='^TestModel$$' -timeout=60m ./diffpreview
	@for pkg in $$($(GO) list -f '{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... | awk '/pgregory.net.rapid/ { print $$1 }'); do \
		$(GO) test -timeout=60m $$pkg -rapid.checks=$(CHECKS); \
	done
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list='^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$target of $$pkg"; \
			$(GO) test -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) $$pkg; \
		done; \
	done

.PHONY: dist
dist: ## Build static binaries for the six platforms into dist/.
	@rm -rf dist
	@for p in $(PLATFORMS); do \
		os=$${p%/*} arch=$${p#*/} name=dist/loomd-$$os-$$arch; \
		[ $$os != windows ] || name=$$name.exe; \
		echo "$$name"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=false \
			-ldflags='-s -w -X main.release=$(VERSION)' -o $$name ./cmd/loomd; \
	done
	@cd dist && $$(command -v sha256sum || echo 'shasum -a 256') loomd-* > SHA256SUMS

.PHONY: fmt
fmt: ## Format the Go code.
	$(GO) tool gofumpt -w $(GO_DIRS)

.PHONY: generate
generate: ## Write the generated files anew.
	$(GO) generate ./...

.PHONY: clean
clean: ## Remove what was built.
	rm -rf bin dist editors/vscode/out
