# The commands of this project. Everything is installed into .venv, with the versions of constraints.txt.
# A stamp file in .venv marks what is installed, so nothing is installed twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Also for the isolated build of this package, which pip's -c does not reach.
INSTALL := PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
REPORTS := reports
# Two workers suit small machines; `make test WORKERS=8` uses more.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast check format docs benchmarks clean

help:
	@echo "make demo       install, audit bundled real outcomes, say where the report is"
	@echo "make test       install what the tests need and run all that this machine can"
	@echo "make test-fast  the fast tier only (under 10 minutes)"
	@echo "make check      format, lint, types, import layers, length of files"
	@echo "make format     rewrite the files in the project's format"
	@echo "make docs       write what the examples print now into the README and docs/"
	@echo "make benchmarks measure what docs/benchmarks.md shows (15 minutes, 2 GB of disk for a while)"
	@echo "make clean      remove .venv, reports and caches"

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "polyculture needs Python 3.11 or newer; this is $$($(PYTHON) --version). Name another: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/core: $(VENV)/created pyproject.toml constraints.txt
	$(INSTALL) -e .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(INSTALL) -e '.[dev]'
	@touch $@

demo: $(VENV)/core
	@mkdir -p $(REPORTS)
	$(BIN)/polyculture audit hapi:waimai --html $(REPORTS)/waimai.html
	@echo
	@echo "The report is in $(REPORTS)/waimai.html: open it in a browser."
	@echo "More bundled outcomes: $(BIN)/polyculture datasets"

test-fast: $(VENV)/dev
	$(PYTEST) -m "not full"

# The full tier draws many more random files and runs the slow studies.
test: test-fast
	POLYCULTURE_FUZZ=$${POLYCULTURE_FUZZ:-10000} $(PYTEST) -m full

check: $(VENV)/dev
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q tests/test_layers.py

format: $(VENV)/dev
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks

docs: $(VENV)/dev
	$(BIN)/python tests/refresh_docs.py

benchmarks: $(VENV)/dev
	$(BIN)/python benchmarks/speed_cli.py
	$(BIN)/python benchmarks/speed_h.py
	$(BIN)/python benchmarks/speed_tally.py
	$(BIN)/python benchmarks/speed_compare.py
	$(BIN)/python benchmarks/speed_ladder.py
	$(BIN)/python benchmarks/speed_loops.py

clean:
	rm -rf $(VENV) $(REPORTS) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
