# The commands of the README: make demo, make studio, make test. Each sets up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.PHONY: setup demo studio test torture spark lint bench clean

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

# Velado in the browser, for you alone; the browser opens by itself.
studio: $(STAMP)
	$(BIN)/velado studio

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

# All tests of Spark on executors of their own, all configurations included.
spark: $(STAMP)
	VELADO_SPARK_MASTER='local-cluster[2,1,1024]' VELADO_TORTURE=1 $(BIN)/python -m pytest -q tests/engines tests/test_spark.py tests/test_same_answer.py -k spark

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis velado-demo
