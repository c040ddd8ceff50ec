# Every target sets up what it needs: .venv for this folder, nothing outside it.
PYTHON ?= python3
EXTRAS ?=
comma := ,
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))
CHECKPOINT ?= data/checkpoints/sva-osc-d2-s0

.PHONY: install run test test-all test-torch lint checkpoints clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "oscsim needs Python 3.11 or newer, $(PYTHON) is older: install python3.11 and call make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "this Python has no ensurepip: install the package python3-venv"; exit 1; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev$(if $(EXTRAS),$(comma)$(EXTRAS))]'
	@touch $@

run: install
	$(BIN)/oscsim infer $(CHECKPOINT)

test: install
	$(BIN)/python -m pytest -m 'not slow and not torch'

test-all: install
	$(BIN)/python -m pytest -m 'not torch'

test-torch:
	$(MAKE) install EXTRAS=torch
	$(BIN)/python -m pytest -m torch

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) build dist runs
