# Everything sets itself up: a virtual environment in .venv, pinned by constraints.txt.
PYTHON = python3
HOST = 127.0.0.1
PORT = 8000
DATA = memories.db
# Where the memories are: sqlite, dynamodb (with ENDPOINT_URL and TABLE), or moto, to try it.
STORE = sqlite
TABLE = memories
ENDPOINT_URL =
# Set to 1 to make a missing table.
CREATE_TABLE =
# How long a soak of each store takes.
MINUTES = 10

BIN := .venv/bin
# Python compiles what it imports when it does; most of what is installed it never does.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile

# The container of the MCP server. Docker counts only if its engine answers. The target `lambda` has
# the adapter for Lambda, `container` has not. PIP_CONFIG is a file that sets pip up for the build.
ENGINE ?= $(shell docker info >/dev/null 2>&1 && echo docker || command -v podman || command -v buildah)
IMAGE = memories-mcp
TARGET = container
PIP_CONFIG ?=
BUILD_OPTIONS ?=
comma := ,

.PHONY: serve test deep clock soak e2e image image-test bench check audit format clean

serve: .venv/serve-$(STORE).stamp  ## Run the service on this machine
	@$(BIN)/memories serve --host $(HOST) --port $(PORT) --data "$(DATA)" --store $(STORE) \
		--table "$(TABLE)" --endpoint-url "$(ENDPOINT_URL)" $(if $(CREATE_TABLE),--create-table)

# Far from UTC, so that no time of a host's is taken for one of the service's.
test: .venv/dev.stamp  ## Run every test, the deployment to an emulator included
	TZ=Asia/Tokyo $(BIN)/python -m pytest -m "not image and not deep" --numprocesses auto
	$(MAKE) clock

deep: .venv/dev.stamp  ## Run the tests that take DynamoDB's stand-in minutes
	$(BIN)/python -m pytest -m deep --numprocesses auto

# On SQLite by events, which is quick: what a clock or a time zone could break is the same elsewhere.
clock: .venv/dev.stamp  ## Run the contract with a clock that is set back, in an uneven time zone
	TZ=America/St_Johns $(BIN)/python -m pytest tests/contract --clock backward \
		--numprocesses auto --quiet -m "not onward" \
		-k "not dynamodb and not socket and not mcp and not test_model and not thousand and not 1001"

soak: .venv/dev.stamp  ## Work at full rate while servers are killed and a store fails; MINUTES=1
	PYTHONPATH=tests $(BIN)/python -m soak.run --minutes $(MINUTES)

e2e: .venv/dev.stamp  ## Deploy the template to an emulator of AWS, and use what comes up
	$(BIN)/python -m pytest -m e2e

image:  ## Build the container of the MCP server
	@test -n "$(ENGINE)" || { echo "make image needs docker, podman or buildah" >&2; exit 1; }
	$(ENGINE) build $(if $(findstring docker,$(ENGINE)),,--format=docker) \
		--file=functions/mcp_server/Dockerfile --target=$(TARGET) --tag=$(IMAGE) \
		$(if $(PIP_CONFIG),--secret=id=pip$(comma)src=$(PIP_CONFIG)) $(BUILD_OPTIONS) .

image-test: .venv/dev.stamp  ## Build the container and drive the server in it; needs root
	$(BIN)/python -m pytest -m image

bench: .venv/dev.stamp  ## Measure, beside the limit, a baseline and others; QUICK=1 to try it
	$(BIN)/python benchmarks/bench.py $(if $(QUICK),--quick)

check: .venv/dev.stamp  ## Lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Not a part of check: it asks a service on the network what is known of each package.
audit: .venv/bin/python  ## Look up what is known to be wrong with the packages
	$(BIN)/python -m venv .cache/audit
	.cache/audit/bin/python -m pip --disable-pip-version-check install --quiet pip-audit
	.cache/audit/bin/pip-audit --no-deps --disable-pip --requirement constraints.txt
	.cache/audit/bin/pip-audit --no-deps --disable-pip --requirement shared/requirements.txt

format: .venv/dev.stamp  ## Put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## Remove what was built
	rm -rf .venv .venv-sam .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@echo "Making .venv ..."
	@$(PYTHON) -m venv .venv

.venv/serve-%.stamp: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what it needs into .venv, once ..."
	@$(PIP) --constraint constraints.txt --editable '.[local,$*]'
	@touch $@

.venv/dev.stamp: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Setting up the tools, once ..."
	@$(PIP) --constraint constraints.txt --editable '.[dev]'
	@touch $@
