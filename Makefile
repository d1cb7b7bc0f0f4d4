# `make help` says what there is.  Every target sets up what it needs in $(VENV).

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --no-input --disable-pip-version-check
# Few modules of what is installed are ever imported: they are compiled when they are.
INSTALL := $(PIP) install -q --no-warn-script-location --no-compile --no-deps --no-build-isolation
# Only files whose SHA-256 stands in a lock file.
LOCKED := $(INSTALL) --require-hashes
CODE := src papers tests docs/hooks requirements/refresh requirements/sbom $(wildcard benchmarks)

export PYTHONDONTWRITEBYTECODE :=
export PYTHONPATH :=
export NO_MKDOCS_2_WARNING := 1
export DIST_EXTRA_CONFIG := $(CURDIR)/requirements/wheels.cfg
# Without it hatchling gives every file the same fixed date, here and for everybody else.
unexport SOURCE_DATE_EPOCH

##@ Targets

.PHONY: help
help:  ## Say what there is (the default)
	@awk 'BEGIN { FS = ":.*##" } \
	  /^[a-z-]+:.*##/ { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  Another Python: make test PYTHON=python3.12 VENV=.venv-3.12"

.PHONY: demo
demo: $(VENV)/.stamp-demo  ## Run the whole path on data it makes
	@$(BIN)/liftlock demo
	@$(BIN)/liftlock collect demo --seconds 10

.PHONY: test
test: $(VENV)/.stamp-test  ## Everything that must hold: lint, types, layers, docs, tests
	@# Types keep one core busy.  Meanwhile another one imports the tests and builds the pages: that
	@# compiles once what each worker would compile for itself.
	@requirements/system & system=$$!; \
	  $(MAKE) imported pages >$(VENV)/pages.log 2>&1 & pages=$$!; \
	  $(MAKE) lint || { kill $$pages 2>/dev/null; wait; exit 1; }; \
	  wait $$pages || { cat $(VENV)/pages.log; wait; exit 1; }; \
	  cat $(VENV)/pages.log; wait $$system
	$(BIN)/python -m pytest -q -p no:logging -n $(JOBS) --dist worksteal
	@$(MAKE) machines

.PHONY: machines
machines: $(VENV)/.stamp-test  ## Pages, designs and stored mechanisms once more, as on other CPUs
	$(BIN)/python -m tests.golden.machines -n $(JOBS) --dist worksteal

