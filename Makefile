# SPDX-FileCopyrightText: 2026 The Butler Authors
# SPDX-License-Identifier: Apache-2.0

# `make` alone lists the targets. Needed: Go, make and git. Not needed: Docker
# (except for docker-build), kubectl, helm, talosctl, root.

.DEFAULT_GOAL := help
MODULE        := github.com/butlerdotdev/butler
BINARIES      := $(notdir $(wildcard cmd/*))
BIN           ?= bin

# One setting for every go command below, the linter's included: another one
# would compile the 2,500 packages of Kubernetes a second time.
export CGO_ENABLED := 0
export GOFLAGS     := $(strip $(filter-out -trimpath -buildvcs=%,$(GOFLAGS)) -trimpath -buildvcs=false)

VERSION ?= $(shell git describe --tags --dirty --match 'v*' 2>/dev/null || echo v0.1.0-dev)
COMMIT  ?= $(shell git rev-parse --quiet --verify --short=12 HEAD 2>/dev/null || echo unknown)
# The date of the commit, not of the build: the same commit gives the same bytes.
DATE    ?= $(shell git log -1 --format=%cI 2>/dev/null || echo unknown)

# The linked Kubernetes components report v0.0.0-master unless told. Test
# executables take the same flags from the environment; they leave out this
# project's own commit, so that test results stay cached from commit to commit.
KUBERNETES := $(shell go list -m -f '{{.Version}}' k8s.io/kubernetes)
NUMBERS    := $(subst ., ,$(patsubst v%,%,$(KUBERNETES)))
component   = -X $(1).gitVersion=$(KUBERNETES) -X $(1).gitMajor=$(word 1,$(NUMBERS)) -X $(1).gitMinor=$(word 2,$(NUMBERS))
export BUTLER_LDFLAGS := -s -w $(call component,k8s.io/component-base/version) $(call component,k8s.io/client-go/pkg/version)

LDFLAGS  := $(BUTLER_LDFLAGS) -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT) -X $(MODULE)/internal/version.Date=$(DATE)
# Images of a release that butleradm pins, as NAME=sha256:…,…; none in other builds.
DIGESTS ?=
digests  = $$($(BIN)/butleradm images list --from $(1) | sed 's/:[^ ]* /=/' | paste -s -d , -)
ifneq ($(DIGESTS),)
LDFLAGS += -X $(MODULE)/internal/release.digests=$(DIGESTS)
endif
# GOOS and GOARCH are for the result, not for the program that shows progress.
GO_BUILD := GOOS= GOARCH= go run ./hack/progress env GOOS=$(GOOS) GOARCH=$(GOARCH) go build -v -ldflags '$(LDFLAGS)' -o $(BIN)/
TOOL     := go tool -modfile=go.tools.mod

##@ Use

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## Build all binaries into bin/. The first time takes 8 to 12 minutes on two cores.
	@$(GO_BUILD) $(addprefix ./cmd/,$(BINARIES))

# The manifest of demo, bench and pictures.
EXAMPLE ?= configs/examples/harvester-ha.yaml

.PHONY: demo
demo: build ## Rehearse an HA cluster (EXAMPLE=FILE), list its nodes, destroy it.
	@go run ./hack/demo -butleradm $(BIN)/butleradm -manifest $(EXAMPLE)

.PHONY: install
install: ## Apply the CRDs to the current cluster of KUBECONFIG.
	@go run ./hack/install

.PHONY: run
run: export KUBECONFIG := $(or $(KUBECONFIG),$(HOME)/.kube/config)
run: build ## Run the controllers against the current cluster of KUBECONFIG until Ctrl-C.
	@go run ./hack/run $(addprefix $(BIN)/,$(filter-out butleradm,$(BINARIES)))

.PHONY: bench
bench: build ## Measure, and compare with docs/performance.json. BENCHFLAGS='-only REGEXP' takes a part.
	@go run ./hack/bench -bin $(BIN) -manifest $(EXAMPLE) -commit $(COMMIT) -json $(BIN)/bench.json $(BENCHFLAGS)

.PHONY: site
site: ## Build the documentation as a static site into dist/site.
	@go run ./hack/site -to $(DIST)/site -version $(VERSION)

.PHONY: pictures
pictures: ## Record a rehearsal of EXAMPLE=FILE, and write docs/images, which README.md shows.
	@$(MAKE) --no-print-directory build-one BINARY=butleradm
	@go run ./hack/record -butleradm $(BIN)/butleradm -manifest $(EXAMPLE) -to docs/images

##@ Develop

# Tests wait for the API servers that they start: two packages more than processors keep
# those busy, and more make tests with a time limit fail.
PACKAGES_AT_ONCE ?= $(shell echo $$((2 + $$(getconf _NPROCESSORS_ONLN))))

# The packages that take longest begin first, so that none of them is alone at the end.
LONGEST = ./internal/cli ./internal/controller/tenantcluster ./internal/controller/clusterbootstrap ./internal/pivot \
	./internal/cli/matrix ./internal/addon/install ./internal/controller/machinerequest ./provider/proxmox ./charts \
	./internal/sim/talos ./internal/sim/harvester ./provider/harvester ./internal/sim ./internal/image ./internal/plane

# Test programs and the API servers that they start are small and short-lived: fewer garbage
# collections save a fifth of the work.
test test-rehearsals test-real-charts test-faults test-kills: export GOGC ?= 400

# Tests build the binaries that they run. The linters include vet.
.PHONY: test
test: ## Run the tests; print the ten slowest. TESTFLAGS=-v names each of them.
	@go run ./hack/slowest go test -json -vet=off -p $(PACKAGES_AT_ONCE) -ldflags '$(BUTLER_LDFLAGS)' -timeout 30m $(TESTFLAGS) $(LONGEST) ./...

.PHONY: test-rehearsals
test-rehearsals: ## Run all tests of commands and pivot, with what make test leaves out.
	@go run ./hack/slowest go test -json -vet=off -tags rehearsals -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 40m $(TESTFLAGS) ./internal/cli ./internal/pivot
	go test -vet=off -tags rehearsals -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 20m $(TESTFLAGS) -run TestAKINDClusterIsThePlane ./internal/cli/matrix

.PHONY: test-real-charts
test-real-charts: ## Rehearse EXAMPLE=FILE with the real charts of DIR=…, as butleradm addons pull writes them.
	@test -d '$(DIR)' || { echo 'test-real-charts: set DIR to a directory with the charts of $(EXAMPLE), as butleradm addons pull writes it' >&2; exit 2; }
	@$(MAKE) --no-print-directory build-one BINARY=butleradm
	BUTLER_TEST_CHARTS='$(abspath $(DIR))' go test -tags charts -vet=off -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 20m -v -run Real ./internal/sim/registry
	@go run ./hack/demo -butleradm $(BIN)/butleradm -manifest $(EXAMPLE) -charts '$(abspath $(DIR))'

.PHONY: test-real
test-real: ## Create, pivot, repair and destroy an HA cluster of real Talos nodes: BOOT=COMMAND REGISTRY=ADDRESS:PORT, as root.
	@GOOS= GOARCH= go build -ldflags '$(BUTLER_LDFLAGS)' -o $(BIN)/realnodes ./hack/realnodes
	@$(BIN)/realnodes -boot '$(BOOT)' -registry '$(REGISTRY)'
	@$(MAKE) --no-print-directory build-one BINARY=butleradm
	@$(BIN)/butleradm images build --only butler-bootstrap,butler-controller,butler-provider-harvester --arch $$(go env GOARCH) --to $(BIN)/real-images.tar
	@$(MAKE) --no-print-directory build-one BINARY=butleradm DIGESTS="$(call digests,$(BIN)/real-images.tar)"
	@$(BIN)/realnodes -boot '$(BOOT)' -registry '$(REGISTRY)' -butleradm $(BIN)/butleradm -images $(BIN)/real-images.tar

.PHONY: test-kills
test-kills: ## Kill the rehearsal of an HA cluster 20 times on its way to Ready.
	BUTLER_TEST_KILLS=20 go test -tags rehearsals -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 20m -v -run TestKilledRehearsalContinuesWhereItWas ./internal/cli

.PHONY: test-faults
test-faults: ## Run the labs, the whole fault matrix (docs/contributing/faults.md), and builds that are broken on purpose. PLATFORM=aws: the matrix on one alone.
	BUTLER_TEST_FAULTS=all go test -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 30m ./internal/controller/machinerequest ./internal/controller/loadbalancerrequest ./internal/controller/ipallocation ./internal/controller/tenantcluster ./internal/ipam ./internal/plane ./internal/diagnosis
	go test -run '^$$' -fuzz FuzzSpace -fuzztime 30s ./internal/ipam
	BUTLER_TEST_FAULTS=all go test -tags rehearsals -ldflags '$(BUTLER_LDFLAGS)' -count 1 -timeout 4h -v -run 'Test./($(PLATFORM))' ./internal/cli/matrix

.PHONY: lint
lint: ## Run the linters of .golangci.yml, and that of the workflows.
	$(TOOL) golangci-lint run ./...
	$(TOOL) actionlint -shellcheck= -pyflakes= .github/workflows/*.yaml

.PHONY: format
format: ## Format all Go files.
	$(TOOL) golangci-lint fmt ./...

.PHONY: generate
generate: ## Write deepcopy functions, the reference of commands and everything behind go:generate.
	$(TOOL) controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...
	go generate ./...
	go run ./hack/commands

.PHONY: clusterapi
clusterapi: ## Write config/clusterapi/definitions from the modules of Cluster API and its providers; downloads them.
	go run ./hack/clusterapi

.PHONY: manifests
manifests: ## Write the CRDs, what charts have copies of, the charts as plain objects, and the reference pages.
	$(TOOL) controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	charts/butler-crds/hack/sync-crds.sh
	charts/butler-lib/hack/sync-lib.sh
	go run ./hack/render
	go run ./hack/reference

.PHONY: verify
verify: generate manifests ## Check go.mod, generated files, formatting, import rules; needs a committed tree.
	go mod tidy -diff
	$(TOOL) golangci-lint fmt --diff ./...
	go test ./internal/arch/...
	@go run ./hack/size
	@test -z "$$(git status --porcelain)" || { git status --short; git --no-pager diff; echo 'verify: the files above are not committed, or differ from what `make generate manifests` writes'; exit 1; }

.PHONY: licences
licences: ## List the linked modules with their licences; fail on one that is unknown or not allowed.
	@go run ./hack/licences

# A copy of the database: VULNDB=file:///DIR.
VULNDB   ?=
# symbol: what is called; package: what is imported, much faster.
VULNSCAN ?= symbol

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what the programs call.
	@go run ./hack/vulncheck $(TOOL) govulncheck -scan $(VULNSCAN) $(if $(VULNDB),-db $(VULNDB)) ./cmd/...

.PHONY: clean
clean: ## Remove bin/ and dist/.
	rm -rf $(BIN) $(DIST)

##@ Release

.PHONY: build-one
build-one: ## Build BINARY=… into bin/.
	@$(if $(filter $(BINARY),$(BINARIES)),:,echo 'set BINARY to one of: $(BINARIES)'; exit 2)
	@$(GO_BUILD) ./cmd/$(BINARY)

# The Dockerfile runs this very target.
.PHONY: rootfs
rootfs: build-one # Write the files of the image of BINARY=… into ROOTFS=….
	@GOOS= GOARCH= go run ./hack/rootfs -binary $(BIN)/$(BINARY) -to $(ROOTFS)

.PHONY: release-info
release-info: # Print version, commit and date of the commit.
	@echo '$(VERSION) $(COMMIT) $(DATE)'

DIST ?= dist
# The platforms of butleradm. Images are for those of Linux among them.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
IMAGE_ARCH = $(subst $() ,$(COMMA),$(patsubst linux/%,%,$(filter linux/%,$(PLATFORMS))))
COMMA     := ,

# IMAGES is a directory, or a file whose name ends with .tar.
IMAGES ?= $(DIST)/images.tar

.PHONY: images
images: ## Build the images of all controllers, amd64 and arm64, into IMAGES=dist/images.tar; no Docker.
	@$(MAKE) --no-print-directory build-one BINARY=butleradm
	@$(BIN)/butleradm images build --to $(IMAGES) --arch $(IMAGE_ARCH)

# Images first: butleradm carries their digests. Nothing is published.
.PHONY: release-dry-run
release-dry-run: export VERSION := $(VERSION)
release-dry-run: export COMMIT := $(COMMIT)
release-dry-run: export DATE := $(DATE)
release-dry-run: ## Build a whole release into dist/: PLATFORMS='linux/amd64 …' selects. Cold, each platform takes 8 to 12 minutes.
	@rm -rf $(DIST) $(BIN)/release
	@$(MAKE) --no-print-directory images IMAGES=$(DIST)/butler-images-$(VERSION).tar
	@set -e; digests="$(call digests,$(DIST)/butler-images-$(VERSION).tar)"; \
	for platform in $(PLATFORMS); do \
		echo "butleradm for $$platform"; \
		$(MAKE) --no-print-directory build-one BINARY=butleradm DIGESTS="$$digests" GOOS=$${platform%/*} GOARCH=$${platform#*/} BIN=$(BIN)/release/$${platform%/*}-$${platform#*/}; \
	done; \
	DIGESTS="$$digests" $(BIN)/butleradm images build --only butleradm --to $(DIST)/butleradm-image-$(VERSION).tar --arch $(IMAGE_ARCH); \
	go run ./hack/licences -texts $(DIST)/licences.txt >/dev/null; \
	go run ./hack/release -dist $(DIST) -build $(BIN)/release -version $(VERSION) -commit $(COMMIT) -date $(DATE) -digests "$$digests"
	@ls -l $(DIST) $(DIST)/charts

.PHONY: test-dist
test-dist: ## Install from dist/ into an empty home, and run version and the demo there.
	@go run ./hack/trydist -dist $(DIST)

.PHONY: docker-build
docker-build: BINARY ?= $(firstword $(subst :, ,$(notdir $(IMG))))
docker-build: ## Build the image IMG=…; it holds the binary of that name, or BINARY=….
	@$(if $(filter $(BINARY),$(BINARIES)),:,echo 'set IMG to …/NAME:TAG, where NAME or BINARY is one of: $(BINARIES)'; exit 2)
	docker build --build-arg BINARY=$(BINARY) --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) --build-arg DATE=$(DATE) --tag $(IMG) .
