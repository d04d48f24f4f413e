# Every target works on a fresh machine with make, git and Node 20 or later, and does its own set-up.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# tools/node/install.sh installs the required Node version here if the machine has another one.
export PATH := $(CURDIR)/tools/node/node_modules/.bin:$(CURDIR)/node_modules/.bin:$(PATH)

PACKAGES := node_modules/.package-lock.json
VALIDATORS := src/core/schema/generated/.made
BUNDLE := dist/sallyport.js
SOURCES := $(shell find src -name '*.ts' -not -path 'src/core/schema/generated/*')
SCHEMA := $(filter src/core/schema/% src/core/text/%,$(SOURCES))
# Jest loads ES modules through node:vm, which Node reports as experimental.
JEST := NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' jest
FORMATTED := src test tools jest.config.js jest.attack.config.js jest.e2e.config.js
# Additional arguments for Jest: make test JEST_FLAGS='test/unit -t duration'
JEST_FLAGS ?=

# Continuous integration always installs packages from the lock file.
ifeq ($(CI),true)
.PHONY: $(PACKAGES)
endif

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

##@ Use and develop

.PHONY: run
run: build ## Validate and serve examples/quickstart with webhook, data plane and demo backends
	@bin/sallyport run -f examples/quickstart --demo

.PHONY: build
build: $(BUNDLE) ## Bundle the program into dist/ for bin/sallyport

.PHONY: test
test: lint ## Check types, lint and run all tests; JEST_FLAGS='test/unit -t duration' selects tests
	@echo "Testing ..."
	@$(JEST) $(JEST_FLAGS)

.PHONY: check
check: test ## Alias of test

.PHONY: lint
lint: $(VALIDATORS) ## Check types and format, lint, find unused exports
	@echo "Checking types ..."
	@tsc --noEmit
	@echo "Linting ..."
	@oxlint --deny-warnings
	@oxfmt --check $(FORMATTED)
	@knip --no-progress

.PHONY: format
format: $(PACKAGES) ## Format the source code
	@oxfmt $(FORMATTED)

.PHONY: golden
golden: $(VALIDATORS) ## Update the expected files of test/golden
	@UPDATE_GOLDEN=1 $(JEST) test/golden
	@git status --short test/golden

.PHONY: clean
clean: ## Remove build output; packages stay installed
	@rm -rf dist coverage src/core/schema/generated

##@ Measure

.PHONY: bench-kernel
bench-kernel: $(VALIDATORS) ## Measure the cost of one change at 100, 1,000 and 10,000 routes
	@node --expose-gc test/bench/kernel.ts

.PHONY: bench-webhook
bench-webhook: $(VALIDATORS) ## Measure admission reviews beside a Go webhook (3 min; needs go)
	@test/bench/webhook/run.sh

.PHONY: bench-proxy
bench-proxy: build ## Measure the data plane beside nginx and HAProxy (25 min); CASES=get,h2 PEERS=node,none ROUNDS=5 DURATION=3 RATE= JSON=
	@PEERS='$(PEERS)' CASES='$(CASES)' ROUNDS='$(ROUNDS)' DURATION='$(DURATION)' RATE='$(RATE)' JSON='$(JSON)' test/bench/isolated.sh bench-proxy test/bench/proxy.ts

.PHONY: soak
soak: build ## Send mixed traffic through one data plane while everything changes: memory, descriptors, errors; MINUTES=120 RATE=1
	@MINUTES='$(MINUTES)' RATE='$(RATE)' test/bench/isolated.sh soak test/bench/soak.ts

.PHONY: bench-routes
bench-routes: build ## Measure route latency and start at 5,000 routes in a cluster (5 min); KUBECONFIG= CLUSTER= ROUTES=3000 PEER=class ONLY=latency|creation
	@ROUTES='$(ROUTES)' PEER='$(PEER)' ONLY='$(ONLY)' test/bench/routes/run.sh

.PHONY: bench-memory
bench-memory: build ## Measure memory and CPU of an idle installation (6 min; needs go); ROUTES='10 5000' COMPONENTS=
	@ROUTES='$(or $(ROUTES),10 5000)' COMPONENTS='$(COMPONENTS)' test/bench/memory/run.sh test/bench/memory.ts

