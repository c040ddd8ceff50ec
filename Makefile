# Every target sets up what it needs in .venv; caches go to the user's cache folder.
PYTHON ?= python3
EXTRAS ?=
BENCH ?=
CHECKPOINT ?= data/checkpoints/sva-osc-d2-s0
# Tests side by side: a process for each core up to four, as one takes up to 2.4 GB.
# Each starts with its half, third or quarter of the files and takes over what is left.
WORKERS ?= logical

comma := ,
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --maxprocesses=4 --dist=worksteal
STAMP := .venv/.installed$(if $(EXTRAS),-$(EXTRAS))

.PHONY: install ngspice chromium run test test-all test-torch bench lint clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "oscsim needs Python 3.11 or newer and $(PYTHON) is not: install one (Debian, Ubuntu: apt-get install python3.11 python3.11-venv; macOS: brew install python) and call make PYTHON=python3.11"; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  package=$$($(PYTHON) -c 'import sys; print("python3.%d-venv" % sys.version_info[1])'); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq $$package; \
	  else \
	    echo "this Python cannot make virtual environments: install the package $$package"; exit 1; \
	  fi; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev$(if $(EXTRAS),$(comma)$(EXTRAS))]'
	@touch $@

# Circuits run in ngspice; where it cannot be installed here, their tests say so.
ngspice:
	@command -v ngspice >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq ngspice; \
	  elif command -v brew >/dev/null; then brew install ngspice; \
	  else \
	    echo "ngspice is missing: apt-get install ngspice, or deselect its tests with -m 'not spice'"; \
	  fi; }

# A design sheet is tested in a browser; where none can be installed, tests say so.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq chromium; \
	  else \
	    echo "chromium is missing: apt-get install chromium, or deselect its tests with -m 'not browser'"; \
	  fi; }

run: install
	$(BIN)/oscsim infer $(CHECKPOINT)

test: install ngspice chromium
	$(PYTEST) -m 'not slow and not torch'

test-all: install ngspice chromium
	$(PYTEST) -m 'not torch'

test-torch:
	$(MAKE) install EXTRAS=torch
	$(PYTEST) -m torch

# make bench BENCH=--quick tries everything at small sizes.
bench:
	$(MAKE) install EXTRAS=bench
	$(BIN)/python -m tests.benchmarks.run $(BENCH)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf .venv build dist runs
