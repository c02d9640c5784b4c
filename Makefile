# The commands of the README: make demo, make anonymize, make studio, make test. Each first installs what it needs into .venv,
# and no more: the package alone, the extra studio, or everything for development.
PYTHON ?= python3
WORKERS ?= 2
ENGINES ?= postgresql mariadb spark
VENV := .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
STUDIO := $(VENV)/.studio
DEV := $(VENV)/.dev
# Hundreds of processes begin in a run of the tests: none of them should compile Python files again.
unexport PYTHONDONTWRITEBYTECODE
TIMES := build/tests
UV := $(shell command -v uv 2>/dev/null)
# For a demonstration only the files that it needs are compiled, when it needs them; for development all at once.
ifdef UV
INSTALL := VIRTUAL_ENV=$(CURDIR)/$(VENV) uv pip install --quiet
INSTALL_ALL := $(INSTALL) --compile-bytecode
else
INSTALL_ALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL := $(INSTALL_ALL) --no-compile
endif
# Other files need not be looked through for tests that are marked so.
LINTING = $(shell grep --recursive --files-with-matches --include='test_*.py' 'mark[.]lint' tests)
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

.PHONY: setup demo anonymize studio lint test test-all test-rest test-times test-engines test-stores test-browser test-faults \
	test-docs test-thorough torture spark bench clean

setup: $(DEV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(PACKAGE): pyproject.toml | $(BIN)/python
	$(INSTALL) --editable .
	touch $(PACKAGE)

$(STUDIO): pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[studio]'
	touch $(PACKAGE) $(STUDIO)

$(DEV): pyproject.toml | $(BIN)/python
	$(INSTALL_ALL) --editable '.[dev]'
	touch $(PACKAGE) $(STUDIO) $(DEV)

demo: $(PACKAGE)
	$(BIN)/velado demo

# Your own table: make anonymize TABLE=people.csv. A project file that lies beside it is used as it is.
anonymize: export TABLE := $(TABLE)
anonymize: $(PACKAGE)
	@test -f "$$TABLE" || { echo 'Which table? make anonymize TABLE=people.csv' >&2; exit 2; }
	@test -f "$${TABLE%.*}.yaml" || $(BIN)/velado init "$$TABLE" --output "$${TABLE%.*}.yaml"
	@$(BIN)/velado run "$${TABLE%.*}.yaml"

# Velado in the browser, for you alone; the browser opens by itself.
studio: $(STUDIO)
	$(BIN)/velado studio

lint: $(DEV)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(PYTEST) -m lint --junitxml=$(TIMES)/lint.xml $(LINTING)

# Kernels are compiled once, not by every worker of the tests.
test: lint
	$(BIN)/python -m velado.release.warm
	$(PYTEST) -m quick --hypothesis-profile=quick --junitxml=$(TIMES)/quick.xml

# Everything: what test has run, and the rest of every part in one go.
test-all: test test-rest test-times

test-rest: $(DEV)
	$(PYTEST) -m 'not lint and (not quick or property)' --judge --junitxml=$(TIMES)/rest.xml

# What test and test-rest took when they last ran: each part, and the slowest tests.
test-times: $(DEV)
	$(BIN)/python tests/suite_times.py $(wildcard $(TIMES)/*.xml)

test-engines: $(DEV)
	$(PYTEST) -m 'engines and ($(subst $() , or ,$(ENGINES)))'

test-stores test-browser test-faults test-docs test-thorough: test-%: $(DEV)
	$(PYTEST) -m $*

# The harness of tests/harness with many more cases, and the second judge behind every run of every test.
torture: $(DEV)
	VELADO_TORTURE=1 $(PYTEST) tests/harness

# All tests of Spark on executors of their own, all configurations included.
spark: $(DEV)
	VELADO_SPARK_MASTER='local-cluster[2,1,1024]' VELADO_TORTURE=1 $(BIN)/python -m pytest -q tests/engines tests/test_spark.py tests/test_same_answer.py -k spark

bench: $(DEV)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis velado-demo