# Half the time of the unit tests goes into searches, pictures, large tables, processes that are killed,
# and the libraries of others.
QUICK := src tests/unit -k 'not large' -m 'not soak' --hypothesis-profile=few \
  $(patsubst %,--ignore-glob='tests/unit/%',designs/*/* designs/test_[!dl]* report/* \
    notions/test_relations.py cli/test_demo.py cli/collect/test_demo.py cli/collect/test_serve.py \
    collect/server/test_fuzz.py collect/store/test_postgres.py test_designing.py test_sklearn.py \
    test_spark*.py)

.PHONY: check
check: lint  ## The fast part of it, for every change: lint, types, layers, most unit tests
	$(BIN)/python -m pytest -q -p no:logging -n $(JOBS) --dist worksteal $(QUICK)

.PHONY: house
house: $(VENV)/.stamp-test  ## Measure it: files and lines by package, layers, how far a design goes
	@$(BIN)/python -m tests.house

.PHONY: lint
lint: $(VENV)/.stamp-test  ## Style, formatting, types, import layers
	$(BIN)/ruff check -q --output-format=concise $(CODE)
	$(BIN)/ruff format -q --check $(CODE)
	$(BIN)/mypy --no-error-summary $(CODE)
	$(BIN)/lint-imports --no-logo

# What is wrong with the tests the workers tell.
.PHONY: imported
imported: $(VENV)/.stamp-test
	@$(BIN)/python -m pytest -q --collect-only >/dev/null 2>&1 || true

.PHONY: pages
pages: $(VENV)/.stamp-test
	$(BIN)/python -m mkdocs build --strict -d .cache/site

.PHONY: format
format: $(VENV)/.stamp-test  ## Format the code and fix what can be fixed
	$(BIN)/ruff format -q $(CODE)
	$(BIN)/ruff check -q --fix $(CODE)

# SEED=7 draws the same again; COUNT=150 draws more.
.PHONY: mutants
mutants: $(VENV)/.stamp-test  ## Change the trust core at random: do the tests notice?
	$(BIN)/python -m tests.mutants --workers $(JOBS) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))

# The short form of each is a part of `make test`: tests/soak.py says how large both are.
.PHONY: soak
soak: $(VENV)/.stamp-test  ## Kill, fill and load the collection service for an hour
	LIFTLOCK_SOAK=1 $(BIN)/python -m pytest -q -p no:logging -n 0 -m soak tests

.PHONY: bench
bench: $(VENV)/.stamp-bench $(VENV)/.stamp-test  ## Compare with other libraries, measure speed
	$(BIN)/python -m benchmarks

.PHONY: papers
papers: $(VENV)/.stamp-papers  ## Compute every figure of the papers again (half an hour)
	$(BIN)/liftlock papers run all --out papers

.PHONY: docs
docs: $(VENV)/.stamp-docs  ## Build the documentation into site/
	$(BIN)/python -m mkdocs build --strict -d site

.PHONY: dist
dist: $(VENV)/.stamp-dist  ## Build the wheels, the source archive and the bill of materials
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	cd papers && $(abspath $(BIN))/python -m hatchling build -t wheel -d ../dist
	$(BIN)/python requirements/sbom >dist/liftlock.cdx.json
	@cd dist && sha256sum *

.PHONY: clean
clean:  ## Remove the environment and everything built
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf build dist site
	find src papers tests docs $(wildcard benchmarks) -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment.  A stamp is older than its lock file when something must be installed.

.PHONY: always
always:

$(VENV)/.python: always
	@requirements/venv $(VENV) $(PYTHON)

$(VENV)/.stamp-package: $(VENV)/.python pyproject.toml papers/pyproject.toml requirements/build.txt
	@echo "liftlock: setting up $(VENV)"
	@$(LOCKED) -r requirements/build.txt
	@$(INSTALL) -e . -e papers
	@touch $@

$(VENV)/.stamp-demo: requirements/demo.txt
$(VENV)/.stamp-papers: requirements/plot.txt requirements/fit.txt
$(VENV)/.stamp-docs: requirements/docs.txt
$(VENV)/.stamp-bench: requirements/bench.txt
$(VENV)/.stamp-dist: requirements/runtime.txt
$(foreach what,demo papers docs bench dist,$(VENV)/.stamp-$(what)): $(VENV)/.stamp-package
	@echo "liftlock: installing $(filter %.txt,$^)"
	@$(LOCKED) $(patsubst %,-r %,$(filter %.txt,$^))
	@touch $@

# Two at a time, with no package in common: one builds Spark, which has no wheel, and takes what
# only the pages need and a few large ones; the other takes the rest, which are many.
LARGE := ^\(pyspark\|polars-runtime-32\|pyarrow\)==
$(VENV)/.stamp-test: requirements/test.txt requirements/docs.txt $(VENV)/.stamp-package
	@echo "liftlock: installing $(filter %.txt,$^)"
	@grep -v '$(LARGE)' requirements/test.txt >$(VENV)/first.txt
	@{ grep '$(LARGE)' requirements/test.txt; grep -vxFf requirements/test.txt requirements/docs.txt; } \
	  >$(VENV)/second.txt
	@$(LOCKED) -r $(VENV)/second.txt & second=$$!; \
	  $(LOCKED) -r $(VENV)/first.txt || { kill $$second 2>/dev/null; wait; exit 1; }; wait $$second
	@touch $@
