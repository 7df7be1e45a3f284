# Needs Python 3.11 or later and make; everything else comes from PyPI into .venv.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test lint deep bench samples schema topics clean compiled

help:
	@echo "make demo    install, generate sample data, answer three queries"
	@echo "make test    install with the test packages and run the tests"
	@echo "make lint    formatting, ruff, mypy --strict, import contracts"
	@echo "make deep    the tests with many more random cases (hours)"
	@echo "make bench   the benchmarks (BENCH=peers: beside other libraries; an hour, writes benchmarks/RESULTS.md)"
	@echo "make compiled  the SQL tests with sqlglot's compiled extra"
	@echo "make schema  write metadata/schema.json again"
	@echo "make topics  write the generated help topics, and the outputs shown in README.md and help, again"

demo: $(VENV)/.installed samples
	@$(PY) -m dpsql.samples.demo

test: $(VENV)/.test
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy --strict -p dpsql
	$(VENV)/bin/lint-imports

deep: $(VENV)/.test
	DPSQL_PROFILE=deep $(PY) -m pytest -n $(JOBS) --dist worksteal -q --run-deep $(PYTEST_ARGS)

bench: $(VENV)/.test
	$(PY) -m benchmarks $(BENCH)

samples: data/.generated

data/.generated: $(VENV)/.installed $(wildcard dpsql/samples/*.py)
	@$(PY) -m dpsql.samples --into data
	@touch $@

schema: $(VENV)/.installed
	$(PY) -m dpsql.catalog.schema > metadata/schema.json

topics: $(VENV)/.test
	$(PY) -m dpsql.help.reference
	$(PY) -m tests.conformance.playing

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dpsql needs Python 3.11 or later; say which: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "this Python cannot make virtual environments; on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	@echo "installing dpsql into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test,dev]'
	@touch $@

clean:
	rm -rf $(VENV) data build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# sqlglot's compiled extra parses the same statements with other classes: the SQL tests run on it too.
compiled: .venv-compiled/.installed
	.venv-compiled/bin/python -m pytest -n $(JOBS) --dist worksteal -q tests/unit/sql tests/cases

.venv-compiled/.installed: pyproject.toml
	@$(PYTHON) -m venv .venv-compiled
	@.venv-compiled/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,compiled]'
	@touch $@
