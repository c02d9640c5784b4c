# The two commands of the README: make demo, make test. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.PHONY: setup demo test torture lint bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
ifdef UV
	VIRTUAL_ENV=$(CURDIR)/$(VENV) uv pip install --quiet --editable '.[dev]'
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
endif
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/velado demo

lint: $(STAMP)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/lint-imports
	$(BIN)/mypy

# Kernels are compiled once, not by every worker of the tests.
test: lint
	$(BIN)/python -m velado.release.warm
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The harness of tests/harness with many more cases.
torture: $(STAMP)
	VELADO_TORTURE=1 $(BIN)/python -m pytest -n 2 tests/harness

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis velado-demo
