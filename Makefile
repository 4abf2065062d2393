# Everything here sets up what it needs first; the second time that takes a moment.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(abspath $(VENV))/bin
STAMPS := .make
JLPM := cd labextension && $(BIN)/jlpm

# The oldest Python and Node.js that pyproject.toml and hatch_build.py accept.
FIND_PYTHON = $(foreach p,python3 python3.13 python3.12 python3.11,$(shell $(p) -c \
	'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null))
NODE_OK := node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' 2>/dev/null

INSTALL_SOURCES := pyproject.toml hatch_build.py install.json labextension/package.json \
	labextension/yarn.lock $(wildcard jupyter-config/*/* kernelspec/*)
LABEXTENSION_SOURCES := $(wildcard labextension/tsconfig*.json) \
	$(shell find labextension/src labextension/style labextension/schema -type f)

export PATH := $(BIN):$(PATH)
# Where this is set, every start of Python compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help lab test security bench soak lint lint-python lint-labextension format types install clean

help:  ## say what there is
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 16

lab: install  ## open JupyterLab with the panel, in a fresh demo folder
	@.ci/system-packages bwrap=bubblewrap
	@.ci/lab

test: install  ## run all tests: Python, server, sandbox, TypeScript, browser
	@.ci/system-packages bwrap=bubblewrap
	@[ -z "$${CI:-}" ] || CI= .ci/system-packages chromium-headless-shell=chromium-headless-shell
	@command -v chromium-headless-shell >/dev/null || .ci/system-packages chromium=chromium
	@[ "$$(id -u)" != 0 ] || .ci/system-packages dockerd=docker.io /usr/bin/python3=python3
	@.ci/test

security: install  ## try all attacks on the sandboxes and write the result into docs/security.md
	@.ci/system-packages bwrap=bubblewrap dockerd=docker.io
	@python tests/sandbox/attacks/table.py

bench: install  ## measure against what is possible on this machine; prints a table
	@.ci/system-packages bwrap=bubblewrap
	@python tests/benchmarks/run.py

soak: install  ## run tasks one after another for SOAK_MINUTES (default 30) and look for leaks
	@.ci/system-packages bwrap=bubblewrap
	@python tests/benchmarks/soak.py --minutes $(or $(SOAK_MINUTES),30)

lint: lint-python lint-labextension  ## ruff, mypy, prettier, eslint, stylelint, import direction, lock file

lint-python: install
	ruff check .
	ruff format --check .
	mypy
	pytest -q tests/python/test_imports.py

lint-labextension: install
	$(JLPM) lint
	@if grep -nE '://|__archiveUrl' labextension/yarn.lock; then \
		echo "labextension/yarn.lock must name no host."; exit 1; fi

format: install  ## bring all code into shape
	ruff check --fix .
	ruff format .
	$(JLPM) lint:fix

types: install  ## write the TypeScript event types anew from the Python ones
	$(JLPM) types

install:  ## create .venv, install everything into it, build the labextension
	@$(NODE_OK) || { echo "Node.js 20 or newer is needed; please install it and try again."; exit 1; }
	@$(MAKE) --no-print-directory $(STAMPS)/install
	@$(MAKE) --no-print-directory $(STAMPS)/labextension

$(VENV)/bin/python:
	@test -n "$(FIND_PYTHON)" || \
		{ echo "Python 3.11 or newer is needed; please install it and try again."; exit 1; }
	$(firstword $(FIND_PYTHON)) -m venv $(VENV)

$(STAMPS)/install: $(INSTALL_SOURCES) | $(VENV)/bin/python
	@echo "Installing into $(VENV): some minutes the first time."
	rm -rf openhands_jupyter/labextension
	python -m pip install --quiet --editable ".[dev,test]"
	jupyter-builder develop --overwrite .
	@mkdir -p $(STAMPS) && touch $@ $(STAMPS)/labextension

$(STAMPS)/labextension: $(LABEXTENSION_SOURCES)
	$(JLPM) build
	@touch $@

clean:  ## remove what was built (not .venv and node_modules)
	rm -rf $(STAMPS) build dist openhands_jupyter/labextension labextension/lib \
		labextension/tsconfig.tsbuildinfo test-results .mypy_cache .pytest_cache .ruff_cache
