# Every target works on a fresh machine with make, git and any Node from 20 on: what it needs, it makes.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# A Node brought by tools/node/install.sh comes first, where there is one.
export PATH := $(CURDIR)/tools/node/node_modules/.bin:$(CURDIR)/node_modules/.bin:$(PATH)

PACKAGES := node_modules/.package-lock.json
VALIDATORS := src/core/schema/generated/.made
BUNDLE := dist/sallyport.js
SOURCES := $(shell find src -name '*.ts' -not -path 'src/core/schema/generated/*')
SCHEMA := $(filter src/core/schema/% src/core/text/%,$(SOURCES))
# Jest loads ES modules through node:vm, which Node still calls experimental.
JEST := NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' jest
FORMATTED := src test tools jest.config.js jest.attack.config.js jest.e2e.config.js
# More arguments for Jest: make test JEST_FLAGS='test/unit -t duration'
JEST_FLAGS ?=

# Continuous integration never trusts packages that lie around.
ifeq ($(CI),true)
.PHONY: $(PACKAGES)
endif

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## Validate and serve examples/quickstart: webhook, proxy, demo backends
	@bin/sallyport run -f examples/quickstart --demo

.PHONY: build
build: $(BUNDLE) ## Bundle the program into dist/, for bin/sallyport

.PHONY: test
test: lint ## Type check, lint and run all tests
	@echo "Testing ..."
	@$(JEST) $(JEST_FLAGS)

.PHONY: check
check: test ## Same as test

.PHONY: lint
lint: $(VALIDATORS) ## Type check, lint, check the format, find unused exports
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
golden: $(VALIDATORS) ## Rewrite the expected files of test/golden; review them as a diff
	@UPDATE_GOLDEN=1 $(JEST) test/golden
	@git status --short test/golden

.PHONY: bench-kernel
bench-kernel: $(VALIDATORS) ## Cost of one change at 100, 1,000 and 10,000 routes, and memory per route
	@node --expose-gc test/bench/kernel.ts

.PHONY: bench-webhook
bench-webhook: $(VALIDATORS) ## CPU, latency and memory per review, beside the official Go server; needs go, two minutes
	@test/bench/webhook/run.sh

.PHONY: bench-proxy
bench-proxy: build ## CPU and latency per request of the proxy, beside nginx and HAProxy; two minutes
	@test/bench/proxy/run.sh

.PHONY: bench-routes
bench-routes: build ## New routes, statuses, memory and start at 5,000 routes, in a real cluster (KUBECONFIG, CLUSTER); 5 minutes
	@test/bench/routes/run.sh

.PHONY: bench-memory
bench-memory: build ## Memory and CPU of an idle installation: ROUTES='10 5000' COMPONENTS=webhook; needs go, 4 minutes
	@ROUTES='$(or $(ROUTES),10 5000)' COMPONENTS='$(COMPONENTS)' test/bench/memory/run.sh

.PHONY: bench-check
bench-check: $(VALIDATORS) ## Objects per second of check beside kubeconform, start-up and memory; needs go, some minutes
	@test/bench/check/run.sh

.PHONY: schema-diff
schema-diff: $(VALIDATORS) ## Compare the schema with the official CRDs, node by node, and the hashes
	@node tools/schema-diff.ts
	@node tools/known-schemas.ts --check

.PHONY: rule-sites
rule-sites: $(VALIDATORS) ## Compare the places of our rules with those of the official CRDs' rules
	@node tools/rule-sites.ts

.PHONY: differential
differential: $(VALIDATORS) ## What real API servers refuse, and what we say: BUNDLES='v1.7.0/standard' COUNT=2000 SEED=1
	@test/differential/run.sh

.PHONY: fuzz
fuzz: $(VALIDATORS) ## Fuzzed objects through everything: COUNT=1000000 SEED=1; twenty minutes
	@node --disable-warning=ExperimentalWarning test/fuzz/fuzz.ts

.PHONY: attack
attack: build ## Attack webhook, data plane and parsers at full size: SEED=1 JEST_FLAGS='test/attack/floods'; some minutes
	@ATTACK=full SEED='$(or $(SEED),1)' $(JEST) --config jest.attack.config.js $(JEST_FLAGS)

.PHONY: clients
clients: $(VALIDATORS) ## Run curl, h2load, wrk, Python, Go, Node and gRPC clients through the data plane: PYTHON=python3; half a minute
	@PYTHON='$(or $(PYTHON),python3)' node --disable-warning=ExperimentalWarning test/interop/clients.ts

.PHONY: mutate
mutate: $(VALIDATORS) ## Change sources in one place at a time and run their tests: FILES='src/…' COUNT=50 SEED=1 TESTS= FLAGS=--fail
	@COUNT='$(or $(COUNT),50)' SEED='$(or $(SEED),1)' TESTS='$(TESTS)' node tools/mutate.ts $(FLAGS) $(FILES)

.PHONY: cluster-up
cluster-up: node ## Start a real Kubernetes on this machine; CLUSTER=name for one more
	@test/cluster/build.sh
	@test/cluster/up.sh

.PHONY: cluster-down
cluster-down: ## End it, and remove everything it left
	@test/cluster/down.sh

.PHONY: cluster-image
cluster-image: build ## Load the project's image into it, as IMAGE
	@test/cluster/image.sh

.PHONY: kubectl
kubectl: ## kubectl against it: make kubectl ARGS='get pods -A'
	@test/cluster/run.sh kubectl $(ARGS)

.PHONY: e2e
e2e: build ## End-to-end tests in it, or in the cluster of KUBECONFIG; KEEP=1 leaves it running
	@test/e2e/run.sh $(JEST_FLAGS)

.PHONY: conformance
conformance: build ## The official suite in it; CHANNEL=standard PROFILES=GATEWAY-HTTP RUN='TestA|TestB' KEEP=1 REPORT=docs/conformance/report.yaml
	@CHANNEL='$(CHANNEL)' PROFILES='$(PROFILES)' RUN='$(RUN)' FEATURES='$(FEATURES)' OUT='$(OUT)' REPORT='$(REPORT)' test/conformance/conformance.sh

.PHONY: clean
clean: ## Remove what was built; packages stay
	@rm -rf dist coverage src/core/schema/generated

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
