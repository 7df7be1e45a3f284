# Needs Python 3.11 or later and make; everything else comes from PyPI into .venv.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
JOBS ?= 2
QUICK := -m pytest -n $(JOBS) --dist worksteal -q -m "not slow"

.DEFAULT_GOAL := help
.PHONY: help demo engines quick test lint deep bench samples schema topics clean compiled hooks docs build release lowest newest

help:
	@echo "make demo    install, generate sample data, answer three queries"
	@echo "make quick   the tests that are not marked slow: under a minute on two cores"
	@echo "make test    install with the test packages and run the tests"
	@echo "make engines  install PostgreSQL, Java with pgjdbc, Chromium and systemd, which some tests start (Debian, as root); without them those are skipped"
	@echo "make lint    formatting, ruff, mypy --strict, import contracts, size caps"
	@echo "make hooks   run the checks before every commit and push (pre-commit)"
	@echo "make deep    the tests with many more random cases (hours)"
	@echo "make bench   the benchmarks (BENCH=peers: beside other libraries; an hour, writes benchmarks/RESULTS.md)"
	@echo "make compiled  the SQL tests with sqlglot's compiled extra"
	@echo "make lowest  make quick on the lowest versions of the dependencies"
	@echo "make newest  make quick on the newest Python that is at hand (or PYTHON=…)"
	@echo "make docs    the help topics as a website, in build/docs"
	@echo "make build   sdist and wheel in dist/, installed into a clean environment and run"
	@echo "make release is this commit a release? then make build"
	@echo "make schema  write metadata/schema.json again"
	@echo "make topics  write the generated help topics, and the outputs shown in README.md and help, again"

demo: $(VENV)/.installed samples
	@$(PY) -m dpsql.samples.demo

quick: $(VENV)/.test
	DPSQL_PROFILE=quick $(PY) $(QUICK) tests/unit tests/cases tests/project tests/conformance $(PYTEST_ARGS)

test: $(VENV)/.test
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q $(PYTEST_ARGS)

# What the tests start and is not there yet, as Debian calls it.
INITDB = $(firstword $(wildcard /usr/lib/postgresql/*/bin/initdb) $(shell command -v initdb))
JAVA = $(shell command -v javac)
JDBC = $(wildcard /usr/share/java/postgresql.jar)
PSQL = $(shell command -v psql)
CHROMIUM = $(shell command -v chromium)
ODBC = $(wildcard /usr/lib/*/odbc/psqlodbcw.so)
ISQL = $(shell command -v isql)
SYSTEMD = $(shell command -v systemd-analyze)
SERVERS = $(strip $(if $(INITDB),,postgresql) $(if $(JAVA),,default-jdk-headless) $(if $(JDBC),,libpostgresql-jdbc-java) \
  $(if $(PSQL),,postgresql-client) $(if $(CHROMIUM),,chromium) $(if $(SYSTEMD),,systemd) \
  $(if $(ODBC),,odbc-postgresql) $(if $(ISQL),,unixodbc))

engines:
	@if [ -n "$(SERVERS)" ]; then \
	  command -v apt-get >/dev/null || { echo "there is no apt-get; install what is called $(SERVERS) on Debian"; exit 1; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(SERVERS); \
	fi

lint: $(VENV)/.dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy --strict -p dpsql
	$(VENV)/bin/lint-imports
	$(PY) -m tests.project.sizes

hooks: $(VENV)/.dev
	$(VENV)/bin/pre-commit install

deep: $(VENV)/.test
	DPSQL_PROFILE=deep $(PY) -m pytest -n $(JOBS) --dist worksteal -q --run-deep $(PYTEST_ARGS)

bench: $(VENV)/.test
	$(PY) -m benchmarks $(BENCH)

samples: data/.generated

data/.generated: $(VENV)/.installed $(wildcard dpsql/samples/*.py)
	@$(PY) -m dpsql.samples --into data
	@touch $@

# The help topics as static pages, in build/docs; the pages beside them are in the checkout only.
docs: $(VENV)/.docs
	rm -rf build/docs
	$(PY) -m dpsql.help.site build/docs CHANGELOG.md CONTRIBUTING.md SECURITY.md
	$(PY) -m pytest -q tests/project/test_site.py

schema: $(VENV)/.installed
	$(PY) -m dpsql.metadata.schema > metadata/schema.json

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
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test,spark,browser]'
	@touch $@

$(VENV)/.dev: $(VENV)/.test
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test,dev]'
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest data build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# sqlglot's compiled extra parses the same statements with other classes: the SQL tests run on it too.
compiled: .venv-compiled/.installed
	.venv-compiled/bin/python -m pytest -n $(JOBS) --dist worksteal -q tests/unit/sql tests/cases

.venv-compiled/.installed: pyproject.toml
	@$(PYTHON) -m venv .venv-compiled
	@.venv-compiled/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test,compiled]'
	@touch $@

build: $(VENV)/.dev
	$(PY) -m tests.project.wheel

release: $(VENV)/.dev
	$(PY) -m tests.project.release
	$(PY) -m tests.project.wheel

lowest: .venv-lowest/.installed
	DPSQL_PROFILE=quick .venv-lowest/bin/python $(QUICK) tests/unit tests/cases tests/conformance

.venv-lowest/.installed: pyproject.toml tests/project/lowest.py
	@$(PYTHON) -m venv .venv-lowest
	@$(PYTHON) -m tests.project.lowest > .venv-lowest/constraints.txt
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' \
	  --constraint .venv-lowest/constraints.txt
	@touch $@

# The newest CPython on the path or under pyenv that starts.
NEWEST = $(shell for minor in 16 15 14 13 12 11; do \
  for python in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3.$$minor; do \
    $$python -c '' 2>/dev/null && echo $$python && exit; done; done)

newest: .venv-newest/.installed
	.venv-newest/bin/python --version
	DPSQL_PROFILE=quick .venv-newest/bin/python $(QUICK) tests/unit tests/cases tests/conformance

.venv-newest/.installed: pyproject.toml
	@$(if $(filter command environment,$(firstword $(origin PYTHON))),$(PYTHON),$(NEWEST)) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@
