# Satchel: `make run` starts it, `make test` proves it. Nothing is needed first but Debian, Python 3.11+ and make.
.DEFAULT_GOAL := help
SHELL := /bin/sh
BIN := .venv/bin
PYTHON ?= python3
# What tests write is thrown away: where memory is plentiful, nothing waits for a disk.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'END { if ($$4 > 4000000) print "TMPDIR=/dev/shm" }')
KEEPING := $(if $(IN_MEMORY),-o tmp_path_retention_policy=failed)
# They start programs by the hundred, which begin in half the time when what Python compiled is kept.
COMPILED := -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX=$(CURDIR)/.cache/bytecode
# Most of a test run is waiting for servers, so there are more workers than the two cores of a small machine.
PYTEST := env $(COMPILED) $(IN_MEMORY) $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder $(KEEPING)
export PYTHONPATH := $(CURDIR)

.PHONY: help install site run test journeys again quick engines check check-program check-site audit fix bench pictures services clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

install: site ## Make .venv with the satchel command in it, and build the web app

.venv/ready: pyproject.toml uv.lock tools/environment
	@PYTHON="$(PYTHON)" tools/environment
	@touch $@

site: .venv/ready
	@$(BIN)/python tools/site.py

run: site ## Start the server on http://127.0.0.1:8400, keeping everything in ./data; LAN=1 also for phones nearby, TLS=1 with HTTPS
	@exec $(BIN)/satchel serve $(if $(LAN),--lan) $(if $(TLS),--tls)

services: .venv/ready ## Install the servers, the browser and the web packages that the tests use
	@$(BIN)/python tools/site.py --with-dev
	@tools/services

test: services ## Run every test, against real services that the tests start themselves
	@$(PYTEST) --ignore=tests/engines

# `make test` runs the first of them so; all take about a quarter of an hour more.
journeys: services ## Run all journeys in the browser against two servers on DynamoDB, Redis and S3
	@$(PYTEST) --stores distributed tests/browser tests/server/test_parts_that_die.py

# Only after a whole run that few tests failed: see tests/conftest.py.
again: ## Run once more, one by one, the few tests that failed in the last whole run
	@$(PYTEST) -n 0 --last-failed --last-failed-no-failures none

# Here every test is slow; not to look at them saves what they import.
SLOW_FOLDERS := --ignore=tests/browser --ignore=tests/engines --ignore=tests/faults --ignore=tests/server
# None of these needs it, and every worker would load it.
UNUSED := -p no:schemathesis
# They wait a little for threads, so there is one worker more than a small machine has cores.
quick: site ## Run the tests that need no service, in about a minute
	@$(PYTEST) -n 3 -m "not services and not slow" -q --hypothesis-profile=quick $(UNUSED) $(SLOW_FOLDERS)

# Apart from `make test`: they are large, and what they show seldom differs from Chromium.
engines: services ## Run the first journeys in Firefox and WebKit as well
	@tools/services --engines
	@$(IN_MEMORY) $(BIN)/pytest -n 0 tests/engines

check: check-program check-site ## Format, lint, types, import rules, names, generated documents, messages, the web app's own tests

check-program: .venv/ready
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.documents --check
	@$(BIN)/python -m tools.messages
	@$(BIN)/python -m tools.names
	@$(BIN)/python -m tools.licences

check-site: .venv/ready
	@$(BIN)/python tools/site.py --check

audit: .venv/ready ## Ask whether dependencies have known vulnerabilities; says so where nobody can be asked
	@$(BIN)/python -m tools.vulnerabilities

fix: .venv/ready ## Repair what can be repaired by machine, and generate the documents anew
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python -m tools.documents
	@$(BIN)/python tools/site.py --fix

bench: services ## Measure against peers, side by side, and draw the chart in docs/figures.md
	@$(BIN)/python -m bench --write docs

pictures: services ## Take the README's pictures from the running app
	@$(IN_MEMORY) $(BIN)/python -m tools.pictures

clean: ## Remove everything that can be made again; ./data stays
	rm -rf .venv .cache src/satchel/site web/node_modules web/.svelte-kit .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