.PHONY: bench-changes
bench-changes: build ## Measure CPU and latency of new routes in an installation (2 min; needs go); ROUTES= ADDED= ROUNDS= INTERVAL=
	@test/bench/memory/run.sh test/bench/changes.ts

.PHONY: bench-check
bench-check: $(VALIDATORS) ## Measure check beside kubeconform (needs go)
	@test/bench/check/run.sh

##@ Compare and attack

.PHONY: schema-diff
schema-diff: $(VALIDATORS) ## Compare the schema tables with the official CRDs
	@node tools/schema-diff.ts
	@node tools/known-schemas.ts --check

.PHONY: rule-sites
rule-sites: $(VALIDATORS) ## Compare the field paths of rules with those of the CEL rules in the official CRDs
	@node tools/rule-sites.ts

.PHONY: differential
differential: $(VALIDATORS) ## Compare verdicts with those of real API servers; BUNDLES='v1.7.0/standard' COUNT=2000 SEED=1
	@test/differential/run.sh

.PHONY: fuzz
fuzz: $(VALIDATORS) ## Pass fuzzed objects through all components (20 min); COUNT=1000000 SEED=1
	@node --disable-warning=ExperimentalWarning test/fuzz/fuzz.ts

.PHONY: attack
attack: build ## Attack webhook, data plane and parsers at full size; SEED=1 JEST_FLAGS='test/attack/floods'
	@ATTACK=full SEED='$(or $(SEED),1)' $(JEST) --config jest.attack.config.js $(JEST_FLAGS)

.PHONY: clients
clients: $(VALIDATORS) ## Send requests of curl, h2load, wrk, Python, Go, Node and gRPC clients; PYTHON=python3
	@PYTHON='$(or $(PYTHON),python3)' node --disable-warning=ExperimentalWarning test/interop/clients.ts

.PHONY: mutate
mutate: $(VALIDATORS) ## Run mutation tests; FILES='src/…' COUNT=50 SEED=1 TESTS= FLAGS=--fail
	@COUNT='$(or $(COUNT),50)' SEED='$(or $(SEED),1)' TESTS='$(TESTS)' node tools/mutate.ts $(FLAGS) $(FILES)

##@ Cluster

.PHONY: cluster-up
cluster-up: node ## Start a Kubernetes cluster on this machine; CLUSTER=name
	@test/cluster/build.sh
	@test/cluster/up.sh

.PHONY: cluster-down
cluster-down: ## Stop the cluster and remove its files and processes; CLUSTER=name
	@test/cluster/down.sh

.PHONY: cluster-image
cluster-image: build ## Load the image of Sallyport into the cluster; IMAGE=
	@test/cluster/image.sh

.PHONY: kubectl
kubectl: ## Run kubectl with the cluster; ARGS='get pods -A'
	@test/cluster/run.sh kubectl $(ARGS)

.PHONY: e2e
e2e: build ## Run the end-to-end tests in a cluster; KEEP=1 KUBECONFIG=
	@test/e2e/run.sh $(JEST_FLAGS)

.PHONY: conformance
conformance: build ## Run the official conformance suite; CHANNEL=standard PROFILES= RUN='TestA|TestB' KEEP=1 REPORT=
	@CHANNEL='$(CHANNEL)' PROFILES='$(PROFILES)' RUN='$(RUN)' FEATURES='$(FEATURES)' OUT='$(OUT)' REPORT='$(REPORT)' test/conformance/conformance.sh

.PHONY: node
node:
	@sh tools/node/install.sh

$(PACKAGES): package.json package-lock.json | node
	@echo "Installing packages (npm ci), about 20 seconds ..."
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

$(VALIDATORS): $(SCHEMA) tools/generate-validators.ts tools/validator-schemas.ts tools/pattern-automaton.ts $(PACKAGES)
	@echo "Generating validators ..."
	@node tools/generate-validators.ts
	@touch $@

$(BUNDLE): $(SOURCES) $(VALIDATORS) tools/build.ts tools/bundle.ts tools/declarations.ts tsconfig.library.json
	@echo "Building dist/ ..."
	@node tools/build.ts
