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
INSTALL := $(PIP) install -q --no-warn-script-location
CODE := src tests docs/hooks $(wildcard benchmarks)

export PYTHONDONTWRITEBYTECODE :=
export PYTHONPATH :=
export NO_MKDOCS_2_WARNING := 1

##@ Targets

.PHONY: help
help:  ## Say what there is (the default)
	@awk 'BEGIN { FS = ":.*##" } \
	  /^[a-z-]+:.*##/ { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  Another Python: make test PYTHON=python3.12 VENV=.venv-3.12"

.PHONY: demo
demo: $(VENV)/.stamp-demo  ## Audit, repair and sample an example channel
	@$(BIN)/liftlock demo

.PHONY: test
test: $(VENV)/.stamp-test $(VENV)/.stamp-docs  ## Everything that must hold: lint, types, layers, docs, tests
	@# Types and pages keep one core busy.  Meanwhile another one imports the tests: that compiles
	@# once what each worker would compile for itself.  What is wrong with them the workers tell.
	@$(BIN)/python -m pytest -q --collect-only >/dev/null 2>&1 & \
	  $(MAKE) lint pages || { kill $$!; exit 1; }; wait
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal

.PHONY: lint
lint: $(VENV)/.stamp-test $(VENV)/.stamp-docs  ## Style, formatting, types, import layers
	$(BIN)/ruff check -q --output-format=concise $(CODE)
	$(BIN)/ruff format -q --check $(CODE)
	$(BIN)/mypy --no-error-summary $(CODE)
	$(BIN)/lint-imports --no-logo

.PHONY: pages
pages: $(VENV)/.stamp-docs
	$(BIN)/python -m mkdocs build --strict -d .cache/site

.PHONY: format
format: $(VENV)/.stamp-test  ## Format the code and fix what can be fixed
	$(BIN)/ruff format -q $(CODE)
	$(BIN)/ruff check -q --fix $(CODE)

.PHONY: bench
bench: $(VENV)/.stamp-bench  ## Compare with other libraries, measure speed
	$(BIN)/python -m benchmarks

.PHONY: docs
docs: $(VENV)/.stamp-docs  ## Build the documentation into site/
	$(BIN)/python -m mkdocs build --strict -d site

.PHONY: clean
clean:  ## Remove the environment and everything built
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf build dist site
	find src tests docs $(wildcard benchmarks) -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment.  A stamp is older than its lock file when something must be installed.

.PHONY: always
always:

$(VENV)/.python: always
	@requirements/venv $(VENV) $(PYTHON)

$(VENV)/.stamp-package: $(VENV)/.python pyproject.toml requirements/build.txt requirements/runtime.txt
	@echo "liftlock: setting up $(VENV)"
	@$(INSTALL) -r requirements/build.txt -r requirements/runtime.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-demo: requirements/plot.txt
$(VENV)/.stamp-test: requirements/test.txt
$(VENV)/.stamp-docs: requirements/docs.txt
$(VENV)/.stamp-bench: requirements/bench.txt
$(VENV)/.stamp-demo $(VENV)/.stamp-test $(VENV)/.stamp-docs $(VENV)/.stamp-bench: $(VENV)/.stamp-package
	@echo "liftlock: installing $(filter %.txt,$^)"
	@$(INSTALL) --no-deps --no-build-isolation -r $(filter %.txt,$^)
	@touch $@
